#!/usr/bin/env bash
# The program ($1) on a GPU that it has no code for, which is pretended: one line names the GPU;
# --backend cuda fails, auto takes the CPU. Skipped (77) in a build without CUDA.
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1")
code=$("$motus" info | sed -n 's/^CUDA code *//p')
[ -n "$code" ] || { echo "SKIP: a build without CUDA" && exit 77; }
work_folder
unset CUDA_VISIBLE_DEVICES

"$motus" synth in.y4m --size 64x48 --frames 3 2>err || fail synth
"$motus" encode in.y4m -o cpu.264 --backend cpu --quiet 2>err || fail "encode on the CPU"
export MOTUS_PRETEND_DEVICE=70
lacks="this build has no code for device 0, .* (sm_70), only $code"

# tells STATUS PATTERN COMMAND...: ends with the status after one line that has the pattern.
tells() {
    local wanted=$1 pattern=$2 status=0
    shift 2
    "$motus" "$@" >out 2>err || status=$?
    ok "$*: status" [ $status = "$wanted" ]
    ok "$*: one line with $pattern" [ "$(grep -c "$pattern" err)" = 1 ]
    [ "$wanted" = 0 ] || ok "$*: nothing else" [ "$(wc -l <err)" = 1 ]
}
tells 1 "backend cuda: CUDA: $lacks" encode in.y4m -o out.264 --backend cuda
tells 1 "backend cuda: CUDA: $lacks" search in.y4m -o out.npy --backend cuda
tells 1 "$lacks" filter in.y4m -o out.y4m --equalize --backend cuda
tells 1 "backend cuda: CUDA: $lacks" bench encode --frames 2 --backend cuda
tells 0 "cannot be used (CUDA: $lacks); encoding on the CPU" encode in.y4m -o out.264 --quiet
ok "the same stream" cmp cpu.264 out.264
tells 0 "cannot be used (CUDA: $lacks); searching on the CPU" search in.y4m -o out.npy
tells 0 "cannot be used (CUDA: $lacks); filtering on the CPU" filter in.y4m -o out.y4m --equalize
tells 0 "cannot be used (CUDA: $lacks); timing the CPU" bench me --size 64x48 --frames 2
"$motus" info >out
ok "info names it" grep -q "^backend cuda  CUDA: $lacks" out
ok "info takes the CPU" grep -q '^backend auto  cpu' out
checks_done

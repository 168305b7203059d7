#!/usr/bin/env bash
# Tests that a reader who leaves ends the programs without a word: broken_pipe_test.sh MOTUS
# [MOTUS-MPI]. Exit status 141, as if SIGPIPE had killed them; and the scripts.
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") mpi=${2:+$(realpath "$2")}
root=$(cd "$(dirname "$0")/../.." && pwd)
work_folder

# unread COMMAND...: the command writes into a pipe without a reader.
unread() {
    { sleep 0.2 && "$@" 2>err; echo $? >status; } | true
    ok "a word: $*" [ ! -s err ]
    ok "exit status $(cat status), must be 141: $*" [ "$(cat status)" = 141 ]
}

"$motus" synth in.y4m --size 96x64 --frames 12 --pan 2,1 2>/dev/null || exit 2
unread "$motus" encode in.y4m -o - --quiet
if "$motus" info | grep -q '^libavformat .*[0-9]'; then
    for format in 'mp4 --fragment' mkv ts; do
        # shellcheck disable=SC2086
        unread "$motus" encode in.y4m -o - --format $format --quiet
    done
fi
unread "$motus" filter in.y4m -o - --equalize --quiet
unread "$motus" synth - --size 96x64 --frames 200
unread "$motus" search in.y4m -o - --format csv --quiet
unread "$motus" info
unread "$motus" encode --help
unread "$motus" bench filters --quick

# A file beside the stream whose reader leaves is no loss for the stream.
"$motus" encode in.y4m -o want.264 --quiet
for option in --stats --recon; do
    unread "$motus" encode in.y4m -o out.264 $option - --quiet
    ok "$option: the stream stays" cmp want.264 out.264
done

# A named pipe whose reader leaves. Open MPI itself tells of an abort.
mkfifo fifo
"$motus" synth noise.y4m --size 96x64 --frames 200 --noise 60 2>/dev/null
for program in "$motus" ${mpi:+"$mpi"}; do
    head -c 10 fifo >/dev/null &
    timeout 60 "$program" encode noise.y4m -o fifo --qp 0 --backend cpu --quiet 2>err
    ok "$program: exit status of a named pipe: $?" [ $? = 141 ]
    ok "$program: a word" bash -c '! grep "^motus" err'
    wait
done

for script in tools/scale_sim.py tools/profile.py tests/encoder/rate/vbv.py \
    tests/encoder/rate/rate_quality.py tests/encoder/rate/rate_accuracy.py python/bench.py; do
    python3 "$root/$script" --help >/dev/null 2>&1 || continue # NumPy is missing
    unread python3 "$root/$script" --help
done
unread python3 "$root/tools/scale_sim.py" --check-formulas
checks_done

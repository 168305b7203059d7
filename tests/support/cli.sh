# For scripts that test motus from outside, called with MOTUS JSON_CHECK [MEDIA_PROBE]:
#     . "$(dirname "$0")/../support/cli.sh"
# Makes a folder of its own with in.y4m, tiny.y4m, two files that are cut, and a stream with its
# reconstruction and vectors (ref.264, ref.y4m, ref.csv). Without libavformat there is no probe.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
# shellcheck disable=SC2034 # the scripts use them
motus=$(realpath "$1") json=$(realpath "$2") probe=${3:+$(realpath "$3")}
[ -x "$motus" ] && [ -x "$json" ] || exit 2
work=$(mktemp -d) || exit 2
mounted=''
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 2

# bad_encode STATUS PATTERN OPTION...: refuses an encode with these options.
bad_encode() { refused "$1" "$2" encode in.y4m -o out.264 "${@:3}"; }

# runs ARGUMENT...: motus succeeds and says nothing.
runs() {
    checks=$((checks + 1))
    "$motus" "$@" 2>err || fail "motus $*"
    [ ! -s err ] || fail "motus $*: not silent"
}

encode() { runs encode "$@" --quiet; }

# y4m_header TEXT: a file that begins so, with the bytes of stdin behind it.
y4m() { { printf 'YUV4MPEG2 %s\n' "$1" && cat; } >bad.y4m; }

"$motus" synth in.y4m --size 64x48 --frames 12 --pan 1.5,-0.25 --objects 1 || exit 1
"$motus" synth tiny.y4m --size 2x2 --frames 2 --pan 1,0 || exit 1
head -c $((4 * 4614)) in.y4m >cut.y4m
head -c 200 in.y4m >cut0.y4m
encode in.y4m -o ref.264 --recon ref.y4m --mvs ref.csv

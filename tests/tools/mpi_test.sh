#!/usr/bin/env bash
# Tests motus-mpi from outside: any number of ranks gives motus's stream; killed and stopped ranks;
# journals.
#   mpi_test.sh MOTUS MOTUS_MPI MPIEXEC JSON_CHECK
# MOTUS_RANKS: numbers of ranks ("1 8"). MOTUS_KILLS=N: jobs that lose a rank at a random time
# (2). MOTUS_BATCH=N: files of a batch (20). MOTUS_SEED=N.
# SPDX-License-Identifier: BSD-2-Clause
set -u
export LC_ALL=C OMP_WAIT_POLICY=passive
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") mpi=$(realpath "$2") launcher=$3 json=$(realpath "$4")
[ -x "$motus" ] && [ -x "$mpi" ] && [ -x "$json" ] || exit 2
command -v "$launcher" >/dev/null || {
    echo "skipped: $launcher is not there"
    exit 77
}
RANDOM=${MOTUS_SEED:-7}
echo "MOTUS_SEED=${MOTUS_SEED:-7}"
options=() named_pipe=1
if "$launcher" --version 2>&1 | grep -qi 'open mpi\|openrte'; then
    named_pipe=0
    options=(--oversubscribe --allow-run-as-root --bind-to none)
    # Containers forbid it, and every message would say so.
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
fi
work=$(mktemp -d) || exit 2
cd "$work" || exit 2

# watch: kills an mpiexec whose ranks have all ended for two seconds and leaves the file `hung`.
# Open MPI 4.1's own waits for a lock of PMIx at times, for good, after a rank was killed.
watch() {
    local launched suspect=''
    while sleep 2; do
        for launched in $(pgrep mpiexec); do
            [ "/proc/$launched/cwd" -ef "$work" ] || continue
            if ! ps -o stat= --ppid "$launched" |
                awk '{ any = 1; living += !/^Z/ } END { exit !any || living }'; then
                suspect=''
            elif [ "$suspect" = "$launched" ]; then
                touch hung && kill -9 "$launched"
            else
                suspect=$launched
            fi
        done
    done 2>/dev/null
}
watch &
watcher=$!
trap 'kill $watcher; rm -rf "$work"' EXIT

# job ARGUMENT...: the launcher with its own options.
job() { timeout -k 5 120 "$launcher" "${options[@]}" "$@" 2>err; }

# ranks N ARGUMENT...: motus-mpi on N ranks; its exit status. A second try begins without what the
# first one left.
ranks() {
    local n=$1 status before file
    shift
    before=$(ls ./*.motus-* 2>/dev/null)
    for _ in 1 2 3; do
        job -n "$n" "$mpi" "$@"
        status=$?
        [ -e hung ] || return $status
        echo "mpiexec did not end after its ranks: once more"
        rm -f hung
        for file in ./*.motus-*; do
            grep -qxF -- "$file" <<<"$before" || rm -f "$file"
        done
    done
    return $status
}

# piped N INPUT ARGUMENT...: the same with the input through a pipe. MPICH's launcher gives up if
# standard input is not read as fast as it comes; rank 0 then opens a named pipe.
piped() {
    local n=$1 input=$2 status
    shift 2
    if [ $named_pipe = 0 ]; then
        for _ in 1 2 3; do
            ranks "$n" encode - "$@" <"$input" && return
            status=$?
            grep -q 'mca_iof_hnp' err || return $status
            echo "mpiexec crashed on standard input (a fault of Open MPI 4.1's own): once more"
            rm -f ./*.motus-*
        done
        return $status
    fi
    mkfifo pipe.y4m
    timeout 60 cat "$input" >pipe.y4m 2>/dev/null &
    local feeds=$!
    ranks "$n" encode pipe.y4m "$@"
    status=$?
    kill $feeds 2>/dev/null
    wait $feeds
    rm -f pipe.y4m
    return $status
}

clean() { [ -z "$(find . -name '*.motus-*')" ]; }

common=(--backend cpu --preset faster --threads 1)
"$motus" synth long.y4m --size 144x96 --frames 60 >/dev/null 2>err || ok "synth" false
"$motus" synth odd.y4m --size 47x35 --frames 23 >/dev/null 2>>err || ok "synth" false
"$motus" synth one.y4m --size 64x48 --frames 1 >/dev/null 2>>err || ok "synth" false
# Three scenes of unequal length.
for i in 1 2 3; do
    "$motus" synth scene.y4m --size 96x64 --frames $((5 + 9 * i)) --seed $i >/dev/null 2>>err &&
        cat scene.y4m >>scenes.$i
done
{
    cat scenes.1
    for i in 2 3; do tail -c +$(($(head -n 1 scenes.$i | wc -c) + 1)) scenes.$i; done
} >scenes.y4m

# same NAME INPUT RANKS OPTION...: from a file and from a pipe.
same() {
    local name=$1 input=$2 counts=$3 n
    shift 3
    "$motus" encode "$input" -o ref.264 "${common[@]}" --quiet "$@" 2>err || ok "$name: motus" false
    for n in $counts; do
        ranks "$n" encode "$input" -o out.264 "${common[@]}" --quiet "$@"
        ok "$name: $n ranks, file" cmp ref.264 out.264
        rm -f out.264
        piped "$n" "$input" -o out.264 "${common[@]}" --quiet "$@"
        ok "$name: $n ranks, pipe" cmp ref.264 out.264
        ok "$name: nothing is left" clean
        rm -f out.264
    done
}

same "QP" long.y4m "${MOTUS_RANKS:-1 8}" --qp 30 --keyint 7
same "CRF with cuts" scenes.y4m "1 3" --crf 28 --keyint 12 --min-keyint 2
ok "there are cuts" \
    [ "$("$motus" encode scenes.y4m -o - "${common[@]}" --crf 28 --quiet |
    grep -caP '\x00\x00\x00\x01\x67|\x00\x00\x01\x67')" -ge 1 ]
# Several scanners look for cuts, each in a stretch of the input.
{
    cat scenes.y4m
    for _ in 1 2 3 4 5 6 7; do tail -c +$(($(head -n 1 scenes.y4m | wc -c) + 1)) scenes.y4m; done
} >film.y4m
same "several scanners" film.y4m "1 3" --crf 30 --keyint 50 --threads 12
ranks 2 encode film.y4m -o out.264 "${common[@]}" --quiet --crf 30 --keyint 50 --threads 12 \
    --times times.csv
ok "three scanners" grep -q ' scanners 3 ' times.csv
scanned=$(sed -n 's/.* scanned \([0-9]*\) .*/\1/p' times.csv)
ok "most of the film is scanned once" [ "$scanned" -lt 1000 ]
rm -f out.264
same "fewer GOPs than ranks" odd.y4m "5" --qp 33 --keyint 12
same "one frame" one.y4m "3" --crf 30
same "part of the input" long.y4m "3" --qp 33 --keyint 6 --seek 11 --frames 25
"$motus" encode long.y4m -o ref.264 "${common[@]}" --bitrate 100 --keyint 10 --pass 1 \
    --pass-log log --quiet 2>err
same "second pass" long.y4m "3" --bitrate 100 --keyint 10 --pass 2 --pass-log log

# External MVs, a field and a table by reference: segments begin anywhere in it.
for mvs in '--field' '--bframes 2 --mvs'; do
    # shellcheck disable=SC2086
    "$motus" encode long.y4m -o own.264 "${common[@]}" --qp 30 --seek 3 --quiet $mvs mvs.csv 2>err
    same "vectors of $mvs" long.y4m "1 3" --qp 30 --keyint 7 --seek 3 --mvs-in mvs.csv
done
awk -F, '$1 < 20 || $1 > 29' mvs.csv >gap.csv
"$motus" encode long.y4m -o ref.264 "${common[@]}" --qp 30 --keyint 7 --mvs-in gap.csv 2>err
grep 'gap.csv: note: has no vectors of' err >note
ranks 3 encode long.y4m -o out.264 "${common[@]}" --qp 30 --keyint 7 --mvs-in gap.csv
ok "a table that lacks pictures" cmp ref.264 out.264
ok "a table that lacks pictures is noted" grep -qxFf note err
rm -f out.264
for wrong in missing.csv /dev/null; do
    ranks 3 encode long.y4m -o out.264 "${common[@]}" --qp 30 --mvs-in $wrong
    ok "$wrong: said once" [ "$(grep -c '^motus: ' err)" = 1 ]
    ok "$wrong: no output" [ ! -e out.264 ]
done
sed 's/^30,0,0,/30,0,1,/' mvs.csv >wrong.csv
ranks 3 encode long.y4m -o out.264 "${common[@]}" --qp 30 --keyint 7 --mvs-in wrong.csv
ok "a wrong table: said once" [ "$(grep -c '^motus: .*wrong.csv: row' err)" = 1 ]
rm -f ./*.motus-*

# A bitrate: two passes, the first at CRF 23. Far from that rate it is tried again, nearer.
"$motus" encode scenes.y4m -o ref.264 "${common[@]}" --crf 23 --keyint 12 --pass 1 --pass-log log \
    --quiet 2>err
rate=$(($(stat -c %s ref.264) * 8 * 25 / 69000))
"$motus" encode scenes.y4m -o ref.264 "${common[@]}" --bitrate $rate --keyint 12 --pass 2 \
    --pass-log log --quiet 2>>err
for n in ${MOTUS_RANKS:-1 8}; do
    ranks "$n" encode scenes.y4m -o out.264 "${common[@]}" --bitrate $rate --keyint 12
    ok "bitrate: $n ranks" cmp ref.264 out.264
    ok "bitrate: one first pass" [ "$(grep -c 'first pass' err)" = 1 ]
    ok "bitrate: nothing is left" clean
done
for n in 1 3; do
    ranks $n encode scenes.y4m -o far.$n "${common[@]}" --bitrate $((rate * 8)) --keyint 12 \
        --format h264
    ok "a far bitrate: two first passes" [ "$(grep -c 'first pass' err)" = 2 ]
    permille=$(($(stat -c %s far.$n) * 1000 / ($(stat -c %s ref.264) * 8)))
    ok "a far bitrate: met" [ $permille -le 1050 ]
    ok "a far bitrate: met" [ $permille -ge 950 ]
done
ok "a far bitrate: 3 ranks" cmp far.1 far.3
rm -f out.264
piped 2 long.y4m -o out.264 "${common[@]}" --bitrate 100
ok "a bitrate of a pipe is refused" grep -q 'bitrate: takes two passes' err

# Refusals: one line from rank 0, nothing left.
head -n 1 long.y4m >empty.y4m
: >nothing.y4m
for input in empty.y4m nothing.y4m missing.y4m; do
    ranks 3 encode "$input" -o out.264 "${common[@]}" --qp 30
    ok "$input: refused" [ $? -ne 0 ]
    ok "$input: said once" [ "$(grep -c "^motus: .*$input" err)" = 1 ]
    ok "$input: nothing is left" clean
    ok "$input: no output" [ ! -e out.264 ]
done
ranks 2 encode long.y4m -o out.264 "${common[@]}" --bitrate 100 --vbv-maxrate 100 --vbv-bufsize 100
ok "a VBV is refused" grep -q 'vbv.*motus encode only' err
ranks 2 encode long.y4m -o out.264 "${common[@]}" --pass 1 --pass-log no.log
ok "a first pass is refused" grep -q 'pass 1.*motus encode only' err
ranks 2 encode long.y4m -o out.264 --no-such-option
ok "usage" [ "$(grep -c '^motus: ' err)" = 1 ]
ranks 2
ok "no command: said once" [ "$(grep -c "^motus: a command is missing" err)" = 1 ]

# A rank is killed at a random time; the job ends, nothing half-written has the final name, --resume
# gives the stream.
slow=(encode "$work/long.y4m" -o "$work/out.264" "${common[@]}" --preset slow --qp 24 --keyint 3
    --quiet)
"$motus" encode long.y4m -o ref.264 "${common[@]}" --preset slow --qp 24 --keyint 3 --quiet
ids() { pgrep -f -x "$mpi encode $work/[a-z]*.y4m .*" | sort -n; }
killed=0 resumed=0 whole=$(($(stat -c %s ref.264) + 60 * 200))
for k in $(seq 1 "${MOTUS_KILLS:-2}"); do
    rm -f out.264 ./*.motus-*
    job -n 3 "$mpi" "${slow[@]}" &
    launched=$!
    least=$((RANDOM * 2 % whole)) # bytes in the journal when it happens; at first at any time
    for _ in $(seq 400); do
        [ "$(stat -c %s out.264.motus-journal 2>/dev/null || echo 0)" -ge "$least" ] && break
        kill -0 $launched 2>/dev/null || break
        sleep 0.02
    done
    victim=$(ids | sed -n "$((k % 3 + 1))p")
    [ -z "$victim" ] || { kill -9 "$victim" 2>/dev/null && killed=$((killed + 1)); }
    began=$SECONDS
    wait $launched
    status=$?
    ok "kill $k: the job ends soon" [ $((SECONDS - began)) -le 20 ]
    if [ $status -ne 0 ]; then
        # Nothing, or, where it was killed after its work, everything.
        [ ! -e out.264 ] || ok "kill $k: a whole output" cmp ref.264 out.264
        [ ! -e out.264.motus-journal ] || resumed=$((resumed + 1))
        ranks 3 "${slow[@]}" --resume
        ok "kill $k: resumed" [ $? = 0 ]
    fi
    ok "kill $k: the stream" cmp ref.264 out.264
    ok "kill $k: no journal" [ ! -e out.264.motus-journal ]
done
echo "$killed ranks killed, $resumed jobs resumed from a journal"

# A rank stops for a while: the others wait for it, and the stream is whole.
rm -f out.264 ./*.motus-*
job -n 3 "$mpi" "${slow[@]}" &
launched=$!
sleep 0.7
victim=$(ids | tail -n 1)
[ -z "$victim" ] || kill -STOP "$victim"
sleep 1.5
[ -z "$victim" ] || kill -CONT "$victim"
wait $launched
ok "a stopped rank: status" [ $? = 0 ]
ok "a stopped rank: the stream" cmp ref.264 out.264

# The input goes away or changes while the job runs, for all ranks or for one: the job ends and says
# so, or has what it needs and ends well. Once the input is back, --resume gives the stream.
cp -p long.y4m before
for how in cut emptied removed overwritten 'cut for one rank'; do
    rm -f out.264 ./*.motus-*
    cp -p before other.y4m
    last=("$mpi" "${slow[@]}")
    [ "$how" != 'cut for one rank' ] || last[2]=$work/other.y4m
    job -n 2 "$mpi" "${slow[@]}" : "${options[@]}" -n 1 "${last[@]}" &
    launched=$!
    for _ in $(seq 400); do
        [ "$(stat -c %s out.264.motus-journal 2>/dev/null || echo 0)" -ge 3000 ] && break
        kill -0 $launched 2>/dev/null || break
        sleep 0.02
    done
    case $how in
    cut) truncate -s 300000 long.y4m ;;
    emptied) : >long.y4m ;;
    removed) rm long.y4m ;;
    overwritten) tr '\000-\377' '\001-\377\000' <before | dd of=long.y4m conv=notrunc 2>/dev/null ;;
    *) truncate -s 300000 other.y4m ;;
    esac
    wait $launched
    status=$?
    cp -p before long.y4m
    if [ $status = 0 ]; then
        ok "input $how: a whole stream" cmp ref.264 out.264
        continue
    fi
    ok "input $how: said once" [ "$(grep -c "^motus: .*y4m: .*--resume goes on" err)" = 1 ]
    ok "input $how: no output" [ ! -e out.264 ]
    ranks 3 "${slow[@]}" --resume
    ok "input $how: resumed" cmp ref.264 out.264
    echo "input $how: ended and resumed"
done

# leave_journal ARGUMENT...: a job that loses a rank once its journal has something. A busy machine
# may let it end before that: then another one does.
leave_journal() {
    for _ in 1 2 3 4 5; do
        rm -f out.264 ./*.motus-*
        job -n 2 "$mpi" "$@" &
        launched=$!
        for _ in $(seq 1000); do
            [ "$(stat -c %s out.264.motus-journal 2>/dev/null || echo 0)" -le 5000 ] || break
            kill -0 $launched 2>/dev/null || break
            sleep 0.02
        done
        ids | tail -n 1 | xargs -r kill -9
        wait $launched
        [ ! -e out.264.motus-journal ] || break
    done
}

# The scene scan begins at the first segment that the journal does not have.
cuts=("$work/film.y4m" "${common[@]}" --preset slow --crf 24 --keyint 20 --quiet)
"$motus" encode "${cuts[@]}" -o cuts.264 2>err
leave_journal encode "${cuts[@]}" -o "$work/out.264"
ranks 2 encode "${cuts[@]}" -o "$work/out.264" --resume
ok "a journal of a film with cuts" cmp cuts.264 out.264

# Journals: of other settings, of another input, damaged, in use.
leave_journal "${slow[@]}"
if [ -e out.264.motus-journal ]; then
    cp out.264.motus-journal kept
    ranks 2 "${slow[@]}"
    ok "a journal is not overwritten" grep -q -- '--resume goes on' err
    ranks 2 "${slow[@]}" --qp 25 --resume
    ok "other settings" grep -q 'other settings' err
    ranks 2 "${slow[@]}" --profile main --resume
    ok "another profile" grep -q 'other settings' err
    ranks 2 "${slow[@]}" --bframes 0 --mvs-in mvs.csv --resume
    ok "other vectors" grep -q 'other settings' err
    cp -p long.y4m before
    touch long.y4m
    ranks 2 "${slow[@]}" --resume
    ok "another input" grep -q 'another input' err
    cp -p before long.y4m
    ok "the journal is as it was" cmp kept out.264.motus-journal
    size=$(stat -c %s kept)
    for at in $((size - 1)) $((size / 2)); do # a torn tail; a flipped byte in the middle
        cp kept out.264.motus-journal
        printf '\x5a\xa5' | dd of=out.264.motus-journal bs=1 seek="$at" conv=notrunc 2>/dev/null
        ranks 2 "${slow[@]}" --resume
        ok "a damaged journal" cmp ref.264 out.264
        rm -f out.264
    done
    for torn in 0 30; do # a crash before the header was written out
        head -c $torn kept >small.264.motus-journal
        ranks 2 encode one.y4m -o small.264 "${common[@]}" --quiet --resume
        ok "a journal of $torn bytes" [ -s small.264 ]
    done
    head -c 9000 /dev/zero >small.264.motus-journal
    ranks 2 encode one.y4m -o small.264 "${common[@]}" --quiet --resume
    ok "a journal of zeros" [ ! -e small.264.motus-journal ]
    echo text >small.264.motus-journal
    ranks 2 encode one.y4m -o small.264 "${common[@]}" --quiet --resume
    ok "a file that is no journal" [ "$(cat small.264.motus-journal)" = text ]
    rm small.264*
    cp kept out.264.motus-journal
    ranks 2 "${slow[@]}" --discard
    ok "discarded" cmp ref.264 out.264
else
    ok "a journal was left" false
fi

# Many files: what is broken is told, and the rest is done.
mkdir files copies
n=${MOTUS_BATCH:-20}
for i in $(seq 4); do
    "$motus" synth "files/f$i.y4m" --size 32x32 --frames "$i" >/dev/null 2>err
done
for i in $(seq 5 "$n"); do ln files/f$((i % 4 + 1)).y4m files/f"$i".y4m; done
broken=$((n / 100 + 2))
for i in $(seq $broken); do head -c 300 files/f1.y4m >files/broken"$i".y4m; done
echo junk >files/junk.mp4
cp files/f1.y4m copies/
ls files/* >list
echo "files/missing.y4m" >>list
echo "copies/f1.y4m" >>list
ranks 3 batch list -o list --qp 30 --backend cpu --threads 1
ok "batch: a folder that cannot be made fails" [ $? = 1 ]
ok "batch: once" [ "$(grep '^motus: ' err)" = 'motus: list: is no folder' ]
ranks 3 batch list -o coded --report report.json --qp 30 --backend cpu --threads 1
ok "batch: status" [ $? = 1 ]
ok "batch: outputs" [ "$(find coded -mindepth 1 | wc -l)" = "$n" ]
ok "batch: failures are told" [ "$(grep -c '^motus: ' err)" = $((broken + 3)) ]
ok "batch: the report" "$json" report.json
ok "batch: failures in the report" \
    [ "$(grep -c '"state": "failed"' report.json)" = $((broken + 3)) ]
ok "batch: files in the report" [ "$(grep -c '"state": "done"' report.json)" = "$n" ]
"$motus" encode files/f3.y4m -o ref.264 --qp 30 --backend cpu --quiet
ok "batch: as motus does it" cmp ref.264 coded/f3.264
rm coded/f2.264
ls files/f*.y4m >list
ranks 2 batch list -o coded --resume --report report.json --qp 30 --backend cpu --threads 1
ok "batch: resumed" [ $? = 0 ]
ok "batch: only what was missing" [ "$(grep -c '"state": "done"' report.json)" = 1 ]

checks_done

// motus encode: a sequence into an H.264 stream.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"
#include "tools/encode/encode_job.h"
#include "tools/encode/mvs.h"

static const char about[] =
    "Encodes INPUT (.y4m, headerless .yuv with --size, or any video file that libavformat reads;\n"
    "- is standard input) into an H.264 stream of Constrained Baseline profile: .264 as a plain "
    "byte\n"
    "stream (- is standard output); .mp4, .mov, .mkv or .ts as a container, with the input's "
    "times,\n"
    "audio, subtitles and rotation.\n"
    "\n"
    "Examples:\n"
    "  motus encode film.y4m -o film.264                  good defaults: CRF 23, a key picture "
    "every 250\n"
    "  motus encode film.y4m -o film.mp4 --crf 18         better and larger; 5 less doubles the "
    "bits\n"
    "  motus encode film.y4m -o film.mp4 --bitrate 800    800 kb/s on average\n"
    "  motus encode film.y4m -o film.mp4 --bitrate 800 --pass 1 --pass-log film.log\n"
    "  motus encode film.y4m -o film.mp4 --bitrate 800 --pass 2 --pass-log film.log\n"
    "                                                     the same, better shared out\n"
    "  motus encode cam.y4m -o cam.ts --bitrate 2000 --vbv-maxrate 2000 --vbv-bufsize 1000 --tune "
    "zerolatency\n"
    "                                                     for a channel of 2 Mb/s, half a second "
    "behind\n"
    "  motus encode cam.y4m -o cam.264 --slice-max-size 1200\n"
    "                                                     a slice a packet: no NAL unit passes "
    "1,200 bytes\n"
    "  motus encode shot.yuv -o shot.264 --size 352x288 --fps 30000/1001\n"
    "                                                     headerless input\n"
    "  motus encode film.mkv -o part.264 --seek 100 --frames 50\n"
    "                                                     only frames 100 to 149\n"
    "  motus encode film.y4m -o film.264 --recon out.y4m --stats out.json\n"
    "                                                     what decoders will show, figures per "
    "frame\n"
    "  motus encode film.y4m -o film.264 --mvs mvs.npy    the vectors as they were coded\n"
    "  motus search film.y4m -o field.npy --lambda 1500; motus encode film.y4m -o film.264 "
    "--mvs-in field.npy\n"
    "                                                     vectors from elsewhere instead of the "
    "encoder's search\n"
    "  motus encode actor.mp4 -o scene.264 --key green --background street.mp4 --scale --denoise "
    "4\n"
    "                                                     filtered first, in the order given\n"
    "  motus encode film.y4m -o film.264 --devices all    on all GPUs of this machine\n"
    "  motus encode - -o - < film.y4m | ffplay -          through pipes\n"
    "  motus encode camera.ts -o film.mp4 --fragment      plays up to its last second even after "
    "kill -9\n"
    "\n"
    "FIELD has one row per block, ordered by picture, with the columns frame, x, y, w, h, mv_x, "
    "mv_y: what\n"
    "motus search and --field write. For each P picture it has a vector for every 16x16 block, and "
    "for every\n"
    "block of whatever other partitions shall be used; mv in quarter samples, from the block to "
    "its match in\n"
    "the picture before. Vectors of whole samples are refined, others stay (with --mvs-final all "
    "do).\n"
    "\n"
    "Ctrl-C finishes the picture at hand: what has been encoded so far is a complete stream. "
    "Nothing\n"
    "half-written stands under the final name of an output; it is built beside it as "
    "NAME.motus-*.part.\n"
    "With --fragment a file that was not there before has its final name at once and plays while "
    "it grows.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 130 after Ctrl-C.\n";

static int parse_format(const MotusOption *option, const char *text, char *cause, size_t size) {
    static const char *const names[MOTUS_FORMATS] = {"h264", "mp4", "mov", "mkv", "ts"};
    for (int i = 0; i < MOTUS_FORMATS; i++)
        if (!strcmp(text, names[i])) {
            *(int *)option->value = i;
            return 1;
        }
    snprintf(cause, size, "must be one of " MOTUS_FORMAT_NAMES);
    return 0;
}

static int parse(MotusEncodeOptions *o, int argc, char **argv) {
    MotusEncoderConfig *c = &o->config;
    MotusFilterList *filters = &o->filters;
    MotusRateOptions *r = &o->rate;
    const MotusOption options[] = {
        {"output", 'o', &o->outputs.stream, motus_option_text, 0, 0, "FILE",
         "where the stream goes"},
        {"crf", 0, &r->crf, motus_option_number, 0, 51, "N",
         "one quality for all pictures, about as QPs count (23)"},
        {"qp", 'q', &r->qp, motus_option_int, 0, 51, "N",
         "the same quantizer for all P pictures, 0..51"},
        {"bitrate", 'b', &r->bitrate, motus_option_number, 0, 1000000000, "KBPS",
         "so many kb/s on average"},
        {"vbv-maxrate", 0, &r->vbv_maxrate, motus_option_number, 0, 1000000000, "KBPS",
         "what arrives at the decoder's buffer"},
        {"vbv-bufsize", 0, &r->vbv_bufsize, motus_option_number, 0, 1000000000, "KBIT",
         "the size of that buffer"},
        {"nal-hrd", 0, &r->hrd, motus_option_hrd, 0, 0, "NAME",
         "none, vbr or cbr: say so in the stream; cbr: filled up (none)"},
        {"pass", 0, &r->pass, motus_option_int, 1, 2, "N",
         "first or second of two passes, with --bitrate"},
        {"pass-log", 0, &r->pass_log, motus_option_text, 0, 0, "FILE",
         "what the first pass leaves to the second"},
        {"qpmin", 0, &c->qp_min, motus_option_int, 0, 51, "N", "finest quantizer (0)"},
        {"qpmax", 0, &c->qp_max, motus_option_int, 0, 51, "N", "coarsest quantizer (51)"},
        {"qpstep", 0, &c->qp_step, motus_option_int, 1, 51, "N",
         "most QPs from picture to picture, with --bitrate (4)"},
        {"ipratio", 0, &c->ip_ratio, motus_option_number, 0, 10, "N",
         "quantizer steps of P pictures against key pictures (1.26)"},
        {"aq-mode", 0, &r->aq_mode, motus_option_int, 0, 2, "N",
         "QP by the MB's variance: 0 off, 1 fixed measure, 2 mean (0)"},
        {"aq-strength", 0, &r->aq_strength, motus_option_number, 0, 4, "N", "of --aq-mode (1)"},
        {"no-mbtree", 0, &r->no_mbtree, NULL, 1, 0, NULL,
         "no finer quantizer where later pictures look"},
        {"rc-lookahead", 0, &c->lookahead, motus_option_int, 0, MOTUS_MAX_LOOKAHEAD, "N",
         "pictures known ahead (40)"},
        {"tune", 0, &r->tune, motus_option_tune, 0, 0, "NAME",
         "none, psnr, ssim (AQ) or zerolatency (no look-ahead: a picture comes out before the next "
         "goes in)"},
        {"keyint", 'k', &c->keyint, motus_option_int, 0, INT_MAX, "N",
         "a key picture every N; 0 = only the first (250)"},
        {"min-keyint", 0, &c->min_keyint, motus_option_int, 0, INT_MAX, "N",
         "none at a cut sooner (0: any)"},
        {"scenecut", 0, &c->scenecut, motus_option_int, 0, 100, "N",
         "how readily cuts get key pictures; 0 = never (40)"},
        {"range", 0, &c->range, motus_option_int, 1, MOTUS_MAX_RANGE, "N",
         "search +-N samples around the prediction (the preset's)"},
        {"subpel", 0, &c->subpel, motus_option_subpel, 0, 0, "LEVEL",
         "full, half or quarter sample vectors (quarter)"},
        {"partitions", 0, &c->partitions, motus_option_partitions, 0, 0, "LIST",
         "all, none, or of 16x16,16x8,8x16,8x8,8x4,4x8,4x4 (all)"},
        {"no-deblock", 0, &c->deblock, NULL, 0, 0, NULL, "without the deblocking filter"},
        {"slices", 0, &c->slices, motus_option_int, 1, MOTUS_MAX_SIZE / 16, "N",
         "each picture in N slices of whole MB rows (1)"},
        {"slice-max-size", 0, &c->slice_max_size, motus_option_int, MOTUS_MIN_SLICE_SIZE, INT_MAX,
         "BYTES", "slices end before their NAL units pass so many bytes (any size); on the CPU"},
        {"preset", 0, &c->preset, motus_option_preset, 0, 0, "NAME",
         "slow, medium, fast or faster (medium)"},
        {"aud", 0, &c->aud, NULL, 1, 0, NULL, "begin each picture with an access unit delimiter"},
        {"frames", 'n', &o->frames, motus_option_int, 1, INT_MAX, "N", "encode N frames at most"},
        {"seek", 0, &o->seek, motus_option_int, 0, INT_MAX, "N", "leave out the first N frames"},
        {"recon", 0, &o->outputs.recon, motus_option_text, 0, 0, "FILE.y4m",
         "write the reconstruction"},
        {"stats", 0, &o->outputs.stats, motus_option_text, 0, 0, "FILE.json",
         "write figures, in all and for each frame"},
        {"mvs", 0, &o->outputs.mvs, motus_option_text, 0, 0, "FILE",
         "write the coded vectors, .csv or .npy"},
        {"mvs-in", 0, &o->mvs_in, motus_option_text, 0, 0, "FIELD",
         "vectors instead of a search, .csv or .npy (see above)"},
        {"mvs-final", 0, &o->mvs_final, NULL, 1, 0, NULL, "refine none of these vectors"},
        {"field", 0, &o->outputs.field, motus_option_text, 0, 0, "FILE",
         "write the field that was searched, for --mvs-in"},
        {"equalize", 0, filters, motus_option_equalize, 0, 0, "[=SETTINGS]",
         "first spread the histogram (see motus filter --help)"},
        {"denoise", 0, filters, motus_option_denoise, 0, 0, "STRENGTH",
         "first remove noise by wavelet thresholds"},
        {"key", 0, filters, motus_option_key, 0, 0, "COLOUR",
         "first show the background where this colour is"},
        {"background", 0, &filters->background, motus_option_text, 0, 0, "FILE",
         "what --key shows; its last frame stays"},
        {"loop", 0, &filters->loop, NULL, 1, 0, NULL, "start the background again when it ends"},
        {"scale", 0, &filters->scale, NULL, 1, 0, NULL, "scale the background to the input's size"},
        {"size", 's', o->size, motus_option_size, 0, 0, "WxH", "size of headerless input"},
        {"fps", 'r', &o->fps, motus_option_rate, 0, 0, "N[/D]",
         "rate of headerless input, or a constant one instead of the input's times"},
        {"threads", 't', &c->threads, motus_option_int, 0, 256, "N",
         "threads; 0 = all cores (0); the stream is the same for any number"},
        {"backend", 0, &c->backend, motus_option_backend, 0, 0, "NAME", "auto, cpu or cuda (auto)"},
        {"gop-coders", 0, &c->gop_coders, motus_option_int, 0, MOTUS_MAX_GOP_CODERS, "N",
         "key pictures and what follows them, coded N at a time; 0 = as memory allows (0); same "
         "stream"},
        {"device", 0, &c->device, motus_option_int, 0, 255, "N", "CUDA device (the first)"},
        {"devices", 0, &o->devices, motus_option_devices, 0, 0, "LIST",
         "CUDA devices whose lanes share the work: all, or as in 0,2,3; same stream"},
        {"format", 0, &o->format, parse_format, 0, 0, "NAME",
         "h264, mp4, mov, mkv or ts, whatever the output's name ends in"},
        {"fragment", 0, &o->fragment, NULL, 1, 0, NULL,
         ".mp4 and .mov in fragments: whole up to the last second at any time"},
        {"no-audio", 0, &o->no_audio, NULL, 1, 0, NULL, "leave the input's audio out"},
        {"deinterlace", 0, &o->deinterlace, motus_option_deinterlace, 0, 0, "WHEN",
         "auto, off or on (auto: what says that it is interlaced)"},
        {"strict", 0, &o->strict, NULL, 1, 0, NULL,
         "exit with 1 where the input is cut or damaged"},
        {"quiet", 0, &o->quiet, NULL, 1, 0, NULL, "no live line and no summary"},
        {0},
    };
    const MotusCommand command = {"encode", "INPUT -o OUTPUT [options]", about, options, &o->input,
                                  1};
    return motus_options_parse(&command, argc, argv);
}

// What is no file (standard output, a device, a pipe) gets a byte stream unless --format says
// otherwise.
static int choose_format(MotusEncodeOptions *o) {
    struct stat st;
    const char *path = o->outputs.stream;
    int no_file = !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
    if (o->format < 0) o->format = motus_format_of(path);
    if (o->format < 0 && no_file) o->format = MOTUS_FORMAT_H264;
    if (o->format < 0)
        return motus_usage_error(
            "encode", "%s: ends in none of " MOTUS_FORMAT_ENDINGS "; --format says what to write",
            path);
    if (o->fragment && o->format != MOTUS_FORMAT_MP4 && o->format != MOTUS_FORMAT_MOV)
        return motus_usage_error("encode", "--fragment: only .mp4 and .mov have fragments");
    return -1;
}

// Who lists devices wants them used, and is told where they cannot be.
static int check_devices(MotusEncodeOptions *o) {
    MotusEncoderConfig *c = &o->config;
    if (!o->devices.n) return -1;
    if (c->device >= 0)
        return motus_usage_error("encode", "--device and --devices: one of the two");
    if (c->backend == MOTUS_BACKEND_CPU)
        return motus_usage_error("encode", "--devices: with --backend cpu none is used");
    c->backend = MOTUS_BACKEND_CUDA;
    c->n_devices = o->devices.n;
    c->devices = o->devices.device;
    return -1;
}

static int check(MotusEncodeOptions *o) {
    const MotusEncodeNames *names = &o->outputs;
    if (!o->input || !*o->input) return motus_usage_error("encode", "the input is missing");
    if (!names->stream) return motus_usage_error("encode", "the output is missing: -o FILE");
    if (names->mvs && !motus_has_ending(names->mvs, MOTUS_MVS_ENDINGS))
        return motus_usage_error("encode", "--mvs %s: must end in .csv or .npy", names->mvs);
    if (names->field && !motus_has_ending(names->field, MOTUS_MVS_ENDINGS))
        return motus_usage_error("encode", "--field %s: must end in .csv or .npy", names->field);
    if (o->mvs_in && !motus_has_ending(o->mvs_in, MOTUS_MVS_ENDINGS))
        return motus_usage_error("encode", "--mvs-in %s: must end in .csv or .npy", o->mvs_in);
    if (o->mvs_final && !o->mvs_in)
        return motus_usage_error("encode", "--mvs-final: says something about --mvs-in only");
    o->config.export_field = names->field != NULL;
    o->outputs.log = o->rate.pass == 1 ? o->rate.pass_log : NULL;
    const char *inputs[] = {o->input, o->filters.background,
                            o->rate.pass == 2 ? o->rate.pass_log : NULL, o->mvs_in},
               *outputs[] = {names->stream, names->recon, names->stats,
                             names->mvs,    names->log,   names->field};
    int status = motus_check_names("encode", inputs, 4, outputs, 6);
    if (status < 0) status = motus_rate_options_apply(&o->rate, &o->config);
    if (status < 0) status = check_devices(o);
    return status < 0 ? choose_format(o) : status;
}

MotusStatus motus_encode_check_backend(const MotusEncodeOptions *o, MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = motus_backend_check(o->config.backend, &cause);
    return status ? motus_fail(error, status, "%s%s", o->config.n_devices ? "--devices needs " : "",
                               cause.text)
                  : MOTUS_OK;
}

MotusEncodeOptions motus_encode_options_default(void) {
    return (MotusEncodeOptions){.format = -1,
                                .rate = motus_rate_options_default(),
                                .config =
                                    motus_encoder_config_default(2, 2, (MotusRational){25, 1})};
}

int motus_encode_options_read(MotusEncodeOptions *o, int argc, char **argv) {
    const int status = parse(o, argc, argv);
    return status < 0 ? check(o) : status;
}

int motus_cmd_encode(int argc, char **argv) {
    MotusEncodeOptions o = motus_encode_options_default();
    int status = motus_encode_options_read(&o, argc, argv);
    if (status < 0) {
        motus_signals_catch();
        status = motus_encode_job(&o);
    }
    free(o.rate.log_text);
    return status;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/encode.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/outputs.h"
#include "tools/search/vector_table.h"
#include "yuv/io/writer.h"

static const char about[] =
    "Encodes INPUT (.y4m, headerless .yuv with --size, or any video file that libavformat reads;\n"
    "- is standard input) into an H.264 stream of High profile, or --profile.\n"
    "OUTPUT is a byte stream (.264; - is standard output) or a container (.mp4, .mov, .mkv, .ts),\n"
    "which also gets the input's times, audio, subtitles and rotation.\n"
    "\n"
    "Examples:\n"
    "  motus encode film.y4m -o film.264              good defaults: CRF 23, IDR every 250\n"
    "  motus encode film.y4m -o film.mp4 --crf 18     better and larger; 5 less doubles the bits\n"
    "  motus encode film.y4m -o film.mp4 --profile baseline\n"
    "                                                 for receivers of WebRTC and old devices:\n"
    "                                                 about a tenth larger\n"
    "  motus encode film.y4m -o film.mp4 --bitrate 800\n"
    "                                                 800 kb/s on average\n"
    "  motus encode film.y4m -o film.mp4 --bitrate 800 --pass 1 --pass-log film.log\n"
    "  motus encode film.y4m -o film.mp4 --bitrate 800 --pass 2 --pass-log film.log\n"
    "                                                 the same, bits better distributed\n"
    "  motus encode cam.y4m -o cam.ts --bitrate 2000 --vbv-maxrate 2000 --vbv-bufsize 1000 \\\n"
    "      --tune zerolatency                         for a channel of 2 Mb/s, 0.5 s of buffer\n"
    "  motus encode cam.y4m -o cam.264 --slice-max-size 1200\n"
    "                                                 a slice per packet: NAL units of at most\n"
    "                                                 1,200 bytes\n"
    "  motus encode shot.yuv -o shot.264 --size 352x288 --fps 30000/1001\n"
    "                                                 headerless input\n"
    "  motus encode film.mkv -o part.264 --seek 100 --frames 50\n"
    "                                                 only frames 100 to 149\n"
    "  motus encode film.mkv -o part.mp4 --seek 00:01:30 --duration 20\n"
    "                                                 20 s from 1:30 on\n"
    "  motus encode film.y4m -o film.264 --recon out.y4m --stats out.json\n"
    "                                                 what decoders will show, figures per frame\n"
    "  motus encode film.y4m -o film.264 --mvs mvs.npy\n"
    "                                                 the motion vectors as they were coded\n"
    "  motus search film.y4m -o field.npy --lambda 1500\n"
    "  motus encode film.y4m -o film.264 --mvs-in field.npy\n"
    "                                                 external motion vectors, no search; the\n"
    "                                                 table of --mvs has those of B pictures, too\n"
    "  motus encode actor.mp4 -o scene.264 --key green --background street.mp4 --scale\n"
    "                                                 filtered first, in the order given\n"
    "  motus encode film.y4m -o film.264 --devices all\n"
    "                                                 on all GPUs of this machine\n"
    "  motus encode - -o - < film.y4m | ffplay -      through pipes\n"
    "  motus encode camera.ts -o film.mp4 --fragment  plays up to its last second, even after\n"
    "                                                 kill -9\n"
    "\n"
    "FIELD is what motus search and --field write: one row per block, ordered by picture, with\n"
    "the columns frame, x, y, w, h, mv_x, mv_y. Each P picture needs a vector for every 16x16\n"
    "block; other partitions are used if every block of their size has one. Vectors are in\n"
    "quarter samples, from the block to its match in the picture before. Those at full samples\n"
    "are refined unless --mvs-final is given.\n"
    "\n"
    "Ctrl-C finishes the current picture: what has been encoded is a complete stream. Outputs\n"
    "get their names once they are complete; until then they are NAME.motus-*.part. With\n"
    "--fragment a new file has its name at once and plays while it grows.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 130 after Ctrl-C.\n";

enum {
    NOT_GIVEN = -1,
    FILE_ROWS = 40, // most of them
};

// Writes the rows about files, filters and the machine; zeros follow them.
static void add_file_rows(MotusEncodeOptions *o, MotusOption *to) {
    MotusEncoderConfig *c = &o->config;
    MotusFilterList *filters = &o->filters;
    const MotusOption rows[] = {
        MOTUS_INT("frames", 'n', &o->frames, 1, INT_MAX, "encode at most N frames"),
        {"seek", 0, &o->from, motus_option_position, 0, 0, "N|TIME",
         "skip the first N frames, or those before a time: 00:01:30, 90s"},
        {"duration", 0, &o->duration, motus_option_duration, 0, 0, "TIME",
         "encode so much: 00:00:20, 20 (seconds), 500ms"},
        MOTUS_TEXT("recon", 0, &o->outputs.recon, "FILE.y4m", "write the reconstruction"),
        MOTUS_TEXT("stats", 0, &o->outputs.stats, "FILE.json",
                   "write figures, in all and per frame"),
        MOTUS_TEXT("mvs", 0, &o->outputs.mvs, "FILE", "write the coded vectors, .csv or .npy"),
        MOTUS_TEXT("mvs-in", 0, &o->mvs_in, "FIELD",
                   "external vectors instead of a search: a field, or the table of --mvs"),
        MOTUS_FLAG("mvs-final", &o->mvs_final, "do not refine these vectors"),
        MOTUS_TEXT("field", 0, &o->outputs.field, "FILE", "write the searched field, for --mvs-in"),
        {"equalize", 0, filters, motus_option_equalize, 0, 0, "[=SETTINGS]",
         "first spread the histogram (see motus filter --help)"},
        {"denoise", 0, filters, motus_option_denoise, 0, 0, "STRENGTH",
         "first remove noise by wavelet thresholds"},
        {"key", 0, filters, motus_option_key, 0, 0, "COLOUR",
         "first replace this colour by the background"},
        MOTUS_TEXT("background", 0, &filters->background, "FILE", "background for --key"),
        MOTUS_FLAG("loop", &filters->loop, "restart the background when it ends"),
        MOTUS_FLAG("scale", &filters->scale, "scale the background to the input's size"),
        MOTUS_OPTION_SIZE(o->size),
        {"fps", 'r', &o->fps, motus_option_rate, 0, 0, "N[/D]",
         "rate of headerless input, or a constant one instead of the input's times"},
        MOTUS_OPTION_THREADS(&c->threads, "threads, 0 = all cores (0); same stream for any number"),
        MOTUS_OPTION_BACKEND(&c->backend),
        MOTUS_INT("gop-coders", 0, &c->gop_coders, 0, MOTUS_MAX_GOP_CODERS,
                  "GOPs coded in parallel; 0 = as memory allows (0); same stream"),
        {"device", 0, &c->device, motus_option_device, 0, 255, "N", "CUDA device (the first)"},
        {"devices", 0, &o->devices, motus_option_devices, 0, 0, "LIST",
         "CUDA devices that share the GOPs: all, or as in 0,2,3; same stream"},
        MOTUS_WORD("format", &o->format, "NAME", "h264, mp4, mov, mkv or ts (by the output's name)",
                   "h264\0mp4\0mov\0mkv\0ts\0"),
        MOTUS_FLAG("fragment", &o->fragment,
                   ".mp4 and .mov in fragments, which play up to the last second at any time"),
        MOTUS_FLAG("no-audio", &o->no_audio, "leave out the input's audio"),
        MOTUS_OPTION_DEINTERLACE(&o->deinterlace,
                                 "auto, off or on (auto: pictures marked as interlaced)"),
        MOTUS_FLAG("strict", &o->strict,
                   "exit with 1 if the input is cut or damaged, or anything of it is lost"),
        MOTUS_FLAG("quiet", &o->quiet, "no live line, no notes and no summary; losses are told"),
        MOTUS_WORD("log-level", &o->log_level, "NAME", // MOTUS_SAY_*
                   "error, warning (as --quiet) or info (info)", "error\0warning\0info\0"),
        MOTUS_FLAG("no-psnr", &o->config.no_ssd, "do not measure PSNR and SSIM, which takes time"),
        MOTUS_WORD("progress", &o->progress, "NAME", // MotusProgressStyle
                   "auto, json or none (auto: a live line on a terminal)", "auto\0json\0none\0"),
    };
    _Static_assert(sizeof rows / sizeof *rows <= FILE_ROWS, "rows");
    memcpy(to, rows, sizeof rows);
}

// NOLINTNEXTLINE(readability-function-size): a table
static int parse(MotusEncodeOptions *o, int argc, char **argv) {
    MotusEncoderConfig *c = &o->config;
    MotusRateOptions *r = &o->rate;
    const char *input = NULL, *operands[2];
    char presets[160];
    const MotusOption coding[] = {
        MOTUS_TEXT("output", 'o', &o->outputs.stream, "FILE", "output file (beside the input)"),
        MOTUS_OPTION_INPUT(&input),
        MOTUS_OPTIONS_OVERWRITE(&o->overwrite),
        {"crf", 0, &r->crf, motus_option_number, 0, 51, "N", "constant quality, as a QP (23)"},
        MOTUS_INT("qp", 'q', &r->qp, 0, 51, "constant QP of P pictures, 0..51"),
        {"bitrate", 'b', &r->bitrate, motus_option_bitrate, 0, 1000000000, "KBPS",
         "average bit rate; also as 800k or 2M"},
        {"vbv-maxrate", 0, &r->vbv_maxrate, motus_option_kilobits, 0, 1000000000, "KBPS",
         "rate into the decoder's buffer"},
        {"vbv-bufsize", 0, &r->vbv_bufsize, motus_option_kilobits, 0, 1000000000, "KBIT",
         "size of that buffer"},
        MOTUS_WORD("nal-hrd", &r->hrd, "NAME",
                   "none, vbr or cbr: buffer parameters in the stream; cbr adds filler data (none)",
                   "none\0vbr\0cbr\0"),
        MOTUS_INT("pass", 0, &r->pass, 1, 2, "first or second of two passes, with --bitrate"),
        MOTUS_TEXT("pass-log", 0, &r->pass_log, "FILE",
                   "statistics from the first to the second pass"),
        MOTUS_INT("qpmin", 0, &c->qp_min, 0, 51, "smallest QP (0)"),
        MOTUS_INT("qpmax", 0, &c->qp_max, 0, 51, "largest QP (51)"),
        MOTUS_INT("qpstep", 0, &c->qp_step, 1, 51, "largest QP change per picture (4)"),
        {"ipratio", 0, &c->ip_ratio, motus_option_ratio, 0, 10, "N",
         "quantizer step of P pictures over that of I pictures (1.26)"},
        MOTUS_INT("aq-mode", 0, &r->aq_mode, 0, 2,
                  "QP by the MB's variance: 0 off, 1 against a constant, 2 against the mean (0)"),
        {"aq-strength", 0, &r->aq_strength, motus_option_number, 0, 4, "N",
         "of --aq-mode (1; 1.5 with --tune ssim)"},
        MOTUS_FLAG("no-mbtree", &r->no_mbtree, "no lower QP of MBs that others predict from"),
        MOTUS_INT("rc-lookahead", 0, &c->lookahead, 0, MOTUS_MAX_LOOKAHEAD,
                  "pictures of lookahead (40)"),
        MOTUS_WORD("tune", &r->tune, "NAME",
                   "none, psnr, ssim (AQ) or zerolatency (no lookahead, no B pictures: each "
                   "picture comes out at once)",
                   "none\0psnr\0ssim\0zerolatency\0"),
        MOTUS_INT("keyint", 'k', &c->keyint, 0, INT_MAX, "longest GOP; 0 = only one (250)"),
        MOTUS_INT("min-keyint", 0, &c->min_keyint, 0, INT_MAX,
                  "shortest GOP ahead of a scene cut (0)"),
        MOTUS_INT("scenecut", 0, &c->scenecut, 0, 100,
                  "how readily scene cuts begin a GOP; 0 = never (40)"),
        MOTUS_INT("range", 0, &c->range, 1, MOTUS_MAX_RANGE, "search +-N samples (the preset's)"),
        MOTUS_WORD("subpel", &c->subpel, "LEVEL", "full, half or quarter sample vectors (quarter)",
                   MOTUS_SUBPEL_WORDS),
        {"partitions", 0, &c->partitions, motus_option_partitions, 0, 0, "LIST",
         "all, none, or of 16x16,16x8,8x16,8x8,8x4,4x8,4x4 (all)"},
        {"no-deblock", 0, &c->deblock, NULL, 0, 0, NULL, "no deblocking filter"},
        MOTUS_INT("slices", 0, &c->slices, 1, MOTUS_MAX_SIZE / 16,
                  "slices per picture, of whole MB rows (1)"),
        {"slice-max-size", 0, &c->slice_max_size, motus_option_int, MOTUS_MIN_SLICE_SIZE, INT_MAX,
         "BYTES", "largest NAL unit (no limit); on the CPU"},
        {"preset", 0, &c->preset, motus_option_preset, 0, 0, "NAME",
         motus_preset_help(presets, sizeof presets)},
        {"profile", 0, &c->profile, motus_option_profile, 0, 0, "NAME",
         "baseline, main or high (high)"},
        {"no-cabac", 0, &c->cabac, NULL, 0, 0, NULL, "CAVLC also above the Baseline profile"},
        {"no-8x8dct", 0, &c->transform_8x8, NULL, 0, 0, NULL,
         "only 4x4 transforms in the High profile, too"},
        MOTUS_INT("bframes", 0, &c->bframes, 0, MOTUS_MAX_BFRAMES,
                  "most B pictures in a row (7, from fast on 3; 0 in baseline, with MVs)"),
        MOTUS_INT("b-adapt", 0, &c->b_adapt, 0, 2,
                  "choose how many B pictures are in a row; 0: always bframes (1)"),
        MOTUS_WORD("b-pyramid", &c->b_pyramid, "NAME",
                   "none, or normal: middle ones of two and more B pictures are references "
                   "(normal)",
                   "none\0normal\0"),
        MOTUS_WORD("direct", &c->direct, "NAME",
                   "MVs of B_Skip and direct blocks: none, spatial, temporal or auto, the preset's "
                   "(auto)",
                   "none\0spatial\0temporal\0auto\0"),
        {"pbratio", 0, &c->pb_ratio, motus_option_ratio, 0, 10, "N",
         "quantizer step of B pictures over that of P pictures, without mbtree (1.3)"},
        MOTUS_INT("ref", 0, &c->references, 1, MOTUS_MAX_REFERENCES,
                  "reference pictures that P pictures may use (the preset's)"),
        MOTUS_INT("keep-references", 0, &c->keep_references, 0, MOTUS_MAX_REFERENCES,
                  "reference pictures that decoders keep at least, against losses (0)"),
        MOTUS_FLAG("intra-refresh", &c->intra_refresh, "rows of intra MBs wander, no I pictures"),
        MOTUS_INT("weightp", 0, &c->weightp, 0, 2,
                  "weight references of P pictures in fades; 2: of parts, too (2, zerolatency 0)"),
        MOTUS_FLAG("weightb", &c->weightb,
                   "weight the references of B pictures by their distances"),
        {"no-weightb", 0, &c->weightb, NULL, 0, 0, NULL, "average them (default)"},
        MOTUS_FLAG("aud", &c->aud, "begin each picture with an access unit delimiter"),
    };
    const size_t n = sizeof coding / sizeof *coding;
    MotusOption options[sizeof coding / sizeof *coding + FILE_ROWS + 1] = {{0}};
    memcpy(options, coding, sizeof coding);
    add_file_rows(o, options + n);
    const MotusCommand command = {"encode", "INPUT [-o OUTPUT] [options]", about, options, operands,
                                  2};
    const int status = motus_options_parse_quietly(&command, argc, argv, o->note);
    return status < 0
               ? motus_options_input("encode", input, operands, &o->input, &o->outputs.stream)
               : status;
}

// Chooses the format: --format, else the output's ending, else a byte stream for standard output, a
// device or a pipe.
static int choose_format(MotusEncodeOptions *o) {
    struct stat st;
    const char *path = o->outputs.stream;
    int no_file = !strcmp(path, "-") || motus_output_descriptor(path) >= 0 ||
                  (!stat(path, &st) && !S_ISREG(st.st_mode));
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

// Applies --devices, which asks for the CUDA backend.
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

static int check_table(const char *option, const char *path) {
    if (!path || motus_has_ending(path, MOTUS_TABLE_ENDINGS)) return -1;
    return motus_usage_error("encode", "%s %s: must end in .csv or .npy", option, path);
}

// Names the output after the input. A name that the user did not choose replaces no file unasked.
static int name_output(MotusEncodeOptions *o) {
    static const char *const endings[MOTUS_FORMATS] = {".264", ".mp4", ".mov", ".mkv", ".ts"};
#ifdef MOTUS_HAVE_MEDIA
    const MotusFormat usual = MOTUS_FORMAT_MP4;
#else
    const MotusFormat usual = MOTUS_FORMAT_H264;
#endif
    struct stat st;
    if (!motus_output_beside(o->input, endings[o->format < 0 ? usual : (MotusFormat)o->format],
                             o->default_output, sizeof o->default_output))
        return motus_usage_error("encode", "the output is missing: -o FILE");
    o->outputs.stream = o->default_output;
    if (o->overwrite != MOTUS_OVERWRITE_ASK || stat(o->default_output, &st) ||
        (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
        return -1;
    return motus_usage_error("encode",
                             "%s: exists already; -o names another output, -y replaces it",
                             motus_shown(o->default_output));
}

// Returns the B pictures in a row of a preset, in profiles that have them.
static int bframes_of(MotusPreset preset) { return preset >= MOTUS_PRESET_FAST ? 3 : 7; }

// Sets what has not been given. Fields of MVs are those of the picture before, if their table tells
// no others.
static void set_defaults(MotusEncodeOptions *o) {
    MotusEncoderConfig *c = &o->config;
    const int fields = o->outputs.field || (o->mvs_in && !motus_field_file_by_reference(o->mvs_in));
    if (!c->references && fields) c->references = 1;
    if (c->weightp == NOT_GIVEN) c->weightp = o->rate.tune == MOTUS_TUNE_ZEROLATENCY ? 0 : 2;
    if (c->bframes == NOT_GIVEN)
        c->bframes =
            fields || c->keep_references || c->intra_refresh || c->profile == MOTUS_PROFILE_BASELINE
                ? 0
                : bframes_of(c->preset);
}

static int check(MotusEncodeOptions *o) {
    MotusEncodeNames *names = &o->outputs;
    if (!o->input || !*o->input) return motus_usage_error("encode", "the input is missing");
    int status = names->stream ? -1 : name_output(o);
    if (status < 0) status = check_table("--mvs", names->mvs);
    if (status < 0) status = check_table("--field", names->field);
    if (status < 0) status = check_table("--mvs-in", o->mvs_in);
    if (status >= 0) return status;
    if (o->mvs_final && !o->mvs_in)
        return motus_usage_error("encode", "--mvs-final: goes with --mvs-in");
    if ((status = motus_filters_check("encode", &o->filters)) >= 0) return status;
    o->config.export_field = names->field != NULL;
    set_defaults(o);
    names->pass_log = o->rate.pass == 1 ? o->rate.pass_log : NULL;
    const MotusInputName inputs[] = {
        {o->input, "the input"},
        {o->filters.background, "the background, an input"},
        {o->rate.pass == 2 ? o->rate.pass_log : NULL, "the pass log (--pass-log), an input"},
        {o->mvs_in, "the field (--mvs-in), an input"}};
    const char *outputs[] = {names->stream, names->recon,    names->stats,
                             names->mvs,    names->pass_log, names->field};
    status = motus_check_names("encode", inputs, 4, outputs, 6);
    if (status < 0) status = motus_check_sequence_name("encode", "--recon", names->recon);
    if (status < 0) status = motus_rate_options_apply(&o->rate, &o->config);
    if (status < 0) status = check_devices(o);
    if (status < 0) status = choose_format(o);
    return status < 0 ? motus_may_overwrite(o->overwrite, outputs, 6) : status;
}

MotusEncodeOptions motus_encode_options_default(void) {
    MotusEncodeOptions o = {.format = -1,
                            .log_level = MOTUS_SAY_INFO,
                            .rate = motus_rate_options_default(),
                            .config = motus_encoder_config_default(2, 2, (MotusRational){25, 1})};
    o.config.profile = MOTUS_PROFILE_HIGH;
    o.config.bframes = o.config.weightp = NOT_GIVEN;
    return o;
}

int motus_encode_options_read(MotusEncodeOptions *o, int argc, char **argv) {
    const int status = parse(o, argc, argv);
    if (o->quiet && o->log_level == MOTUS_SAY_INFO) o->log_level = MOTUS_SAY_WARNINGS;
    o->quiet = o->log_level < MOTUS_SAY_INFO;
    o->seek = o->from.frames;
    if (status < 0 && o->note[0] && motus_encode_says(o, MOTUS_LOG_NOTE)) motus_warn("%s", o->note);
    return status < 0 ? check(o) : status;
}

int motus_encode_says(const MotusEncodeOptions *o, MotusLogLevel level) {
    return o->log_level >= (level == MOTUS_LOG_NOTE ? MOTUS_SAY_INFO : MOTUS_SAY_WARNINGS);
}

void motus_encode_note_searched(const MotusEncodeOptions *o, int64_t pictures) {
    if (pictures && motus_encode_says(o, MOTUS_LOG_NOTE))
        motus_warn("%s: note: has no vectors of %lld P and B pictures, which were searched",
                   motus_shown(o->mvs_in), (long long)pictures);
}

MotusStatus motus_encode_check_backend(const MotusEncodeOptions *o, MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = motus_backend_check(o->config.backend, &cause);
    const char *before = o->config.n_devices ? "--devices needs " : "";
    return status ? motus_fail(error, status, "%s%s", before, cause.text) : MOTUS_OK;
}

MotusStatus motus_encode_config(const MotusEncodeOptions *o, const MotusSequenceInfo *info,
                                MotusEncoderConfig *c, MotusLogCallback *log, void *opaque,
                                MotusError *error) {
    *c = o->config;
    c->width = info->width & ~1;
    c->height = info->height & ~1;
    c->fps = info->fps;
    c->colour = info->colour;
    if (info->variable && c->rate != MOTUS_RATE_QP && !c->hrd) c->time_base = info->time_base;
    if (!c->width || !c->height)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: %dx%d is too small: H.264 4:2:0 begins at 2x2",
                          motus_shown(o->input), info->width, info->height);
    if (c->width == info->width && c->height == info->height) return MOTUS_OK;
    char line[300];
    snprintf(line, sizeof line,
             "%s: note: %dx%d is cropped to %dx%d, H.264 4:2:0 has even sizes only",
             motus_shown(o->input), info->width, info->height, c->width, c->height);
    log(opaque, MOTUS_LOG_LOSS, line);
    return MOTUS_OK;
}

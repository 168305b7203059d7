// Encodes a .y4m file with x265, alone or with the MVs that motus finds in x265's own
// reconstruction; prints bits, PSNR and CPU time.
//     x265_motus film.y4m -o film.hevc --qp 30 --search motus
// x265 is under the GPL, and so is this program; the library motus is not.
// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis.h"
#include "y4m.h"

typedef struct Options {
    const char *input, *output, *recon, *preset;
    int motus, qp, ctu, frames, range, quarter, gpu, refine, again, csv, plain;
} Options;

typedef struct Totals {
    long frames;
    double bytes, ssd, x265_seconds, motus_seconds; // CPU time of all threads
} Totals;

typedef struct Session {
    const Options *options;
    Y4m in;
    FILE *out, *recon;
    x265_param *param, actual; // as requested, and as x265 uses them
    x265_encoder *encoder;
    MotusFrame *cur, *ref; // ref: x265's reconstruction of the previous picture
    MotusMe *me;
    MotusMeReference *reference; // ref, prepared for the search
    MotusField *field;
    MotusMbStats *stats; // per MB
    MotusMv *centre;     // per MB: search centre, and predictor for the bits of MVs
    Analysis analysis;
    Totals totals;
} Session;

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what) {
    fprintf(stderr, "x265_motus: %s\n", what);
    return -1;
}

// ---- x265 ---------------------------------------------------------------------------------------

// Opens x265 with P pictures after one IDR picture, one reference, constant QP and no delay: each
// call returns the picture that it was passed, whose reconstruction the next search needs.
static int open_x265(Session *s) {
    const Options *o = s->options;
    char number[16];
    x265_param *p = s->param = x265_param_alloc();
    if (!p || x265_param_default_preset(p, o->preset, "psnr")) return fail("unknown preset");
    p->sourceWidth = s->in.width, p->sourceHeight = s->in.height;
    p->fpsNum = (uint32_t)s->in.fps.num, p->fpsDenom = (uint32_t)s->in.fps.den;
    p->internalCsp = X265_CSP_I420;
    p->logLevel = X265_LOG_ERROR;
    p->bEmitInfoSEI = 0, p->bRepeatHeaders = 1;
    p->keyframeMax = -1, p->scenecutThreshold = 0, p->bOpenGOP = 0;
    p->bframes = 0, p->lookaheadDepth = 0, p->frameNumThreads = 1, p->maxNumReferences = 1;
    p->bEnableWeightedPred = 0;
    p->rc.rateControlMode = X265_RC_CQP, p->rc.qp = o->qp, p->rc.cuTree = 0, p->rc.aqMode = 0;
    p->limitTU = 0;
    p->numaPools = "none", p->bEnableWavefront = 0; // strings are copied
    snprintf(number, sizeof number, "%d", o->ctu);
    int bad = x265_param_parse(p, "ctu", number);
    if (o->plain) bad |= x265_param_parse(p, "asm", "0");
    if (o->motus) {
        p->analysisLoad = "with each picture", p->bUseAnalysisFile = 0,
        p->analysisLoadReuseLevel = 10;
        p->intraRefine = 4, p->interRefine = o->refine, p->mvRefine = 2;
    }
    if (bad) return fail("x265 does not know what it is told");
    s->encoder = x265_encoder_open(p);
    if (!s->encoder) return fail("x265 cannot be opened");
    x265_encoder_parameters(s->encoder, &s->actual);
    return o->motus && analysis_open(&s->analysis, &s->actual, s->in.width, s->in.height)
               ? fail("no memory for x265's analysis")
               : 0;
}

static void keep_recon(const MotusFrame *to, const x265_picture *from) {
    for (int p = 0; p < 3; p++)
        for (int row = 0; row < to->plane[p].height; row++)
            memcpy(to->plane[p].data + row * to->plane[p].stride,
                   (uint8_t *)from->planes[p] + (size_t)row * (size_t)from->stride[p],
                   (size_t)to->plane[p].width);
}

// ---- motus --------------------------------------------------------------------------------------

static int open_motus(Session *s) {
    const int width = s->in.width, height = s->in.height,
              n_mb = (width + 15) / 16 * ((height + 15) / 16);
    MotusMeConfig me = motus_me_config_default(width, height);
    me.range = s->options->range;
    me.threads = 1;
    me.subpel = s->options->quarter ? MOTUS_SUBPEL_QUARTER : MOTUS_SUBPEL_BEST;
    me.modes = 1u << MOTUS_MODE_16x16 | 1u << MOTUS_MODE_8x8;
    me.backend = s->options->gpu ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU;
    s->centre = calloc((size_t)n_mb, sizeof *s->centre);
    s->stats = calloc((size_t)n_mb, sizeof *s->stats);
    if (!s->centre || !s->stats || motus_frame_alloc(&s->cur, width, height) ||
        motus_frame_alloc(&s->ref, width, height) || motus_field_alloc(&s->field, width, height) ||
        motus_me_open(&s->me, &me) || motus_me_reference_alloc(&s->reference, s->me))
        return fail("no memory for motus");
    return 0;
}

// Returns x265's weight of a bit against SATD.
static uint32_t lambda_q8(int qp) { return (uint32_t)(256 * sqrt(0.85) * pow(2, (qp - 12) / 6.0)); }

// Searches around the MVs of the previous picture.
static int search(Session *s) {
    const MotusMeHints hints = {
        .centre = s->centre, .predictor = s->centre, .lambda_q8 = lambda_q8(s->options->qp)};
    const MotusMeTarget target = {.reference = s->reference,
                                  .hints = &hints,
                                  .mv = s->field->mv[0],
                                  .cost = s->field->cost[0]};
    MotusMeRequest request = motus_me_request_default(&s->cur->plane[0], &target, 1);
    request.stats = s->stats;
    if (motus_me_reference_fill(s->reference, s->me, &s->ref->plane[0], MOTUS_MEMORY_HOST, NULL) ||
        motus_me_request(s->me, &request) || motus_me_wait(s->me, NULL, -1))
        return fail("the search failed");
    for (int mb = 0; mb < s->field->n_mb; mb++) {
        const MotusMv mv = s->field->mv[MOTUS_BLOCK_16x16][mb];
        const int x = (mv.x + 2) >> 2, y = (mv.y + 2) >> 2, most = 100; // samples
        s->centre[mb].x = (int16_t)(4 * (x > most ? most : x < -most ? -most : x));
        s->centre[mb].y = (int16_t)(4 * (y > most ? most : y < -most ? -most : y));
    }
    return 0;
}

// True if the picture begins a scene: intra prediction costs less than motion. Our sizes would then
// be of no use to x265, which keeps them for intra units too.
static int begins_scene(const Session *s) {
    uint64_t inter = 0, intra = 0;
    for (int mb = 0; mb < s->field->n_mb; mb++) {
        inter += s->field->cost[MOTUS_BLOCK_16x16][mb];
        intra += s->stats[mb].intra_satd;
    }
    return intra < inter;
}

// ---- Pictures -----------------------------------------------------------------------------------

static double ssd_of(const MotusPlane *a, const MotusPlane *b) {
    double sum = 0;
    for (int y = 0; y < a->height; y++)
        for (int x = 0; x < a->width; x++) {
            const int d = a->data[y * a->stride + x] - b->data[y * b->stride + x];
            sum += d * d;
        }
    return sum;
}

static int write_picture(Session *s, const x265_nal *nal, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        s->totals.bytes += nal[i].sizeBytes;
        if (s->out && fwrite(nal[i].payload, 1, nal[i].sizeBytes, s->out) != nal[i].sizeBytes)
            return fail("the stream cannot be written");
    }
    if (s->recon) fputs("FRAME\n", s->recon);
    for (int p = 0; s->recon && p < 3; p++)
        for (int row = 0; row < s->ref->plane[p].height; row++)
            fwrite(s->ref->plane[p].data + row * s->ref->plane[p].stride, 1,
                   (size_t)s->ref->plane[p].width, s->recon);
    return s->recon && ferror(s->recon) ? fail("the reconstruction cannot be written") : 0;
}

static int encode_picture(Session *s) {
    const double start = processor_time();
    int idr = s->totals.frames == 0;
    x265_picture in, out;
    x265_nal *nal;
    uint32_t n = 0;
    x265_picture_init(&s->actual, &in);
    x265_picture_init(&s->actual, &out);
    if (s->options->motus) {
        s->analysis.still = s->options->motus == 2;
        if (!idr && search(s)) return -1;
        if (idr || (idr = begins_scene(s)))
            analysis_of_intra(&s->analysis);
        else
            analysis_of_field(&s->analysis, s->field);
        s->analysis.data.poc = (uint32_t)s->totals.frames;
        in.analysisData = s->analysis.data;
    }
    const double searched = processor_time();
    for (int p = 0; p < 3; p++)
        in.planes[p] = s->cur->plane[p].data, in.stride[p] = (int)s->cur->plane[p].stride;
    in.bitDepth = 8;
    in.pts = s->totals.frames;
    in.sliceType = idr ? X265_TYPE_IDR : X265_TYPE_P;
    if (x265_encoder_encode(s->encoder, &nal, &n, &in, &out) != 1)
        return fail("x265 did not hand the picture out");
    keep_recon(s->ref, &out);
    s->totals.x265_seconds += processor_time() - searched;
    s->totals.motus_seconds += searched - start;
    s->totals.ssd += ssd_of(&s->cur->plane[0], &s->ref->plane[0]);
    s->totals.frames++;
    return write_picture(s, nal, n);
}

// Reads the next frame; with --again, begins the input again at its end.
static int next_frame(Session *s) {
    if (s->options->frames && s->totals.frames >= s->options->frames) return 0;
    if (y4m_read(&s->in, s->cur)) return 1;
    return s->options->again && s->options->frames && s->totals.frames &&
           !y4m_begin_again(&s->in) && y4m_read(&s->in, s->cur);
}

static int encode_all(Session *s) {
    while (next_frame(s))
        if (encode_picture(s)) return -1;
    if (!s->totals.frames) return fail("no frame to encode");
    x265_nal *nal;
    uint32_t n = 0;
    while (x265_encoder_encode(s->encoder, &nal, &n, NULL, NULL) > 0) {} // no picture is delayed
    return 0;
}

static const char *const searches[] = {"x265", "motus", "sizes"}; // Options.motus

static void print(const Session *s) {
    const Options *o = s->options;
    const Totals *t = &s->totals;
    const double samples = (double)t->frames * s->in.width * s->in.height, mse = t->ssd / samples;
    const double psnr = mse > 0 ? 10 * log10(255.0 * 255.0 / mse) : 100;
    const double kbps = 8e-3 * t->bytes * s->in.fps.num / s->in.fps.den / (double)t->frames;
    printf(o->csv ? "%s,%s,%d,%d,%ld,%.0f,%.2f,%.3f,%.2f,%.2f\n"
                  : "%s: search by %s, ctu %d, qp %d: %ld pictures, %.0f bits, %.2f kb/s, luma "
                    "PSNR %.3f dB; processor: x265 %.2f s, motus %.2f s\n",
           o->input, searches[o->motus], o->ctu, o->qp, t->frames, 8 * t->bytes, kbps, psnr,
           t->x265_seconds, t->motus_seconds);
}

// ---- Options ------------------------------------------------------------------------------------

static const char help[] =
    "Usage: x265_motus INPUT.y4m [options]\n"
    "  -o FILE             the HEVC stream\n"
    "  --recon FILE.y4m    x265's reconstruction\n"
    "  --search NAME       motus; x265: alone; sizes: only motus's unit sizes, no MVs (motus)\n"
    "  --qp N              quantizer of P pictures (30)\n"
    "  --preset NAME       x265's (medium)\n"
    "  --ctu N             largest coding unit: 16, 32 or 64 (64)\n"
    "  --refine N          x265's refine-inter: what it evaluates beside motus's field, 0..3 (2)\n"
    "  --range N           motus searches +-N samples around the previous picture's MVs (16)\n"
    "  --quarter           nearest quarter-sample MVs: less time and more bits than with the best\n"
    "  --gpu               motus searches on a CUDA device\n"
    "  --frames N          at most N frames; with --again the input repeats until there are N\n"
    "  --plain             x265 without assembly, for valgrind\n"
    "  --csv               "
    "input,search,ctu,qp,pictures,bits,kbps,psnr_y,x265_seconds,motus_seconds\n";

static int number(const char *text, int lo, int hi) {
    char *end;
    const long v = strtol(text, &end, 10);
    if (end == text || *end || v < lo || v > hi) {
        fprintf(stderr, "x265_motus: %s: must be a number from %d to %d\n", text, lo, hi);
        exit(2);
    }
    return (int)v;
}

static int which(const char *name) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, searches[i])) return i;
    return -1;
}

static int read_options(Options *o, int argc, char **argv) {
    enum {
        QP = 256,
        RECON,
        SEARCH,
        PRESET,
        CTU,
        REFINE,
        RANGE,
        QUARTER,
        GPU,
        FRAMES,
        AGAIN,
        CSV,
        PLAIN
    };
    static const struct option known[] = {
        {"qp", 1, NULL, QP},         {"recon", 1, NULL, RECON},     {"search", 1, NULL, SEARCH},
        {"preset", 1, NULL, PRESET}, {"ctu", 1, NULL, CTU},         {"refine", 1, NULL, REFINE},
        {"range", 1, NULL, RANGE},   {"quarter", 0, NULL, QUARTER}, {"gpu", 0, NULL, GPU},
        {"frames", 1, NULL, FRAMES}, {"again", 0, NULL, AGAIN},     {"csv", 0, NULL, CSV},
        {"plain", 0, NULL, PLAIN},   {"help", 0, NULL, 'h'},        {0}};
    *o = (Options){.preset = "medium", .motus = 1, .qp = 30, .ctu = 64, .range = 16, .refine = 2};
    for (int c; (c = getopt_long(argc, argv, "o:h", known, NULL)) != -1;) {
        if (c == 'o') o->output = optarg;
        if (c == RECON) o->recon = optarg;
        if (c == PRESET) o->preset = optarg;
        if (c == SEARCH) o->motus = which(optarg);
        if (c == QP) o->qp = number(optarg, 0, 51);
        if (c == CTU) o->ctu = number(optarg, 16, 64);
        if (c == REFINE) o->refine = number(optarg, 0, 3);
        if (c == RANGE) o->range = number(optarg, 1, MOTUS_MAX_RANGE);
        if (c == QUARTER) o->quarter = 1;
        if (c == GPU) o->gpu = 1;
        if (c == FRAMES) o->frames = number(optarg, 1, INT_MAX);
        if (c == AGAIN) o->again = 1;
        if (c == CSV) o->csv = 1;
        if (c == PLAIN) o->plain = 1;
        if (c == 'h') return fputs(help, stdout), 0;
        if (c == '?') return 2;
    }
    if (optind + 1 == argc) o->input = argv[optind];
    if (!o->input || o->motus < 0 || (o->ctu & (o->ctu - 1))) return fputs(help, stderr), 2;
    return -1;
}

static int open_outputs(Session *s) {
    const Options *o = s->options;
    if (o->output && !(s->out = fopen(o->output, "wb"))) return fail("the stream cannot be opened");
    if (o->recon && !(s->recon = fopen(o->recon, "wb")))
        return fail("the reconstruction cannot be opened");
    if (s->recon)
        fprintf(s->recon, "YUV4MPEG2 W%d H%d F%d:%d Ip C420jpeg\n", s->in.width, s->in.height,
                s->in.fps.num, s->in.fps.den);
    return 0;
}

static int close_all(Session *s) {
    int bad = 0;
    if (s->encoder) x265_encoder_close(s->encoder);
    analysis_close(&s->analysis, &s->actual);
    if (s->param) x265_param_free(s->param);
    x265_cleanup();
    motus_me_close(&s->me);
    motus_me_reference_unref(&s->reference);
    motus_field_free(&s->field);
    free(s->stats);
    motus_frame_unref(&s->cur);
    motus_frame_unref(&s->ref);
    free(s->centre);
    y4m_close(&s->in);
    if (s->out) bad |= fclose(s->out);
    if (s->recon) bad |= fclose(s->recon);
    return bad ? fail("the output is incomplete") : 0;
}

int main(int argc, char **argv) {
    Options options;
    const int done = read_options(&options, argc, argv);
    if (done >= 0) return done;
    Session s = {.options = &options};
    int bad = y4m_open(&s.in, options.input) || open_outputs(&s) || open_motus(&s) ||
              open_x265(&s) || encode_all(&s);
    if (!bad) print(&s);
    if (close_all(&s)) bad = 1;
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "tools/x264/x264.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/system.h"

// The part of the library's interface that all versions share. Parameters and pictures are larger
// than in any version.
enum {
    OLDEST = 118,
    NEWEST = 250,
    FIRST_WITH_I400 = 155, // I420 is 2 from here on, else 1
    PARAM_INTS = 4096,
    PARAM_WIDTH = 7, // index of width; height and format follow
    NAL_SEI = 6,
    LOG_NONE = -1,
    LOG_INFO = 2, // x264 measures PSNR from this level on
};

typedef struct X264Param {
    int word[PARAM_INTS];
} X264Param;

typedef struct X264Image {
    int csp, planes, stride[4];
    uint8_t *plane[4];
} X264Image;

typedef struct X264Picture {
    int type, qpplus1, pic_struct, keyframe;
    int64_t pts, dts;
    void *param;
    X264Image image;
    void *pointers[4];
    double ssim, psnr_avg, psnr[3];
    uint8_t reserved[4096];
} X264Picture;

typedef struct X264Nal {
    int ref_idc, type, long_start, first, last, size;
    uint8_t *data;
    int padding;
} X264Nal;

struct MotusLibX264 {
    void *library;
    int build;
    int (*default_preset)(X264Param *, const char *preset, const char *tune);
    int (*parse)(X264Param *, const char *name, const char *value);
    int (*profile)(X264Param *, const char *name);
    void *(*open)(X264Param *);
    int (*encode)(void *, X264Nal **, int *n, const X264Picture *in, X264Picture *out);
    int (*delayed)(void *);
    void (*close)(void *);
    void (*init)(X264Picture *);
};

// ---- The library --------------------------------------------------------------------------------

static void *load(const char *path) {
    if (path) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *library = dlopen("libx264.so", RTLD_NOW | RTLD_LOCAL);
    char name[32];
    for (int n = NEWEST; !library && n >= OLDEST; n--) {
        snprintf(name, sizeof name, "libx264.so.%d", n);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

// Stores the address of function `name` in *function, a pointer to a function. Returns 1 if found.
static int find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

MotusStatus motus_libx264_open(MotusLibX264 **lib, const char *path, MotusError *error) {
    *lib = NULL;
    void *library = load(path);
    if (!library)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: %s",
                          path ? motus_shown(path) : "libx264",
                          path ? "cannot be loaded" : "is not installed");
    MotusLibX264 *l = motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->library = library;
    for (int n = NEWEST; !l->build && n >= OLDEST; n--) {
        char name[32];
        snprintf(name, sizeof name, "x264_encoder_open_%d", n);
        if (find(library, name, &l->open)) l->build = n;
    }
    const int whole = l->build && find(library, "x264_param_default_preset", &l->default_preset) &&
                      find(library, "x264_param_parse", &l->parse) &&
                      find(library, "x264_param_apply_profile", &l->profile) &&
                      find(library, "x264_encoder_encode", &l->encode) &&
                      find(library, "x264_encoder_delayed_frames", &l->delayed) &&
                      find(library, "x264_encoder_close", &l->close) &&
                      find(library, "x264_picture_init", &l->init);
    *lib = l;
    if (whole) return MOTUS_OK;
    motus_libx264_close(lib);
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: is not libx264 of a version known here",
                      path ? motus_shown(path) : "libx264");
}

void motus_libx264_close(MotusLibX264 **lib) {
    motus_free(*lib); // the library may have threads: it stays loaded
    *lib = NULL;
}

int motus_libx264_build(const MotusLibX264 *lib) { return lib->build; }

// ---- An encode ----------------------------------------------------------------------------------

static MotusStatus set(const MotusLibX264 *lib, X264Param *param, const char *name,
                       const char *value, MotusError *error) {
    if (!lib->parse(param, name, value)) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_ARGUMENT, "libx264: refuses %s=%s", name, value);
}

static MotusStatus configure(const MotusLibX264 *lib, const MotusLibX264Job *job, X264Param *param,
                             MotusError *error) {
    char text[64];
    memset(param, 0, sizeof *param);
    if (lib->default_preset(param, job->preset, job->tune))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "libx264: has no preset %s", job->preset);
    param->word[PARAM_WIDTH] = job->frame[0]->width;
    param->word[PARAM_WIDTH + 1] = job->frame[0]->height;
    param->word[PARAM_WIDTH + 2] = lib->build >= FIRST_WITH_I400 ? 2 : 1;
    snprintf(text, sizeof text, "%d/%d", job->fps.num, job->fps.den);
    MotusStatus status = set(lib, param, "fps", text, error);
    snprintf(text, sizeof text, "%d", job->psnr ? LOG_INFO : LOG_NONE);
    if (!status) status = set(lib, param, "log", text, error);
    if (!status && job->psnr) status = set(lib, param, "psnr", "1", error);
    if (!status && job->baseline) status = set(lib, param, "ref", "1", error);
    for (const char *(*option)[2] = job->option; !status && (*option)[0]; option++)
        status = set(lib, param, (*option)[0], (*option)[1], error);
    if (!status && job->baseline && lib->profile(param, "baseline"))
        status = motus_fail(error, MOTUS_ERR_ARGUMENT,
                            "libx264: these options are not in the baseline profile");
    return status;
}

// Redirects stderr to nowhere: x264 prints what it measures. Returns the old one.
static int mute_stderr(void) {
    const int before = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);
    if (before >= 0 && nothing >= 0) dup2(nothing, STDERR_FILENO);
    if (nothing >= 0) close(nothing);
    return before;
}

static void restore_stderr(int before) {
    if (before < 0) return;
    dup2(before, STDERR_FILENO);
    close(before);
}

// Encodes one frame; in: NULL once all frames were sent.
static MotusStatus step(const MotusLibX264 *lib, void *encoder, const X264Picture *in,
                        int *pictures, MotusLibX264Run *run, MotusError *error) {
    X264Picture out;
    X264Nal *nal;
    int n = 0;
    if (lib->encode(encoder, &nal, &n, in, &out) < 0)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "libx264: failed");
    for (int i = 0; i < n; i++)
        if (nal[i].type != NAL_SEI) run->bytes += (uint64_t)nal[i].size;
    if (n) ++*pictures, run->psnr += out.psnr[0];
    return MOTUS_OK;
}

static MotusStatus encode(const MotusLibX264 *lib, const MotusLibX264Job *job, void *encoder,
                          MotusLibX264Run *run, MotusError *error) {
    X264Picture picture;
    int pictures = 0;
    MotusStatus status = MOTUS_OK;
    lib->init(&picture);
    picture.image = (X264Image){.csp = lib->build >= FIRST_WITH_I400 ? 2 : 1, .planes = 3};
    const double began = motus_seconds();
    for (int i = 0; i < job->n && !status; i++) {
        const MotusFrame *frame = job->frame[i % job->n_frames];
        picture.pts = i;
        for (int k = 0; k < 3; k++) {
            picture.image.plane[k] = frame->plane[k].data;
            picture.image.stride[k] = (int)frame->plane[k].stride;
        }
        status = step(lib, encoder, &picture, &pictures, run, error);
    }
    while (!status && lib->delayed(encoder) > 0)
        status = step(lib, encoder, NULL, &pictures, run, error);
    run->seconds = motus_seconds() - began;
    run->psnr = pictures && job->psnr ? run->psnr / pictures : 0;
    if (!status && pictures != job->n)
        status =
            motus_fail(error, MOTUS_ERR_INTERNAL, "libx264: %d pictures of %d", pictures, job->n);
    return status;
}

MotusStatus motus_libx264_encode(const MotusLibX264 *lib, const MotusLibX264Job *job,
                                 MotusLibX264Run *run, MotusError *error) {
    static X264Param param;
    *run = (MotusLibX264Run){0};
    MotusStatus status = configure(lib, job, &param, error);
    if (status) return status;
    const int before = mute_stderr();
    void *encoder = lib->open(&param);
    status = encoder ? encode(lib, job, encoder, run, error)
                     : motus_fail(error, MOTUS_ERR_UNSUPPORTED, "libx264: cannot encode %dx%d",
                                  job->frame[0]->width, job->frame[0]->height);
    if (encoder) lib->close(encoder);
    restore_stderr(before);
    return status;
}

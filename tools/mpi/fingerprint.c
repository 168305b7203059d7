// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "motus/version.h"
#include "tools/mpi/journal.h"

void motus_settings_text(const MotusEncodeOptions *o, const MotusEncoderConfig *c, char *text,
                         size_t size) {
    const uint64_t log =
        c->pass_log ? motus_checksum(MOTUS_CHECKSUM_START, c->pass_log, strlen(c->pass_log)) : 0;
    snprintf(
        text, size,
        "motus %s %dx%d %d/%d rate %d qp %d %d crf %.9g bitrate %" PRId64
        " qps %d %d %d ip %.9g time %d/%d lookahead %d "
        "keyint %d %d scenecut %d aq %d %.9g propagation %d pass %d %016" PRIx64
        " preset %d range %d subpel %d partitions %x "
        "profile %d cabac %d 8x8 %d deblock %d aud %d slices %d %d colour %d/%d %d %d %d %d %d "
        "frames %d seek %d fps "
        "%d/%d deinterlace %d ssim %d bframes %d pb %.9g adapt %d pyramid %d refs %d weightb %d "
        "weightp %d keep %d refresh %d direct %d final %d",
        motus_version(), c->width, c->height, c->fps.num, c->fps.den, (int)c->rate, c->qp,
        c->qp_i_offset, c->crf, c->bitrate, c->qp_min, c->qp_max, c->qp_step, c->ip_ratio,
        c->time_base.num, c->time_base.den, c->lookahead, c->keyint, c->min_keyint, c->scenecut,
        (int)c->aq_mode, c->aq_strength, c->mb_tree, c->pass, log, (int)c->preset, c->range,
        (int)c->subpel, c->partitions, (int)c->profile, c->cabac, c->transform_8x8, c->deblock,
        c->aud, c->slices, c->slice_max_size, c->colour.sar.num, c->colour.sar.den,
        c->colour.full_range, c->colour.primaries, c->colour.transfer, c->colour.matrix,
        c->colour.chroma_location, o->frames, o->seek, o->fps.num, o->fps.den, (int)o->deinterlace,
        !o->quiet && !c->no_ssd, c->bframes, c->pb_ratio, c->b_adapt, (int)c->b_pyramid,
        c->references, c->weightb, c->weightp, c->keep_references, c->intra_refresh, (int)c->direct,
        o->mvs_final);
}

MotusStatus motus_input_text(const char *path, char *text, size_t size, MotusError *error) {
    static uint8_t piece[65536];
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        const int cause = errno;
        if (fd >= 0) close(fd);
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), strerror(cause));
    }
    uint64_t sum = MOTUS_CHECKSUM_START;
    const off_t at[2] = {0,
                         st.st_size > (off_t)sizeof piece ? st.st_size - (off_t)sizeof piece : 0};
    for (int i = 0; i < 2; i++) {
        const ssize_t n = pread(fd, piece, sizeof piece, at[i]);
        if (n > 0) sum = motus_checksum(sum, piece, (size_t)n);
    }
    close(fd);
    snprintf(text, size, "input of %" PRId64 " bytes, changed %" PRId64 ".%09ld, %016" PRIx64,
             (int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, sum);
    return MOTUS_OK;
}

MotusInputStamp motus_input_stamp(const char *path) {
    struct stat st;
    if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
        return (MotusInputStamp){.size = -1};
    return (MotusInputStamp){(int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec,
                             (int64_t)st.st_mtim.tv_nsec};
}

MotusStatus motus_input_unchanged(const char *path, const MotusInputStamp *before, int size_only,
                                  MotusError *error) {
    const MotusInputStamp now = motus_input_stamp(path);
    if (before->size < 0 || now.size < 0) return MOTUS_OK;
    const int same_time = now.seconds == before->seconds && now.nanoseconds == before->nanoseconds;
    if (now.size == before->size && (size_only || same_time)) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_IO,
                      "%s: has changed since the job began (%" PRId64 " bytes then, %" PRId64
                      " now)",
                      motus_shown(path), before->size, now.size);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/checksum.h"

#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <stdio.h>

int motus_frame_md5(const MotusFrame *frame, char text[MOTUS_MD5_TEXT]) {
    struct AVMD5 *md5 = av_md5_alloc();
    uint8_t digest[16];
    if (!md5) return 0;
    av_md5_init(md5);
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &frame->plane[p];
        for (int y = 0; y < plane->height; y++)
            av_md5_update(md5, plane->data + y * plane->stride, (size_t)plane->width);
    }
    av_md5_final(md5, digest);
    av_free(md5);
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return 1;
}

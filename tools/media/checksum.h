// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_CHECKSUM_H
#define TOOLS_MEDIA_CHECKSUM_H

#include "motus/frame.h"

#define MOTUS_MD5_TEXT 33 // 32 hexadecimal digits and the end

// MD5 of a picture's planes without padding, as `ffmpeg -f framemd5` prints it for 8-bit 4:2:0. 0
// where libavutil is not built in, or memory ran out.
int motus_frame_md5(const MotusFrame *frame, char text[MOTUS_MD5_TEXT]);

#endif

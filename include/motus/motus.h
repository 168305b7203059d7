// All public headers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_MOTUS_H
#define MOTUS_MOTUS_H

#include "motus/backend.h"
#include "motus/dct8x8.h"
#include "motus/encoder.h"
#include "motus/encoder_config.h"
#include "motus/filter.h"
#include "motus/filter_cuda.h"
#include "motus/frame.h"
#include "motus/image.h"
#include "motus/me.h"
#include "motus/me_request.h"
#include "motus/status.h"
#include "motus/upload.h"
#include "motus/version.h"

#endif

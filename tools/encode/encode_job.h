// One encode from input to finished files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_ENCODE_JOB_H
#define TOOLS_ENCODE_ENCODE_JOB_H

#include "motus/encoder.h"
#include "tools/cli/rate_options.h"
#include "tools/encode/encode_outputs.h"
#include "tools/filter/filters.h"

typedef struct MotusEncodeOptions {
    const char *input;
    MotusEncodeNames outputs;
    int format; // MotusFormat; -1: by the output's name
    int fragment, no_audio;
    MotusDeinterlace deinterlace;
    int size[2];        // of headerless input, 0: not given
    MotusRational fps;  // num 0: not given
    int frames, seek;   // frames 0: all
    const char *mvs_in; // a field to encode with; NULL: search
    int mvs_final;      // 1: its vectors are not refined
    int strict, quiet;
    MotusFilterList filters;   // run on each frame before it is encoded
    MotusDeviceList devices;   // config.devices
    MotusRateOptions rate;     // already in config
    MotusEncoderConfig config; // size, rate and colours are taken from the input
} MotusEncodeOptions;

// Returns the exit status; prints errors, warnings, the live line and the summary on stderr.
int motus_encode_job(const MotusEncodeOptions *options);

// The configuration for an input. MOTUS_ERR_UNSUPPORTED: it is too small. A size that has to be
// cropped is told.
MotusStatus motus_encode_config(const MotusEncodeOptions *options, const MotusSequenceInfo *info,
                                MotusEncoderConfig *config, MotusError *error);

// Whether the backend that is asked for is there; the error names the option.
MotusStatus motus_encode_check_backend(const MotusEncodeOptions *options, MotusError *error);

// Reads the arguments of motus encode; argv[0] is the subcommand. Returns -1, or the exit status
// after a line or the help. What o->rate holds is the caller's to free (rate.log_text).
MotusEncodeOptions motus_encode_options_default(void);
int motus_encode_options_read(MotusEncodeOptions *options, int argc, char **argv);

#endif

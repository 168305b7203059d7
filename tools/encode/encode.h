// motus encode: its command line and the job.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_ENCODE_H
#define TOOLS_ENCODE_ENCODE_H

#include <limits.h>

#include "motus/encoder.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/encode/encode_outputs.h"
#include "tools/filter/filters.h"

// Options of rate control.

// Values of the command line; below 0: not given. Rates in kb/s, sizes in kbit.
typedef struct MotusRateOptions {
    int qp;
    double crf, bitrate, vbv_maxrate, vbv_bufsize, aq_strength;
    int aq_mode, tune, hrd;
    int no_mbtree;
    int pass; // 0: one pass
    const char *pass_log;
    char *log_text; // contents of the second pass's log; the owner frees it
} MotusRateOptions;

enum { MOTUS_TUNE_NONE, MOTUS_TUNE_PSNR, MOTUS_TUNE_SSIM, MOTUS_TUNE_ZEROLATENCY };

MotusRateOptions motus_rate_options_default(void);

// Checks the options, applies them to *c and reads the log of a second pass. Returns -1, or the
// exit status after one line.
int motus_rate_options_apply(MotusRateOptions *o, MotusEncoderConfig *c);

// Writes "QP 26", "CRF 23", "500 kb/s", ...
void motus_rate_text(const MotusEncoderConfig *c, char *text, size_t size);

// Measures the SSIM of coded pictures on threads beside the encoder: a GPU codes faster than one
// thread measures.

typedef struct MotusSsimMeter MotusSsimMeter;

// Returns NULL without memory or threads.
MotusSsimMeter *motus_ssim_meter_open(int threads);

// Takes the packet over; the luma of `recon` is compared with `source` over width x height. The
// meter must not be full.
void motus_ssim_meter_put(MotusSsimMeter *meter, MotusPacket *packet, int width, int height);

// True if a packet has to be taken before the next put.
int motus_ssim_meter_full(const MotusSsimMeter *meter);

// Hands out the oldest packet and its luma SSIM. NULL: there is none, or it is not measured yet and
// `wait` is 0.
MotusPacket *motus_ssim_meter_take(MotusSsimMeter *meter, int wait, double *ssim);

// Drops the packets that were not taken; accepts *meter == NULL.
void motus_ssim_meter_close(MotusSsimMeter **meter);

typedef struct MotusEncodeOptions {
    const char *input;
    MotusProgressStyle progress;
    MotusOverwrite overwrite;
    char default_output[PATH_MAX]; // outputs.stream points to it if none was given
    char note[MOTUS_NOTE_SIZE];    // on a value that was taken as another; "": none
    MotusEncodeNames outputs;
    int format; // MotusFormat; -1: by the output's name
    int fragment, no_audio;
    MotusDeinterlace deinterlace;
    int size[2];       // of headerless input, 0: not given
    MotusRational fps; // num 0: not given
    int frames, seek;  // frames 0: all; seek: those of `from`
    MotusPosition from, duration;
    const char *mvs_in;        // table of external MVs; NULL: search
    int mvs_final;             // 1: external MVs are not refined
    int strict, quiet;         // quiet: as log_level says
    int log_level;             // lines on stderr, MOTUS_SAY_*
    MotusFilterList filters;   // applied to each frame before it is encoded
    MotusDeviceList devices;   // config.devices points into it
    MotusRateOptions rate;     // applied to config
    MotusEncoderConfig config; // without size, rate and colours, which the input gives
} MotusEncodeOptions;

MotusEncodeOptions motus_encode_options_default(void);

// Parses and checks the arguments; argv[0] is the subcommand. Returns -1 to go on, else the exit
// status after a line or the help. The caller frees rate.log_text.
int motus_encode_options_read(MotusEncodeOptions *options, int argc, char **argv);

// Levels of --log-level; each includes those before.
enum { MOTUS_SAY_ERRORS, MOTUS_SAY_WARNINGS, MOTUS_SAY_INFO };

// True if lines of this level are wanted.
int motus_encode_says(const MotusEncodeOptions *options, MotusLogLevel level);

// MOTUS_OK if the backend asked for is there; else *error names the option.
MotusStatus motus_encode_check_backend(const MotusEncodeOptions *options, MotusError *error);

// Makes the configuration for an input and logs a loss if its size is cropped to even numbers.
// MOTUS_ERR_UNSUPPORTED: it is too small.
MotusStatus motus_encode_config(const MotusEncodeOptions *options, const MotusSequenceInfo *info,
                                MotusEncoderConfig *config, MotusLogCallback *log, void *opaque,
                                MotusError *error);

// Notes on stderr how many pictures the table of external MVs lacks; says nothing of 0.
void motus_encode_note_searched(const MotusEncodeOptions *options, int64_t pictures);

// Encodes one input into finished files. Prints errors, warnings, the live line and the summary on
// stderr. Returns the exit status.
int motus_encode_job(const MotusEncodeOptions *options);

#endif

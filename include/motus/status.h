// Status codes of every motus function that can fail, and the two export macros.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_STATUS_H
#define MOTUS_STATUS_H

#if defined(__GNUC__)
#define MOTUS_API __attribute__((visibility("default")))
#else
#define MOTUS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Zero is success, positive values are states, negative values are errors. The numbers are part of
// the ABI: they never change.
typedef enum MotusStatus {
    MOTUS_OK = 0,
    MOTUS_END = 1,   // no more data will come (end of the input; encoder flushed)
    MOTUS_AGAIN = 2, // nothing to hand out yet: give more input first

    MOTUS_ERR_ARGUMENT = -1,    // an argument is out of its documented range, or NULL
    MOTUS_ERR_MEMORY = -2,      // memory could not be allocated, on the host or on a device
    MOTUS_ERR_UNSUPPORTED = -3, // valid, but not something this build or version can do
    MOTUS_ERR_IO = -4,          // the operating system refused: missing file, full disk, ...
    MOTUS_ERR_FORMAT = -5,      // the input is not what it claims to be
    MOTUS_ERR_TRUNCATED = -6,   // the input ends in the middle of a header or picture
    MOTUS_ERR_STATE = -7,       // call out of order (e.g. a frame after the flush)
    MOTUS_ERR_NO_DEVICE = -8,   // no usable CUDA device
    MOTUS_ERR_CUDA = -9,        // a CUDA call failed; the context keeps CUDA's own words
    MOTUS_ERR_INTERNAL = -10,   // motus broke a bound of its own (a bug: please report it); nothing
                                // was written beyond it
} MotusStatus;

// The enumerator's name, e.g. "MOTUS_ERR_IO"; "MOTUS_ERR_?" for a number that is none. Static
// storage, never NULL.
MOTUS_API const char *motus_status_name(MotusStatus status);

// A short English description, e.g. "input/output error". Static storage, never NULL.
MOTUS_API const char *motus_status_text(MotusStatus status);

// What went wrong, for people: one line without newline that names the file or parameter and the
// cause. Functions that take a MotusError * accept NULL; they write it only when they return an
// error.
typedef struct MotusError {
    MotusStatus status;
    char text[248];
} MotusError;

#ifdef __cplusplus
}
#endif
#endif

// Status codes of every motus function that can fail, and the export macro.
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
    MOTUS_AGAIN = 2, // no output yet: send more input first

    MOTUS_ERR_ARGUMENT = -1,    // an argument is out of its documented range, or NULL
    MOTUS_ERR_MEMORY = -2,      // memory could not be allocated, on the host or on a device
    MOTUS_ERR_UNSUPPORTED = -3, // valid, but not something this build or version can do
    MOTUS_ERR_IO = -4,          // the operating system refused: missing file, full disk, ...
    MOTUS_ERR_FORMAT = -5,      // the input is not what it claims to be
    MOTUS_ERR_TRUNCATED = -6,   // the input ends in the middle of a header or picture
    MOTUS_ERR_STATE = -7,       // call out of order (e.g. a frame after the flush)
    MOTUS_ERR_NO_DEVICE = -8,   // no usable CUDA device
    MOTUS_ERR_CUDA = -9,        // a CUDA call failed; the context keeps CUDA's text
    MOTUS_ERR_INTERNAL = -10,   // a bug: motus reached a bound of its own; please report it
} MotusStatus;

// Returns the enumerator's name, e.g. "MOTUS_ERR_IO"; "MOTUS_ERR_?" for any other number. Static
// storage.
MOTUS_API const char *motus_status_name(MotusStatus status);

// Returns a short English description, e.g. "input/output error". Static storage.
MOTUS_API const char *motus_status_text(MotusStatus status);

// Description of an error for people. Functions that take a MotusError * accept NULL and write it
// only if they fail.
typedef struct MotusError {
    MotusStatus status;
    char text[248]; // one line, without newline: the file or parameter and the cause
} MotusError;

#ifdef __cplusplus
}
#endif
#endif

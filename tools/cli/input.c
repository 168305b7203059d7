// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/input.h"

#include "tools/cli/signals.h"

int motus_input_interrupted(const MotusInput *in) {
    return !in->ignores_signals && motus_signal_caught();
}

MotusStatus motus_input_begin(MotusInput *in, MotusFrame **frame, int64_t *at, MotusError *cause) {
    if (motus_input_interrupted(in) || (in->limit && in->begun >= in->limit)) return MOTUS_END;
    MotusStatus status = motus_reader_begin(in->reader, frame, at, cause);
    in->begun += !status;
    return status;
}

MotusStatus motus_input_end(MotusInput *in, MotusStatus status, const MotusError *cause,
                            MotusError *error) {
    in->read += !status;
    if (status >= 0) return status;
    if (motus_input_interrupted(in)) return MOTUS_END;
    if (status == MOTUS_ERR_TRUNCATED && in->read) {
        in->cut = 1, in->warning = *cause;
        return MOTUS_END;
    }
    if (error) *error = *cause;
    return status;
}

MotusStatus motus_input_next(MotusInput *in, MotusFrame **frame, MotusError *error) {
    MotusError cause = {0};
    int64_t at;
    MotusStatus status = motus_input_begin(in, frame, &at, &cause);
    if (!status && (status = motus_reader_fill(in->reader, *frame, at, &cause)))
        motus_frame_unref(frame);
    return motus_input_end(in, status, &cause, error);
}

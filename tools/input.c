// SPDX-License-Identifier: BSD-2-Clause
#include "tools/input.h"

#include "tools/signals.h"

MotusStatus motus_input_next(MotusInput *in, MotusFrame **frame, MotusError *error) {
    if (motus_signal_caught() || (in->limit && in->read >= in->limit)) return MOTUS_END;
    MotusError cause = {0};
    MotusStatus status = motus_reader_next(in->reader, frame, &cause);
    if (!status) in->read++;
    if (status >= 0) return status;
    if (motus_signal_caught()) return MOTUS_END;
    if (status == MOTUS_ERR_TRUNCATED && in->read) {
        in->cut = 1, in->warning = cause;
        return MOTUS_END;
    }
    if (error) *error = cause;
    return status;
}

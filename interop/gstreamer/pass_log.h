// The file multipass-cache-file: the log of a first pass.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_GSTREAMER_PASS_LOG_H
#define INTEROP_GSTREAMER_PASS_LOG_H

#include <glib.h>

#include "motus/encoder.h"

// Returns the text of a log, which the caller frees, or NULL and *error.
gchar *motus_gst_log_read(const char *path, GError **error);

// Returns FALSE and *error if the log of a first pass could not be written.
gboolean motus_gst_log_may_be_written(const char *path, GError **error);

// Sets size and times in a configuration to those that the log was made with. Leaves them alone if
// the text is no log.
void motus_gst_log_apply(const char *text, MotusEncoderConfig *config);

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "interop/gstreamer/pass_log.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

gchar *motus_gst_log_read(const char *path, GError **error) {
    gchar *text = NULL;
    return g_file_get_contents(path, &text, NULL, error) ? text : NULL;
}

gboolean motus_gst_log_may_be_written(const char *path, GError **error) {
    gchar *folder = g_path_get_dirname(path); // where g_file_set_contents() makes its file
    int cause = !*path ? ENOENT : 0;
    if (!cause && g_file_test(path, G_FILE_TEST_IS_DIR)) cause = EISDIR;
    if (!cause && g_access(folder, W_OK | X_OK)) cause = errno;
    if (cause)
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(cause), "\"%s\": %s", path,
                    g_strerror(cause));
    g_free(folder);
    return !cause;
}

void motus_gst_log_apply(const char *text, MotusEncoderConfig *c) {
    const char *settings = strchr(text, '\n'); // the second line (encoder/settings/stream.c)
    int width, height;
    MotusRational fps, time_base;
    // The library has checked these numbers. NOLINTNEXTLINE(cert-err34-c)
    if (!settings || sscanf(settings + 1, "%dx%d %d/%d time %d/%d", &width, &height, &fps.num,
                            &fps.den, &time_base.num, &time_base.den) != 6)
        return;
    c->width = width, c->height = height;
    c->fps = fps, c->time_base = time_base;
}

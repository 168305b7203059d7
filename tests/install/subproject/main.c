// A part of another project: sees the public headers, and none of the warnings that motus sets for
// itself.
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>

#if __has_include("common/alloc.h")
#error "private headers are visible"
#endif

int shadowed = 1;

int not_declared_before(int shadowed) {
    return shadowed;
} // -Wshadow and -Wmissing-prototypes would stop here

int main(void) {
    MotusFrame *frame = NULL;
    if (motus_frame_alloc(&frame, 64, 48)) return 1;
    motus_frame_unref(&frame);
    return printf("%s\n", motus_version()) < 0 || not_declared_before(0);
}

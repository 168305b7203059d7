// Segments of the stream on rank 0, in stream order: handed out, being coded, complete, written.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_SEGMENTS_H
#define TOOLS_MPI_SEGMENTS_H

#include "motus/encoder.h"
#include "tools/mpi/journal.h"
#include "tools/mpi/link.h"

// Header of a coded picture in messages and journals; `size` bytes follow: the access unit, or the
// picture's log lines in a first pass.
typedef struct MotusPictureHeader {
    int64_t number, pts, dts, duration, size;
    int32_t is_idr, type;
    int32_t searched, reserved; // searched: MVs were read (--mvs-in), but not of this picture
    double mean_qp, ssim;
    MotusPictureStats stats;
} MotusPictureHeader;

MotusPictureHeader motus_picture_header(const MotusPacket *packet, double ssim);

// Returns the packet that the header describes, with its bytes at `data`.
MotusPacket motus_picture_packet(const MotusPictureHeader *header, const uint8_t *data);

// A few consecutive closed GOPs.
typedef struct MotusSegment {
    struct MotusSegment *next;
    int64_t first, gop, gops; // first picture, first GOP, GOPs
    int64_t count;            // pictures; -1: unknown, INT64_MAX: up to the end of the input
    int known;                // count and gops are final
    int at_end;               // the input ends with it
    int done;                 // all pictures have arrived or are in the journal
    int rank;                 // that codes it; -1: the journal has it
    MotusMessage *pictures, *last, *unwritten;
    int64_t arrived, bytes; // pictures and their size
} MotusSegment;

typedef struct MotusSegments {
    MotusSegment *head, *tail;
    int in_progress; // segments with a rank
} MotusSegments;

// Appends a segment. Returns NULL without memory.
MotusSegment *motus_segments_add(MotusSegments *segments, int64_t first, int64_t gop, int rank);

// Returns the segment that begins with picture `first` if `rank` is coding it, else NULL.
MotusSegment *motus_segments_find(const MotusSegments *segments, int rank, int64_t first);

// Appends pictures and takes the message over. Returns 0 if its last picture is incomplete.
int motus_segment_add_pictures(MotusSegment *segment, MotusMessage *pictures);

// Writes a complete segment into the journal.
MotusStatus motus_segment_save(const MotusSegment *segment, MotusJournal *journal,
                               MotusError *error);

void motus_segments_drop_first(MotusSegments *segments);
void motus_segments_close(MotusSegments *segments);

#endif

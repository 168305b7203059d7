// All GOP coders of a stream. Frames go in, in display order; closed GOPs are dealt to the coders;
// packets come out in stream order. Coders are opened as GOPs arrive.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_GOP_CODERS_H
#define ENCODER_GOP_GOP_CODERS_H

#include "encoder/gop/pending.h"
#include "encoder/lookahead/lookahead.h"

typedef struct MotusGopCoders MotusGopCoders;

// Opens the first coder of each device. MOTUS_ERR_MEMORY, _CUDA, _NO_DEVICE, _UNSUPPORTED.
MotusStatus motus_gop_coders_open(MotusGopCoders **out, const MotusStream *stream,
                                  MotusBackend backend, MotusError *error);
void motus_gop_coders_close(MotusGopCoders **out); // drops pending pictures; accepts NULL inside

int motus_gop_coders_count(MotusGopCoders *coders);        // at most; blocks while some are opened
int motus_gop_coders_device(const MotusGopCoders *coders); // the first one; -1: the CPU
size_t motus_gop_coders_bytes(const MotusGopCoders *coders);      // memory of one coder
int motus_gop_coders_store_packets(const MotusGopCoders *coders); // 1: packets can stay on a device

// Queues a picture with its frame, and owns the picture from then on. Blocks while all frame slots
// are taken. The frame is the caller's again on return, or in stream order if it is on a device.
// `look` (NULL: fixed QP) tells the picture's type now, or analyses the picture on the device and
// has its type set later. An error of this frame alone changes nothing; after others every later
// call fails.
MotusStatus motus_gop_coders_send(MotusGopCoders *coders, MotusPendingPicture *picture,
                                  MotusLookahead *look, const MotusFrameSource *source,
                                  MotusError *error);

// True if the source of a picture may be an image on `device`: its frame is read in its slot only.
int motus_gop_coders_take_image(const MotusGopCoders *coders, const MotusLookahead *look,
                                int device);

// Ends the stream, or a segment of it: places the frames that are held.
void motus_gop_coders_end(MotusGopCoders *coders);

// Begins another segment of the stream after the end of one: the next picture is IDR picture number
// `first_gop` of the stream.
void motus_gop_coders_next_segment(MotusGopCoders *coders, int64_t first_gop);

// Tells of a loss before the next frame; returns like motus_mini_gop_reference_lost.
int motus_gop_coders_reference_lost(MotusGopCoders *coders, int64_t number);

// Returns like motus_encoder_receive, and MOTUS_AGAIN if no picture is pending.
MotusStatus motus_gop_coders_receive(MotusGopCoders *coders, MotusPacket **packet, int timeout_ms,
                                     MotusError *error);
int motus_gop_coders_empty(MotusGopCoders *coders); // 1: no picture is pending

// ---- For the planner ----------------------------------------------------------------------------

// True if picture types are set after send(): the lookahead runs on the only device that has
// coders, which can search two pictures at once.
int motus_gop_coders_type_later(const MotusGopCoders *coders, const MotusLookahead *look);

// True if coders have threads. Otherwise send() and the functions below code pictures.
int motus_gop_coders_have_threads(const MotusGopCoders *coders);

// Sets the type of the oldest frame whose type is unknown.
void motus_gop_coders_set_type(MotusGopCoders *coders, int idr);

// Adds `more` (may be negative) to the count of pending lookahead jobs. While it is above 0,
// receive() blocks instead of returning MOTUS_AGAIN.
void motus_gop_coders_expect(MotusGopCoders *coders, int more);

// Returns the plan of the oldest frame without one, to be filled in; NULL: there is none. Plans go
// in display order.
MotusPicturePlan *motus_gop_coders_unplanned(MotusGopCoders *coders);

// Releases that frame for coding, unless a failure of the stream has dropped it meanwhile. Or ends
// the stream before the first picture without a plan, which gets the error.
void motus_gop_coders_planned(MotusGopCoders *coders, const MotusPicturePlan *plan);
void motus_gop_coders_lose(MotusGopCoders *coders, const MotusError *error);

#endif

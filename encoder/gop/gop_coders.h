// The lanes of a stream: closed GOPs are dealt out to them as they have nothing to do, each codes
// its pictures one after another on a thread of its own, and packets come out in the order of the
// frames. Lanes are opened as GOPs arrive, while those that are open work; where one cannot be,
// they go on without it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_GOP_CODERS_H
#define ENCODER_GOP_GOP_CODERS_H

#include "encoder/gop/picture_plan.h"
#include "encoder/settings/stream.h"

typedef struct MotusGopCoders MotusGopCoders;

// What comes with a frame on its way to its packet.
typedef struct MotusOrder {
    MotusPictureParams place;
    int64_t pts, duration;
    void *opaque;
    MotusPicturePlan *planned; // goes with the order
} MotusOrder;

// Opens the first lane on a backend that is not AUTO, on the first of its CUDA devices; `threads`
// of all lanes together (as motus_cpu_threads has it). The stream is only referred to. With words
// in *error: MOTUS_ERR_MEMORY, _CUDA, _NO_DEVICE, _UNSUPPORTED.
MotusStatus motus_gop_coders_open(MotusGopCoders **gop_coders, const MotusStream *stream,
                                  MotusBackend backend, MotusError *error);

// Drops what is under way; accepts NULL inside.
void motus_gop_coders_close(MotusGopCoders **gop_coders);

int motus_gop_coders_count(
    MotusGopCoders *gop_coders); // that there may be; waits for those that are being opened

int motus_gop_coders_device(
    const MotusGopCoders *gop_coders); // the first one; MOTUS_LOOKAHEAD_HOST: they run on the CPU

size_t motus_gop_coders_bytes(const MotusGopCoders *gop_coders); // of one

// Puts a frame on its way: in host memory, or (on_device) made on `made_on` of a CUDA device. Waits
// where there are as many as there may be. The frame is not needed any more when the call returns
// (on a device: in what comes later on made_on). After an error of this frame alone nothing has
// changed, else every later call fails as well. order->planned is taken over in any case; where it
// is not known, the picture waits for motus_gop_coders_planned. look (NULL: *order has the type) is
// asked for the picture's type, and told to forget the picture if the call fails; or the picture
// begins there, and its type, which *order then has not, comes by motus_gop_coders_type.
MotusStatus motus_gop_coders_send(MotusGopCoders *gop_coders, MotusOrder *order,
                                  MotusLookahead *look, const MotusFrame *frame, int on_device,
                                  void *made_on, MotusError *error);

// True if picture types are decided asynchronously: the lookahead runs on the encoder's only GPU,
// which has places for two searches at once.
int motus_gop_coders_type_late(const MotusGopCoders *gop_coders, const MotusLookahead *look);

// Whether lanes have threads of their own; else who sends frames, gives types and plans does their
// work.
int motus_gop_coders_have_threads(const MotusGopCoders *gop_coders);

// The type of the oldest frame that has none. since_idr counts where it is no IDR picture.
void motus_gop_coders_type(MotusGopCoders *gop_coders, int idr, uint32_t since_idr,
                           uint32_t idr_pic_id);

// So many more (or fewer) things are under way that may plan the oldest frame: who waits for its
// packet need not send another first.
void motus_gop_coders_expect(MotusGopCoders *gop_coders, int more);

// The oldest frame without a plan has one now: its `planned` has been filled in. Or it will never
// have one: its packet's place has the error, for good.
MotusPicturePlan *motus_gop_coders_unplanned(MotusGopCoders *gop_coders); // NULL: there is none
void motus_gop_coders_planned(MotusGopCoders *gop_coders);
void motus_gop_coders_lose(MotusGopCoders *gop_coders, const MotusError *error);

// As motus_encoder_receive, with MOTUS_AGAIN where no frame is under way.
MotusStatus motus_gop_coders_receive(MotusGopCoders *gop_coders, MotusPacket **packet,
                                     int timeout_ms, MotusError *error);

int motus_gop_coders_empty(
    MotusGopCoders *gop_coders); // 1: no frame is under way and no packet waits

#endif

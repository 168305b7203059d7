// Decodes with openh264, concealment off.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/decoders.h"

#include <stdbool.h>
#include <string.h>
#include <wels/codec_api.h>

static void listen(void *context, int level, const char *text) {
    if (level == WELS_LOG_ERROR || level == WELS_LOG_WARNING)
        motus_decode_complain(context, "%s", text);
}

static ISVCDecoder *open_decoder(MotusDecodeReport *report) {
    ISVCDecoder *decoder = NULL;
    if (WelsCreateDecoder(&decoder) || !decoder) {
        motus_decode_complain(report, "WelsCreateDecoder failed");
        return NULL;
    }
    int level = WELS_LOG_WARNING;
    WelsTraceCallback callback = listen;
    (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_CALLBACK, (void *)&callback);
    (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_CALLBACK_CONTEXT, (void *)&report);
    (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &level);
    SDecodingParam settings;
    memset(&settings, 0, sizeof settings);
    settings.eEcActiveIdc = ERROR_CON_DISABLE;
    settings.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
    if ((*decoder)->Initialize(decoder, &settings))
        motus_decode_complain(report, "Initialize failed");
    return decoder;
}

static void hand_out(const SBufferInfo *info, unsigned char *const samples[3],
                     MotusDecodedPicture picture, void *context, MotusDecodeReport *report) {
    const SSysMEMBuffer *buffer = &info->UsrData.sSystemBuffer;
    if (buffer->iFormat != videoFormatI420)
        motus_decode_complain(report, "pixel format %d", buffer->iFormat);
    MotusPlane plane[3];
    for (int c = 0; c < 3; c++) {
        plane[c] =
            (MotusPlane){samples[c], buffer->iStride[c > 0], buffer->iWidth, buffer->iHeight};
        if (c)
            plane[c].width = (buffer->iWidth + 1) / 2, plane[c].height = (buffer->iHeight + 1) / 2;
    }
    picture(context, report->pictures++, plane);
}

// Takes the pictures that the decoder keeps: above Baseline it waits for B pictures.
static void flush(ISVCDecoder *decoder, MotusDecodedPicture picture, void *context,
                  MotusDecodeReport *report) {
    SBufferInfo info;
    do {
        unsigned char *samples[3] = {NULL};
        memset(&info, 0, sizeof info);
        (*decoder)->FlushFrame(decoder, samples, &info);
        if (info.iBufferStatus == 1) hand_out(&info, samples, picture, context, report);
    } while (info.iBufferStatus == 1);
}

void motus_decode_openh264(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                           void *context, MotusDecodeReport *report) {
    memset(report, 0, sizeof *report);
    ISVCDecoder *decoder = open_decoder(report);
    while (decoder && size) {
        const size_t unit = motus_access_unit(data, size);
        unsigned char *samples[3] = {NULL};
        SBufferInfo info;
        memset(&info, 0, sizeof info);
        const DECODING_STATE state =
            (*decoder)->DecodeFrameNoDelay(decoder, data, (int)unit, samples, &info);
        if (state != dsErrorFree)
            motus_decode_complain(report, "picture %d: state 0x%x", report->pictures,
                                  (unsigned)state);
        if (info.iBufferStatus == 1) hand_out(&info, samples, picture, context, report);
        data += unit;
        size -= unit;
    }
    if (decoder) {
        flush(decoder, picture, context, report);
        (*decoder)->Uninitialize(decoder);
        WelsDestroyDecoder(decoder);
    }
}

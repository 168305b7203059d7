// SPDX-License-Identifier: BSD-2-Clause
#include "interop/gstreamer/settings.h"

// ---- Names of values ----------------------------------------------------------------------------

static GType pass_type(void) {
    static const GEnumValue values[] = {
        {MOTUS_GST_CBR, "Bitrate (kbit/s on average, VBV by vbv-buf-capacity)", "cbr"},
        {MOTUS_GST_QUANT, "Constant quantizer", "quant"},
        {MOTUS_GST_QUAL, "Constant quality (CRF)", "qual"},
        {MOTUS_GST_PASS1, "First of two passes", "pass1"},
        {MOTUS_GST_PASS2, "Second of two passes", "pass2"},
        {0, NULL, NULL}};
    static gsize type;
    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstMotusH264EncPass", values));
    return type;
}

// x264's names, each the nearest preset there is.
static GType preset_type(void) {
    static const GEnumValue values[] = {{1, "as faster", "ultrafast"},
                                        {2, "as faster", "superfast"},
                                        {3, "as faster", "veryfast"},
                                        {4, "faster", "faster"},
                                        {5, "fast", "fast"},
                                        {6, "medium", "medium"},
                                        {7, "slow", "slow"},
                                        {8, "as slow", "slower"},
                                        {9, "as slow", "veryslow"},
                                        {10, "as slow", "placebo"},
                                        {0, NULL, NULL}};
    static gsize type;
    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstMotusH264EncPreset", values));
    return type;
}

static GType tune_type(void) {
    static const GFlagsValue values[] = {
        {MOTUS_GST_ZEROLATENCY, "No look-ahead: each picture comes out before the next goes in",
         "zerolatency"},
        {0, NULL, NULL}};
    static gsize type;
    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_flags_register_static("GstMotusH264EncTune", values));
    return type;
}

static GType backend_type(void) {
    static const GEnumValue values[] = {
        {MOTUS_BACKEND_AUTO, "CUDA where there is a device, else the CPU", "auto"},
        {MOTUS_BACKEND_CPU, "CPU", "cpu"},
        {MOTUS_BACKEND_CUDA, "CUDA", "cuda"},
        {0, NULL, NULL}};
    static gsize type;
    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstMotusH264EncBackend", values));
    return type;
}

// ---- Properties ---------------------------------------------------------------------------------

// Numbers: properties are numbered from 1 in this order.
typedef enum Kind { KIND_UINT, KIND_BOOLEAN, KIND_ENUM, KIND_FLAGS } Kind;

typedef struct Property {
    const char *name, *nick, *text;
    GType (*type)(void);
    Kind kind;
    guint least, most, standard, offset;
    gboolean rate; // may change while frames go in
} Property;

#define AT(member) (guint) G_STRUCT_OFFSET(MotusGstSettings, member)

static const Property properties[] = {
    {"pass", "Pass", "What decides about quantizers", pass_type, KIND_ENUM, 0, 0, MOTUS_GST_CBR,
     AT(pass), FALSE},
    {"bitrate", "Bitrate", "Bitrate in kbit/s", NULL, KIND_UINT, 1, 2048000, 2048, AT(bitrate),
     TRUE},
    {"quantizer", "Quantizer", "Quantizer of P pictures (pass=quant) or quality (CRF, pass=qual)",
     NULL, KIND_UINT, 0, 51, 21, AT(quantizer), FALSE},
    {"vbv-buf-capacity", "VBV capacity",
     "Size of the decoder's buffer (VBV) in milliseconds at its rate; 0: no VBV", NULL, KIND_UINT,
     0, 10000, 600, AT(vbv_capacity), TRUE},
    {"vbv-maxrate", "VBV rate",
     "Rate at which the VBV is filled in kbit/s, at least the bitrate; 0: the bitrate, and no VBV "
     "with pass=qual",
     NULL, KIND_UINT, 0, 2048000, 0, AT(vbv_maxrate), TRUE},
    {"speed-preset", "Speed preset",
     "How much work goes into decisions: slow, medium, fast or faster", preset_type, KIND_ENUM, 0,
     0, 6, AT(preset), FALSE},
    {"tune", "Tune", "zerolatency: no look-ahead, no picture held back", tune_type, KIND_FLAGS, 0,
     0, 0, AT(tune), FALSE},
    {"key-int-max", "Key picture interval",
     "Most pictures from one IDR picture to the next (0: 250; 2147483647: only the first)", NULL,
     KIND_UINT, 0, G_MAXINT, 0, AT(keyint), FALSE},
    {"rc-lookahead", "Look-ahead",
     "Pictures known beyond the one that is coded: each comes out that many later", NULL, KIND_UINT,
     0, MOTUS_MAX_LOOKAHEAD, 40, AT(lookahead), FALSE},
    {"mb-tree", "Macroblock tree", "Finer quantizers where later pictures look (needs look-ahead)",
     NULL, KIND_BOOLEAN, 0, 0, TRUE, AT(mbtree), FALSE},
    {"qp-min", "Least QP", "Finest quantizer (not with pass=quant)", NULL, KIND_UINT, 0, 51, 0,
     AT(qp_min), FALSE},
    {"qp-max", "Most QP", "Coarsest quantizer (not with pass=quant)", NULL, KIND_UINT, 0, 51, 51,
     AT(qp_max), FALSE},
    {"qp-step", "QP step", "Most QPs from a P picture to the next with a bitrate", NULL, KIND_UINT,
     1, 51, 4, AT(qp_step), FALSE},
    {"aud", "AUD", "Begin each access unit with a delimiter (byte-stream only)", NULL, KIND_BOOLEAN,
     0, 0, TRUE, AT(aud), FALSE},
    {"slices", "Slices", "Slices of a picture, whole rows of macroblocks each", NULL, KIND_UINT, 1,
     1024, 1, AT(slices), FALSE},
    {"slice-max-size", "Slice size",
     "Bytes that no slice's NAL unit passes, 128 or more, for packets; 0: any size. On the CPU",
     NULL, KIND_UINT, 0, G_MAXINT, 0, AT(slice_max_size), FALSE},
    {"threads", "Threads",
     "Threads (0: as many as there are processors); the stream is the same for any number", NULL,
     KIND_UINT, 0, 1024, 0, AT(threads), FALSE},
    {"gop-coders", "GOP coders",
     "GOPs that are coded at the same time (0: as memory allows): faster, with up to so many "
     "key-int-max more of latency, and "
     "the same stream. One where sizes decide about quantizers (pass=cbr, VBV)",
     NULL, KIND_UINT, 0, MOTUS_MAX_GOP_CODERS, 1, AT(gop_coders), FALSE},
    {"backend", "Backend", "Where pictures are coded; the stream is the same", backend_type,
     KIND_ENUM, 0, 0, MOTUS_BACKEND_AUTO, AT(backend), FALSE},
};

enum { IP_FACTOR = G_N_ELEMENTS(properties) + 1, CACHE_FILE };

static GParamSpec *spec_of(const Property *p) {
    const GParamFlags flags =
        (GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS) |
        (p->rate ? (GParamFlags)GST_PARAM_MUTABLE_PLAYING : (GParamFlags)GST_PARAM_MUTABLE_READY);
    switch (p->kind) {
    case KIND_BOOLEAN:
        return g_param_spec_boolean(p->name, p->nick, p->text, (gboolean)p->standard, flags);
    case KIND_ENUM:
        return g_param_spec_enum(p->name, p->nick, p->text, p->type(), (gint)p->standard, flags);
    case KIND_FLAGS:
        return g_param_spec_flags(p->name, p->nick, p->text, p->type(), p->standard, flags);
    default:
        return g_param_spec_uint(p->name, p->nick, p->text, p->least, p->most, p->standard, flags);
    }
}

void motus_gst_settings_install(GObjectClass *class) {
    const GParamFlags flags = (GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS) |
                              (GParamFlags)GST_PARAM_MUTABLE_READY;
    const double ip = motus_encoder_config_default(16, 16, (MotusRational){25, 1}).ip_ratio;
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
        g_object_class_install_property(class, i + 1, spec_of(&properties[i]));
    g_object_class_install_property(
        class, IP_FACTOR,
        g_param_spec_double("ip-factor", "IP factor",
                            "Quantizer steps of P pictures against those of I pictures", 0.1, 10,
                            ip, flags));
    g_object_class_install_property(
        class, CACHE_FILE,
        g_param_spec_string("multipass-cache-file", "Multipass cache file",
                            "What the first pass leaves to the second", "motus.log", flags));
}

static guint *number(const MotusGstSettings *s, guint id) {
    return (guint *)((char *)(gsize)s + properties[id - 1].offset);
}

void motus_gst_settings_init(MotusGstSettings *s) {
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) *number(s, i + 1) = properties[i].standard;
    s->ip_factor = motus_encoder_config_default(16, 16, (MotusRational){25, 1}).ip_ratio;
    s->cache_file = g_strdup("motus.log");
}

void motus_gst_settings_clear(MotusGstSettings *s) { g_clear_pointer(&s->cache_file, g_free); }

gboolean motus_gst_settings_set(MotusGstSettings *s, guint id, const GValue *value,
                                gboolean *rate) {
    *rate = FALSE;
    if (id == IP_FACTOR) {
        s->ip_factor = g_value_get_double(value);
    } else if (id == CACHE_FILE) {
        g_free(s->cache_file);
        s->cache_file = g_value_dup_string(value);
    } else if (id >= 1 && id <= G_N_ELEMENTS(properties)) {
        const Property *p = &properties[id - 1];
        *rate = p->rate;
        *number(s, id) = p->kind == KIND_BOOLEAN ? (guint)g_value_get_boolean(value)
                         : p->kind == KIND_ENUM  ? (guint)g_value_get_enum(value)
                         : p->kind == KIND_FLAGS ? g_value_get_flags(value)
                                                 : g_value_get_uint(value);
    } else {
        return FALSE;
    }
    return TRUE;
}

gboolean motus_gst_settings_get(const MotusGstSettings *s, guint id, GValue *value) {
    if (id == IP_FACTOR) {
        g_value_set_double(value, s->ip_factor);
    } else if (id == CACHE_FILE) {
        g_value_set_string(value, s->cache_file);
    } else if (id >= 1 && id <= G_N_ELEMENTS(properties)) {
        const guint is = *number(s, id);
        switch (properties[id - 1].kind) {
        case KIND_BOOLEAN:
            g_value_set_boolean(value, (gboolean)is);
            break;
        case KIND_ENUM:
            g_value_set_enum(value, (gint)is);
            break;
        case KIND_FLAGS:
            g_value_set_flags(value, is);
            break;
        case KIND_UINT:
            g_value_set_uint(value, is);
            break;
        }
    } else {
        return FALSE;
    }
    return TRUE;
}

// ---- What they mean -----------------------------------------------------------------------------

static MotusPreset preset_of(guint x264) {
    return x264 <= 4   ? MOTUS_PRESET_FASTER
           : x264 == 5 ? MOTUS_PRESET_FAST
           : x264 == 6 ? MOTUS_PRESET_MEDIUM
                       : MOTUS_PRESET_SLOW;
}

static void apply_rate(const MotusGstSettings *s, MotusEncoderConfig *c) {
    c->rate = s->pass == MOTUS_GST_QUANT  ? MOTUS_RATE_QP
              : s->pass == MOTUS_GST_QUAL ? MOTUS_RATE_CRF
                                          : MOTUS_RATE_BITRATE;
    c->pass = s->pass == MOTUS_GST_PASS1 ? 1 : s->pass == MOTUS_GST_PASS2 ? 2 : 0;
    c->qp = (int)s->quantizer;
    c->crf = s->quantizer;
    c->bitrate = c->rate == MOTUS_RATE_BITRATE ? (int64_t)s->bitrate * 1000 : 0;
    const int64_t rate = c->rate == MOTUS_RATE_QP ? 0
                         : s->vbv_maxrate         ? (int64_t)s->vbv_maxrate * 1000
                                                  : c->bitrate;
    c->vbv_bufsize = rate / 1000 * s->vbv_capacity; // bit/s * ms / 1000
    c->vbv_maxrate = c->vbv_bufsize ? rate : 0;
}

void motus_gst_settings_apply(const MotusGstSettings *s, MotusEncoderConfig *c) {
    const gboolean at_once = (s->tune & MOTUS_GST_ZEROLATENCY) != 0;
    apply_rate(s, c);
    c->preset = preset_of(s->preset);
    c->keyint = s->keyint == 0 ? 250 : s->keyint == G_MAXINT ? 0 : (int)s->keyint;
    c->lookahead = at_once ? 0 : (int)s->lookahead;
    c->gop_coders = at_once ? 1 : (int)s->gop_coders;
    c->mb_tree = s->mbtree != 0;
    c->qp_min = (int)s->qp_min;
    c->qp_max = (int)s->qp_max;
    c->qp_step = (int)s->qp_step;
    c->ip_ratio = s->ip_factor;
    c->aud = s->aud != 0;
    c->slices = (int)s->slices;
    c->slice_max_size = (int)s->slice_max_size;
    c->threads = (int)s->threads;
    c->backend = (MotusBackend)s->backend;
    c->stream_only = 1;
}

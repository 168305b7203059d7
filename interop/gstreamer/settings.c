// SPDX-License-Identifier: BSD-2-Clause
#include "interop/gstreamer/settings.h"

// ---- Names of values ----------------------------------------------------------------------------

static GType enum_type(gsize *type, const char *name, const GEnumValue *values) {
    if (g_once_init_enter(type)) g_once_init_leave(type, g_enum_register_static(name, values));
    return *type;
}

static GType pass_type(void) {
    static const GEnumValue values[] = {
        {MOTUS_GST_CBR, "Bitrate (kbit/s on average, VBV by vbv-buf-capacity)", "cbr"},
        {MOTUS_GST_QUANT, "Constant quantizer", "quant"},
        {MOTUS_GST_QUAL, "Constant quality (CRF)", "qual"},
        {MOTUS_GST_PASS1, "First of two passes", "pass1"},
        {MOTUS_GST_PASS2, "Second of two passes", "pass2"},
        {0, NULL, NULL}};
    static gsize type;
    return enum_type(&type, "GstMotusH264EncPass", values);
}

// x264's preset names, by their numbers there.
static const char *const x264_presets[] = {NULL,     "ultrafast", "superfast", "veryfast",
                                           "faster", "fast",      "medium",    "slow",
                                           "slower", "veryslow",  "placebo"};
enum { X264_PRESETS = G_N_ELEMENTS(x264_presets) };

// Returns the preset of that name, or the nearest one.
static MotusPreset preset_of(guint x264) {
    for (int p = 0; p < MOTUS_PRESETS; p++)
        if (!strcmp(motus_preset_name((MotusPreset)p), x264_presets[x264])) return (MotusPreset)p;
    return x264 < 6 ? MOTUS_PRESET_FASTER : MOTUS_PRESET_SLOWER;
}

static GType preset_type(void) {
    static GEnumValue values[X264_PRESETS]; // the last one is the end
    static gsize type;
    if (g_once_init_enter(&type)) {
        for (guint i = 1; i < X264_PRESETS; i++)
            values[i - 1] = (GEnumValue){(gint)i, motus_preset_name(preset_of(i)), x264_presets[i]};
        g_once_init_leave(&type, g_enum_register_static("GstMotusH264EncPreset", values));
    }
    return type;
}

static GType tune_type(void) {
    static const GFlagsValue values[] = {
        {MOTUS_GST_ZEROLATENCY, "No lookahead: each picture comes out before the next goes in",
         "zerolatency"},
        {0, NULL, NULL}};
    static gsize type;
    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_flags_register_static("GstMotusH264EncTune", values));
    return type;
}

static GType backend_type(void) {
    static const GEnumValue values[] = {
        {MOTUS_BACKEND_AUTO, "CUDA if there is a device, else the CPU", "auto"},
        {MOTUS_BACKEND_CPU, "CPU", "cpu"},
        {MOTUS_BACKEND_CUDA, "CUDA", "cuda"},
        {0, NULL, NULL}};
    static gsize type;
    return enum_type(&type, "GstMotusH264EncBackend", values);
}

static GType direct_type(void) {
    static const GEnumValue values[] = {
        {MOTUS_DIRECT_NONE, "None", "none"},
        {MOTUS_DIRECT_SPATIAL, "With the MVs of neighbours", "spatial"},
        {MOTUS_DIRECT_TEMPORAL, "With those of the collocated macroblock", "temporal"},
        {MOTUS_DIRECT_AUTO, "The preset's", "auto"},
        {0, NULL, NULL}};
    static gsize type;
    return enum_type(&type, "GstMotusH264EncDirect", values);
}

// ---- Properties ---------------------------------------------------------------------------------

// Property ids count from 1 in the order of this table.
typedef enum Kind { KIND_UINT, KIND_BOOLEAN, KIND_ENUM, KIND_FLAGS } Kind;

typedef struct Property {
    const char *name, *nick, *text;
    GType (*type)(void);
    Kind kind;
    guint least, most, initial, offset;
    gboolean rate; // may change while playing
} Property;

#define AT(member) (guint) G_STRUCT_OFFSET(MotusGstSettings, member)

static const Property properties[] = {
    {"pass", "Pass", "Rate control", pass_type, KIND_ENUM, 0, 0, MOTUS_GST_CBR, AT(pass), FALSE},
    {"bitrate", "Bitrate", "Bitrate in kbit/s", NULL, KIND_UINT, 1, 2048000, 2048, AT(bitrate),
     TRUE},
    {"quantizer", "Quantizer", "Quantizer of P pictures (pass=quant) or quality (CRF, pass=qual)",
     NULL, KIND_UINT, 0, 51, 21, AT(quantizer), FALSE},
    {"vbv-buf-capacity", "VBV capacity",
     "Size of the decoder's buffer (VBV) in milliseconds at its rate; 0: no VBV", NULL, KIND_UINT,
     0, 10000, 600, AT(vbv_capacity), TRUE},
    {"vbv-maxrate", "VBV rate",
     "Rate that fills the VBV in kbit/s, at least the bitrate; 0: the bitrate, and no VBV with "
     "pass=qual",
     NULL, KIND_UINT, 0, 2048000, 0, AT(vbv_maxrate), TRUE},
    {"speed-preset", "Speed preset",
     "Effort of mode decision: x264's names, each of which stands for the preset beside it",
     preset_type, KIND_ENUM, 0, 0, 6, AT(preset), FALSE},
    {"tune", "Tune", "zerolatency: no lookahead, no B pictures, no picture held back", tune_type,
     KIND_FLAGS, 0, 0, 0, AT(tune), FALSE},
    {"key-int-max", "Key picture interval",
     "Most pictures from one IDR picture to the next (0: 250; 2147483647: only the first)", NULL,
     KIND_UINT, 0, G_MAXINT, 0, AT(keyint), FALSE},
    {"rc-lookahead", "Lookahead", "Pictures known in advance: each comes out that many later", NULL,
     KIND_UINT, 0, MOTUS_MAX_LOOKAHEAD, 40, AT(lookahead), FALSE},
    {"mb-tree", "Macroblock tree",
     "Finer quantizers for macroblocks that later pictures predict from (needs lookahead)", NULL,
     KIND_BOOLEAN, 0, 0, TRUE, AT(mbtree), FALSE},
    {"qp-min", "Least QP", "Finest quantizer (not with pass=quant)", NULL, KIND_UINT, 0, 51, 0,
     AT(qp_min), FALSE},
    {"qp-max", "Most QP", "Coarsest quantizer (not with pass=quant)", NULL, KIND_UINT, 0, 51, 51,
     AT(qp_max), FALSE},
    {"qp-step", "QP step", "Largest QP change between P pictures with a bitrate", NULL, KIND_UINT,
     1, 51, 4, AT(qp_step), FALSE},
    {"bframes", "B pictures",
     "Most B pictures in a row (profiles main and high): each packet comes out up to that many "
     "later",
     NULL, KIND_UINT, 0, MOTUS_MAX_BFRAMES, 0, AT(bframes), FALSE},
    {"b-adapt", "Adaptive B pictures", "Choose how many B pictures are in a row", NULL,
     KIND_BOOLEAN, 0, 0, TRUE, AT(b_adapt), FALSE},
    {"b-pyramid", "B pyramid",
     "Make the middle one of two and more B pictures a reference, on two levels", NULL,
     KIND_BOOLEAN, 0, 0, TRUE, AT(b_pyramid), FALSE},
    {"direct", "Direct prediction", "MVs of direct and skipped blocks of B pictures", direct_type,
     KIND_ENUM, 0, 0, MOTUS_DIRECT_AUTO, AT(direct), FALSE},
    {"ref", "References", "Reference pictures that P pictures may use (0: the preset's)", NULL,
     KIND_UINT, 0, MOTUS_MAX_REFERENCES, 0, AT(references), FALSE},
    {"keep-references", "Kept references",
     "Reference pictures that decoders keep at least, to replace lost ones (not with B pictures)",
     NULL, KIND_UINT, 0, MOTUS_MAX_REFERENCES, 0, AT(keep_references), FALSE},
    {"intra-refresh", "Intra refresh",
     "Rows of intra macroblocks wander over key-int-max pictures, in place of key pictures", NULL,
     KIND_BOOLEAN, 0, 0, FALSE, AT(intra_refresh), FALSE},
    {"weightp", "Weighted P pictures",
     "Weight a P picture's references in fades (not in Baseline, nor with tune zerolatency)", NULL,
     KIND_BOOLEAN, 0, 0, TRUE, AT(weightp), FALSE},
    {"weightb", "Weighted B pictures", "Weight a B picture's references by their distances", NULL,
     KIND_BOOLEAN, 0, 0, FALSE, AT(weightb), FALSE},
    {"aud", "AUD", "Begin each access unit with a delimiter (byte-stream only)", NULL, KIND_BOOLEAN,
     0, 0, TRUE, AT(aud), FALSE},
    {"cabac", "CABAC", "CABAC in the profiles that have it (Main, High), else CAVLC", NULL,
     KIND_BOOLEAN, 0, 0, TRUE, AT(cabac), FALSE},
    {"dct8x8", "8x8 transform", "8x8 transforms in the High profile", NULL, KIND_BOOLEAN, 0, 0,
     TRUE, AT(dct8x8), FALSE},
    {"slices", "Slices", "Slices of a picture, each of whole macroblock rows", NULL, KIND_UINT, 1,
     1024, 1, AT(slices), FALSE},
    {"slice-max-size", "Slice size",
     "Largest NAL unit of a slice in bytes, 128 or more, for packets; 0: no limit. CPU only", NULL,
     KIND_UINT, 0, G_MAXINT, 0, AT(slice_max_size), FALSE},
    {"threads", "Threads", "Threads (0: one per processor); the stream does not depend on them",
     NULL, KIND_UINT, 0, 1024, 0, AT(threads), FALSE},
    {"gop-coders", "GOP coders",
     "GOPs coded in parallel (0: as memory allows): faster, the same stream, with a latency of up "
     "to as many key-int-max. One with pass=cbr or a VBV",
     NULL, KIND_UINT, 0, MOTUS_MAX_GOP_CODERS, 1, AT(gop_coders), FALSE},
    {"backend", "Backend", "CPU or CUDA; the stream is the same", backend_type, KIND_ENUM, 0, 0,
     MOTUS_BACKEND_AUTO, AT(backend), FALSE},
};

enum { IP_FACTOR = G_N_ELEMENTS(properties) + 1, CACHE_FILE };

static GParamSpec *make_spec(const Property *p) {
    const GParamFlags flags =
        (GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS) |
        (p->rate ? (GParamFlags)GST_PARAM_MUTABLE_PLAYING : (GParamFlags)GST_PARAM_MUTABLE_READY);
    switch (p->kind) {
    case KIND_BOOLEAN:
        return g_param_spec_boolean(p->name, p->nick, p->text, (gboolean)p->initial, flags);
    case KIND_ENUM:
        return g_param_spec_enum(p->name, p->nick, p->text, p->type(), (gint)p->initial, flags);
    case KIND_FLAGS:
        return g_param_spec_flags(p->name, p->nick, p->text, p->type(), p->initial, flags);
    default:
        return g_param_spec_uint(p->name, p->nick, p->text, p->least, p->most, p->initial, flags);
    }
}

void motus_gst_settings_install(GObjectClass *class) {
    const GParamFlags flags = (GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS) |
                              (GParamFlags)GST_PARAM_MUTABLE_READY;
    const double ip = motus_encoder_config_default(16, 16, (MotusRational){25, 1}).ip_ratio;
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
        g_object_class_install_property(class, i + 1, make_spec(&properties[i]));
    g_object_class_install_property(
        class, IP_FACTOR,
        g_param_spec_double("ip-factor", "IP factor",
                            "Ratio of the quantizer steps of P and I pictures", 0.1, 10, ip,
                            flags));
    g_object_class_install_property(
        class, CACHE_FILE,
        g_param_spec_string("multipass-cache-file", "Multipass cache file",
                            "Log of the first pass for the second", "motus.log", flags));
}

static guint *number(const MotusGstSettings *s, guint id) {
    return (guint *)((char *)(gsize)s + properties[id - 1].offset);
}

void motus_gst_settings_init(MotusGstSettings *s) {
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) *number(s, i + 1) = properties[i].initial;
    s->ip_factor = motus_encoder_config_default(16, 16, (MotusRational){25, 1}).ip_ratio;
    s->cache_file = g_strdup("motus.log");
}

void motus_gst_settings_clear(MotusGstSettings *s) { g_clear_pointer(&s->cache_file, g_free); }

void motus_gst_settings_copy(MotusGstSettings *to, const MotusGstSettings *from) {
    motus_gst_settings_clear(to);
    *to = *from;
    to->cache_file = g_strdup(from->cache_file ? from->cache_file : "");
}

void motus_gst_settings_copy_rates(MotusGstSettings *to, const MotusGstSettings *from) {
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
        if (properties[i].rate) *number(to, i + 1) = *number(from, i + 1);
}

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
        const guint n = *number(s, id);
        switch (properties[id - 1].kind) {
        case KIND_BOOLEAN:
            g_value_set_boolean(value, (gboolean)n);
            break;
        case KIND_ENUM:
            g_value_set_enum(value, (gint)n);
            break;
        case KIND_FLAGS:
            g_value_set_flags(value, n);
            break;
        case KIND_UINT:
            g_value_set_uint(value, n);
            break;
        }
    } else {
        return FALSE;
    }
    return TRUE;
}

// ---- Configuration ------------------------------------------------------------------------------

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
    const gboolean zerolatency = (s->tune & MOTUS_GST_ZEROLATENCY) != 0;
    apply_rate(s, c);
    c->preset = preset_of(s->preset);
    c->keyint = s->keyint == 0 ? 250 : s->keyint == G_MAXINT ? 0 : (int)s->keyint;
    c->lookahead = zerolatency ? 0 : (int)s->lookahead;
    c->gop_coders = zerolatency ? 1 : (int)s->gop_coders;
    c->bframes = zerolatency ? 0 : (int)s->bframes;
    c->b_adapt = s->b_adapt != 0;
    c->b_pyramid = s->b_pyramid ? MOTUS_B_PYRAMID_NORMAL : MOTUS_B_PYRAMID_NONE;
    c->direct = (MotusDirectMode)s->direct;
    c->references = (int)s->references;
    c->keep_references = (int)s->keep_references;
    c->intra_refresh = s->intra_refresh != 0;
    c->weightp = s->weightp && !zerolatency ? 2 : 0;
    c->weightb = s->weightb != 0;
    c->mb_tree = s->mbtree != 0;
    c->qp_min = (int)s->qp_min;
    c->qp_max = (int)s->qp_max;
    c->qp_step = (int)s->qp_step;
    c->ip_ratio = s->ip_factor;
    c->aud = s->aud != 0;
    c->cabac = s->cabac != 0;
    c->transform_8x8 = s->dct8x8 != 0;
    c->slices = (int)s->slices;
    c->slice_max_size = (int)s->slice_max_size;
    c->threads = (int)s->threads;
    c->backend = (MotusBackend)s->backend;
    c->stream_only = c->no_ssd = 1;
}

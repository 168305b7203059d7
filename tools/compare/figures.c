// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/int_core.h"
#include "tools/cli/options.h"

// Quarter samples, quarter samples, J.
static const int within_edges[MOTUS_WITHIN] = {0, 1, 2, 4, 8};
static const int distance_edges[MOTUS_DISTANCES - 1] = {0, 1, 2, 4, 8, 16, 32, 64};
static const int difference_edges[MOTUS_DIFFERENCES - 1] = {-1024, -256, -64, -16, -1,
                                                            0,     15,   63,  255, 1023};

// Returns the index of the first edge that is not below v, n if all are.
static int bin_of(const int *edges, int n, int v) {
    int i = 0;
    while (i < n && v > edges[i]) i++;
    return i;
}

static void add_values(MotusCostTally *m, const uint32_t value[MOTUS_SIDES]) {
    const uint32_t ours = value[MOTUS_OURS], x264 = value[MOTUS_X264];
    m->less += ours < x264;
    m->same += ours == x264;
    m->more += ours > x264;
    m->ours += ours;
    m->x264 += x264;
    m->gain += ours < x264 ? x264 - ours : 0;
    m->loss += ours > x264 ? ours - x264 : 0;
}

static double error_of(MotusMv mv, MotusMv truth) {
    return hypot(mv.x - truth.x, mv.y - truth.y) / 4;
}

void motus_figures_add(MotusFigures *f, const MotusPair *pair, const MotusMv *truth) {
    if (!pair->has_both) return;
    const MotusMv *mv = pair->mv;
    const int far = motus_max(abs(mv[MOTUS_OURS].x - mv[MOTUS_X264].x),
                              abs(mv[MOTUS_OURS].y - mv[MOTUS_X264].y));
    f->blocks++;
    for (int i = 0; i < MOTUS_WITHIN; i++) f->within[i] += far <= within_edges[i];
    f->distance[bin_of(distance_edges, MOTUS_DISTANCES - 1, far)]++;
    f->difference[bin_of(difference_edges, MOTUS_DIFFERENCES - 1,
                         (int)pair->j[MOTUS_OURS] - (int)pair->j[MOTUS_X264])]++;
    add_values(&f->sad, pair->sad);
    add_values(&f->satd, pair->satd);
    add_values(&f->j, pair->j);
    f->inside += (uint64_t)pair->inside;
    f->worse += pair->inside && pair->j[MOTUS_OURS] > pair->j[MOTUS_X264];
    if (!truth) return;
    f->true_blocks++;
    f->error_ours += error_of(mv[MOTUS_OURS], *truth);
    f->error_x264 += error_of(mv[MOTUS_X264], *truth);
}

static void merge_tally(MotusCostTally *m, const MotusCostTally *more) {
    m->less += more->less, m->same += more->same, m->more += more->more;
    m->ours += more->ours, m->x264 += more->x264;
    m->gain += more->gain, m->loss += more->loss;
}

void motus_figures_merge(MotusFigures *f, const MotusFigures *more) {
    f->blocks += more->blocks;
    for (int i = 0; i < MOTUS_WITHIN; i++) f->within[i] += more->within[i];
    for (int i = 0; i < MOTUS_DISTANCES; i++) f->distance[i] += more->distance[i];
    for (int i = 0; i < MOTUS_DIFFERENCES; i++) f->difference[i] += more->difference[i];
    merge_tally(&f->sad, &more->sad);
    merge_tally(&f->satd, &more->satd);
    merge_tally(&f->j, &more->j);
    f->inside += more->inside, f->worse += more->worse;
    f->true_blocks += more->true_blocks;
    f->error_ours += more->error_ours, f->error_x264 += more->error_x264;
}

// ---- Text ---------------------------------------------------------------------------------------

MotusDigits motus_digits(double value, int decimals) {
    char plain[40];
    MotusDigits digits = {0};
    char *out = digits.text;
    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    const char *in = plain;
    if (*in == '-') *out++ = *in++;
    for (size_t left = strspn(in, "0123456789"); left; left--) {
        *out++ = *in++;
        if (left > 1 && left % 3 == 1) *out++ = ',';
    }
    snprintf(out, sizeof digits.text - (size_t)(out - digits.text), "%s", in);
    return digits;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void add_counts(cJSON *object, const char *name, const uint64_t *count, int n) {
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (int i = 0; i < n; i++) cJSON_AddItemToArray(array, cJSON_CreateNumber((double)count[i]));
}

static void add_histogram(cJSON *object, const char *name, const int *edges, const uint64_t *count,
                          int n) {
    cJSON *histogram = cJSON_AddObjectToObject(object, name);
    cJSON_AddItemToObject(histogram, "edges", cJSON_CreateIntArray(edges, n - 1));
    add_counts(histogram, "counts", count, n);
}

static void add_number(cJSON *object, const char *name, uint64_t value) {
    cJSON_AddNumberToObject(object, name, (double)value);
}

static void add_tally(cJSON *object, const char *name, const MotusCostTally *m) {
    cJSON *measure = cJSON_AddObjectToObject(object, name);
    add_number(measure, "less", m->less);
    add_number(measure, "same", m->same);
    add_number(measure, "more", m->more);
    add_number(measure, "ours", m->ours);
    add_number(measure, "x264", m->x264);
    add_number(measure, "gain", m->gain);
    add_number(measure, "loss", m->loss);
}

cJSON *motus_figures_json(const MotusFigures *f, int has_truth) {
    cJSON *object = cJSON_CreateObject();
    add_number(object, "blocks", f->blocks);
    add_counts(object, "within", f->within, MOTUS_WITHIN);
    add_histogram(object, "distance", distance_edges, f->distance, MOTUS_DISTANCES);
    add_tally(object, "sad", &f->sad);
    add_tally(object, "satd", &f->satd);
    add_tally(object, "j", &f->j);
    add_histogram(object, "difference", difference_edges, f->difference, MOTUS_DIFFERENCES);
    cJSON *window = cJSON_AddObjectToObject(object, "window");
    add_number(window, "inside", f->inside);
    add_number(window, "worse", f->worse);
    if (!has_truth || !f->true_blocks) {
        cJSON_AddNullToObject(object, "epe");
        return object;
    }
    cJSON *epe = cJSON_AddObjectToObject(object, "epe");
    add_number(epe, "blocks", f->true_blocks);
    cJSON_AddNumberToObject(epe, "ours", f->error_ours / (double)f->true_blocks);
    cJSON_AddNumberToObject(epe, "x264", f->error_x264 / (double)f->true_blocks);
    return object;
}

// ---- Distance to the bound ----------------------------------------------------------------------

int motus_bound_picks(int n, int pictures, int wanted) {
    const int64_t last = pictures - 1;
    return n > 0 && n <= last && (n - 1) * (int64_t)wanted / last < n * (int64_t)wanted / last;
}

static void add_side(MotusBoundTally *t, int side, uint32_t j, uint32_t least) {
    t->j[side] += j;
    t->reached[side] += j <= least;
}

void motus_bound_add(MotusBoundFigures *f, const MotusJudge *judge, int n,
                     const MotusMbPairs *pairs) {
    const uint32_t *least = motus_judge_least(judge, n);
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const uint32_t j = motus_judge_cost(judge, n, b);
        MotusBoundTally *t = &f->all[motus_blocks[b].mode];
        if (j == UINT32_MAX) continue;
        t->blocks++;
        t->least += least[b];
        add_side(t, MOTUS_OURS, j, least[b]);
    }
    for (int i = 0; i < pairs->n_x264; i++) {
        const MotusPair *p = &pairs->x264[i];
        MotusBoundTally *t = &f->x264[p->partition.mode];
        if (!p->has_both || !p->inside) continue;
        t->blocks++;
        t->least += least[p->partition.block];
        for (int side = 0; side < MOTUS_SIDES; side++)
            add_side(t, side, p->j[side], least[p->partition.block]);
    }
}

static void merge_bound(MotusBoundTally *t, const MotusBoundTally *more) {
    t->blocks += more->blocks;
    t->least += more->least;
    for (int side = 0; side < MOTUS_SIDES; side++) {
        t->j[side] += more->j[side];
        t->reached[side] += more->reached[side];
    }
}

void motus_bound_merge(MotusBoundFigures *f, const MotusBoundFigures *more) {
    f->pictures += more->pictures;
    for (int m = 0; m < MOTUS_MODES; m++) {
        merge_bound(&f->all[m], &more->all[m]);
        merge_bound(&f->x264[m], &more->x264[m]);
    }
}

MotusBoundTally motus_bound_sum(const MotusBoundTally tally[MOTUS_MODES]) {
    MotusBoundTally sum = {0};
    for (int m = 0; m < MOTUS_MODES; m++) merge_bound(&sum, &tally[m]);
    return sum;
}

double motus_bound_excess(const MotusBoundTally *t, int side) {
    return t->least ? 100 * ((double)t->j[side] / (double)t->least - 1) : 0;
}

static cJSON *tallies_json(const MotusBoundTally tally[MOTUS_MODES], int with_x264) {
    static const char *const side_name[MOTUS_SIDES] = {"x264", "ours"};
    cJSON *array = cJSON_CreateArray();
    for (int m = 0; m < MOTUS_MODES; m++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "size", motus_mode_name((MotusMode)m));
        cJSON_AddNumberToObject(object, "blocks", (double)tally[m].blocks);
        cJSON_AddNumberToObject(object, "least", (double)tally[m].least);
        for (int side = with_x264 ? 0 : MOTUS_OURS; side < MOTUS_SIDES; side++) {
            cJSON *figures = cJSON_AddObjectToObject(object, side_name[side]);
            cJSON_AddNumberToObject(figures, "j", (double)tally[m].j[side]);
            cJSON_AddNumberToObject(figures, "reached", (double)tally[m].reached[side]);
        }
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *motus_bound_json(const MotusBoundFigures *f) {
    if (!f->pictures) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "pictures", f->pictures);
    cJSON_AddItemToObject(object, "all", tallies_json(f->all, 0));
    cJSON_AddItemToObject(object, "x264", tallies_json(f->x264, 1));
    return object;
}

// Random requests: several references, hints, modes and a region per macroblock, any choice of
// results; and their results by the oracle.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_REQUEST_CASE_H
#define TESTS_REQUEST_CASE_H

#include "motus/me_request.h"
#include "tests/me/me_case.h"

enum { REQUEST_TARGETS = 3, REQUEST_RESULTS = 7 };

typedef struct RequestCase {
    MeCase me[REQUEST_TARGETS]; // all: `ref` and hints; the first: config and cur
    MotusMv *skip[REQUEST_TARGETS];
    uint8_t *modes; // NULL: none
    MotusMeRegion region;
    int n_targets, n_mb, mb_width;
    unsigned
        wanted[REQUEST_TARGETS]; // bit i: the i-th result of MotusMeTarget in its order, mv first
    int stats;
} RequestCase;

// The results of a request, in guarded and poisoned memory of exactly their size.
typedef struct RequestResults {
    MotusMeTarget target[REQUEST_TARGETS];
    MotusMbStats *stats;
} RequestResults;

void request_case_random(RequestCase *c, int number);
void request_case_free(RequestCase *c);

// Number of blocks in a result that goes by block: up to the last one of the smallest mode.
size_t request_blocks(uint32_t modes);

// Returns the address of a target's result, which holds NULL if it is not requested, and its bytes.
void **request_result(MotusMeTarget *t, int result);
size_t request_result_bytes(const RequestCase *c, int result);

void request_results_alloc(const RequestCase *c, RequestResults *r);
int request_results_guards_ok(const RequestResults *r);
void request_results_free(RequestResults *r);

// Returns the request; its references are those of the results' targets.
MotusMeRequest request_of(const RequestCase *c, RequestResults *r);

// Compares all results with the oracle, and all that must not be written with the poison.
void request_case_check(const RequestCase *c, const RequestResults *r, const char *who, int number);

#endif

// "Did you mean": the known word that a given one is probably meant for.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_SUGGEST_H
#define TOOLS_CLI_SUGGEST_H

// Returns the number of letters to change, insert, drop or swap with their neighbour.
int motus_word_distance(const char *a, const char *b);

// Returns the nearest of n names, NULL if none is near: a letter in three may differ.
const char *motus_nearest_word(const char *word, const char *const *names, int n);

// Returns our name of an option that x264 or ffmpeg calls otherwise (without dashes), NULL: none.
const char *motus_foreign_option(const char *name);

// Returns why motus encode has no option like this one of x264 or ffmpeg, NULL: not known.
const char *motus_foreign_remark(const char *name);

#endif

#!/usr/bin/env python3
"""Reads the public headers and writes, as C, one call for every function and every bad value of each of its parameters, the others being good.

    generate.py HEADER... > calls.inc

Each call is one CALL(name, what, expression) for arguments_test.c, which has the values (good_*, bad_*) and runs each in a process of its own."""
# SPDX-License-Identifier: BSD-2-Clause
import re
import sys

INT = ["0", "-1", "INT_MIN", "INT_MAX", "99"]
PLANE = ["NULL"] + [f"bad_plane({i})" for i in range(10)]
FRAME = ["NULL"] + [f"bad_frame({i})" for i in range(12)]
ENUM = ["-1", "99", "INT_MAX"]

# Parameter type (without names, "const" kept) -> good value and bad ones.
TYPES = {
    "int": ("1", INT),
    "float": ("2.0f", ["NAN", "INFINITY", "-1.0f", "1e30f", "0.0f"]),
    "size_t": ("good_size", ["0", "1", "SIZE_MAX"]),
    "uint8_t": ("128", ["0", "255"]),
    "uint64_t": ("7u", ["0", "UINT64_MAX"]),
    "int64_t": ("1", ["-1", "INT64_MAX"]),
    "uint32_t": ("1u", ["0", "UINT32_MAX"]),
    "MotusRational": ("((MotusRational){25, 1})", ["((MotusRational){0, 0})", "((MotusRational){-1, 1})", "((MotusRational){INT_MAX, INT_MAX})",
                                                   "((MotusRational){1, 0})"]),
    "const MotusPlane *": ("good_plane", PLANE),
    "MotusPlane *": ("good_out_plane", PLANE),
    "const MotusPlane [3]": ("good_planes", ["NULL", "bad_planes(0)", "bad_planes(1)", "bad_planes(2)"]),
    "MotusPlane [3]": ("good_out_planes", ["NULL", "bad_planes(0)", "bad_planes(1)", "bad_planes(2)"]),
    "const MotusFrame *": ("good_frame", FRAME),
    "MotusFrame *": ("good_out_frame", FRAME),
    "MotusFrame **": ("&any_frame", ["NULL"]),
    "MotusImage *": ("&any_image", ["NULL"]),
    "const MotusImage *": ("good_image", ["NULL"] + [f"bad_image({i})" for i in range(10)]),
    "const MotusColour *": ("good_colour", ["NULL", "bad_colour(0)", "bad_colour(1)"]),
    "const void *const [3]": ("(const void *const *)good_data", ["NULL", "(const void *const *)bad_data"]),
    "const MotusExec *": ("good_exec", ["NULL", "bad_exec(0)", "bad_exec(1)", "bad_exec(2)"]),
    "const MotusEncoderConfig *": ("good_encoder_config", ["NULL"] + [f"bad_encoder_config({i})" for i in range(24)]),
    "const MotusMeConfig *": ("good_me_config", ["NULL"] + [f"bad_me_config({i})" for i in range(12)]),
    "const MotusEqualizeConfig *": ("good_equalize", ["NULL"] + [f"bad_equalize({i})" for i in range(8)]),
    "const MotusKeyConfig *": ("good_key", ["NULL"] + [f"bad_key({i})" for i in range(10)]),
    "const MotusWaveletShape *": ("good_shape", ["NULL"] + [f"bad_shape({i})" for i in range(8)]),
    "MotusWaveletShape *": ("&any_shape", ["NULL"]),
    "const MotusCoefs *": ("good_coefs", ["NULL"] + [f"bad_coefs({i})" for i in range(8)]),
    "MotusCoefs *": ("good_out_coefs", ["NULL"] + [f"bad_coefs({i})" for i in range(8)]),
    "MotusField *": ("good_field", ["NULL"] + [f"bad_field({i})" for i in range(4)]),
    "MotusField **": ("&any_field", ["NULL"]),
    "const MotusMeHints *": ("good_hints", ["NULL"] + [f"bad_hints({i})" for i in range(4)]),
    "const MotusMeJob *": ("good_job", ["NULL"] + [f"bad_job({i})" for i in range(8)]),
    "MotusEncoder *": ("good_encoder", ["NULL"]),
    "const MotusEncoder *": ("good_encoder", ["NULL"]),
    "MotusEncoder **": ("&any_encoder", ["NULL"]),
    "MotusPacket *": ("any_packet", ["NULL"]),
    "MotusPacket **": ("&any_packet", ["NULL"]),
    "const MotusFrameParams *": ("good_params", ["NULL"] + [f"bad_params({i})" for i in range(3)]),
    "MotusMe *": ("good_me", ["NULL"]),
    "const MotusMe *": ("good_me", ["NULL"]),
    "MotusMe **": ("&any_me", ["NULL"]),
    "MotusMeReference *": ("good_reference", ["NULL", "empty_reference"]),
    "const MotusMeReference *": ("good_reference", ["NULL", "empty_reference"]),
    "MotusMeReference **": ("&any_reference", ["NULL"]),
    "const MotusMeCentres *": ("good_predict", ["NULL"] + [f"bad_predict({i})" for i in range(12)]),
    "const MotusMeRequest *": ("good_request", ["NULL"] + [f"bad_request({i})" for i in range(18)]),
    "const MotusMeTarget *": ("NULL", []),
    "MotusMv *": ("NULL", []),
    "MotusMv": ("((MotusMv){5, -3})", ["((MotusMv){INT16_MIN, INT16_MIN})", "((MotusMv){INT16_MAX, INT16_MAX})"]),
    "ptrdiff_t": ("16", ["0", "-1", "3", "PTRDIFF_MIN"]),
    "uint8_t *": ("good_bytes", ["NULL"]),
    "MotusEqualizer *": ("good_equalizer", ["NULL"]),
    "const MotusEqualizer *": ("good_equalizer", ["NULL"]),
    "MotusEqualizer **": ("&any_equalizer", ["NULL"]),
    "MotusRgbEqualizer *": ("good_rgb_equalizer", ["NULL"]),
    "MotusRgbEqualizer **": ("&any_rgb_equalizer", ["NULL"]),
    "MotusCudaEqualizer *": ("NULL", []),
    "MotusCudaEqualizer **": ("&any_cuda_equalizer", ["NULL"]),
    "MotusCudaRgbEqualizer *": ("NULL", []),
    "MotusCudaRgbEqualizer **": ("&any_cuda_rgb_equalizer", ["NULL"]),
    "MotusCudaRing *": ("NULL", []),
    "MotusCudaRing **": ("&any_ring", ["NULL"]),
    "MotusCudaJob *": ("NULL", []),
    "MotusError *": ("&any_error", ["NULL"]),
    "MotusBackend *": ("&any_backend", ["NULL"]),
    "int *": ("&any_int", ["NULL"]),
    "size_t *": ("&any_size", ["NULL"]),
    "float *": ("good_floats", ["NULL"]),
    "const float *": ("good_floats", ["NULL"]),
    "int16_t *": ("good_levels", ["NULL"]),
    "const int16_t *": ("good_levels", ["NULL"]),
    "uint8_t (*)[256]": ("good_curves", ["NULL"]),
    "void *": ("NULL", []),
    "const void *": ("NULL", []),
    "void **": ("&any_pointer", ["NULL"]),
    "const void **": ("&any_const_pointer", ["NULL"]),
    "void (*)(void *)": ("NULL", []),
    "uint8_t *const [3]": ("good_data", ["NULL", "bad_data"]),
    "const ptrdiff_t [3]": ("good_strides", ["NULL", "bad_strides(0)", "bad_strides(1)", "bad_strides(2)"]),
}
ENUMS = {"MotusStatus": "MOTUS_OK", "MotusBackend": "MOTUS_BACKEND_CPU", "MotusDct8Kind": "MOTUS_DCT8_INTEGER",
         "MotusWaveletEdge": "MOTUS_WAVELET_SYMMETRIC", "MotusPreset": "MOTUS_PRESET_MEDIUM",
         "MotusStage": "MOTUS_STAGE_SEARCH", "MotusMemory": "MOTUS_MEMORY_HOST",
         "MotusImageFormat": "MOTUS_IMAGE_RGB24"}
ARRAYS = {"uint8_t": "good_bytes", "uint16_t": "good_table", "uint32_t": "good_counts"}  # by what they hold
# Values that a name asks for, where "any good int" is not good enough.
BY_NAME = {"width": "64", "height": "48", "quality": "50", "levels": "2", "slots": "3", "tiles": "1", "matrix_709": "0", "full_range": "0"}
BY_FUNCTION = {("motus_me_reference_block", "width"): "8", ("motus_me_reference_block", "height"): "8"}


def split(text):
    """Parameters, split at commas outside of parentheses."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append(text[at:i])
            at = i + 1
    return [p.strip() for p in parts + [text[at:]]]


def parse(parameter):
    """Type and name."""
    if m := re.fullmatch(r"void \(\*(\w+)\)\(void \*\w*\)", parameter):
        return "void (*)(void *)", m[1]
    if m := re.fullmatch(r"uint8_t \(\*(\w+)\)\[256\]", parameter):
        return "uint8_t (*)[256]", m[1]
    if m := re.fullmatch(r"(.*?)(\w+)\[(\d+)\]", parameter):
        return f"{m[1].strip()} [{m[3]}]", m[2]
    m = re.fullmatch(r"(.*?)(\w+)", parameter)
    return m[1].strip(), m[2]


def values(function, kind, name):
    if kind in TYPES:
        good, bad = TYPES[kind]
        if kind == "int":
            good = BY_FUNCTION.get((function, name), BY_NAME.get(name, good))
        if name == "shape" and "Shape" not in kind:
            raise SystemExit(f"{kind} {name}")
        return good, bad
    if kind in ENUMS:
        return ENUMS[kind], [f"(({kind}){v})" for v in ENUM]
    if m := re.fullmatch(r"(?:const )?(\w+) \[\d+\]", kind):
        good = ARRAYS[m[1]]
        return good, ["NULL"] + (["zero_table"] if m[1] == "uint16_t" and kind.startswith("const") else [])
    raise SystemExit(f"no values for a parameter of type '{kind}' ({name}): add them to generate.py and arguments_test.c")


def functions(text):
    """Return type, name, parameters and the comment before it."""
    comment = end = ""
    for m in re.finditer(r"((?:^ *//[^\n]*\n)*)^MOTUS_API (?!extern)([^;]*?)(\w+)\(([^;]*)\)(\)\[256\])?;", text, re.M):
        flat = " ".join(m[4].split())
        if m[1] or text[end or 0:m.start()].strip(" ") not in ("", "\n"):  # a comment holds for all functions that follow it without a gap
            comment = " ".join(m[1].split())
        end = m.end()
        yield m[2].strip(), m[3], [] if flat == "void" else [parse(p) for p in split(flat)], comment


def calls(name, parameters, comment):
    never_null = "must not be NULL" in comment.replace(" // ", " ")
    chosen = [values(name, kind, parameter) for kind, parameter in parameters]
    good = [g for g, _ in chosen]
    yield "good", good
    for i, (_, bad) in enumerate(chosen):
        for value in bad:
            if value != "NULL" or not never_null:
                yield f"{parameters[i][1]} = {value}", good[:i] + [value] + good[i + 1:]
    if not never_null and sum("NULL" in bad for _, bad in chosen) > 1:
        yield "all NULL", ["NULL" if "NULL" in bad else g for g, bad in chosen]


def main():
    print("// Made by generate.py from the public headers.")
    for header in sys.argv[1:]:
        with open(header, encoding="utf-8") as file:
            text = file.read()
        declared = len(re.findall(r"^MOTUS_API (?!extern)", text, re.M))
        found = list(functions(text))
        if len(found) != declared:
            raise SystemExit(f"{header}: {declared} functions, {len(found)} understood: {[f[1] for f in found]}")
        for result, name, parameters, comment in found:
            status = 1 if result == "MotusStatus" else 0
            for what, arguments in calls(name, parameters, comment):
                expression = f"{name}({', '.join(arguments)})"
                text = what.replace('"', "'")
                print(f'CALL("{name}", "{text}", {status}, {"(int)" + expression if status else "((void)" + expression + ", 0)"})')


if __name__ == "__main__":
    main()

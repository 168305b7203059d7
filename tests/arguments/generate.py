#!/usr/bin/env python3
"""Writes C calls of every public function with bad arguments: generate.py VALUES HEADER...

For each function that the headers declare, each bad value of each parameter makes one call; the
other parameters are good. Bad structures come from VALUES (values.txt), the rest is below.
arguments_test.c includes the output and runs each call in a process of its own."""
# SPDX-License-Identifier: BSD-2-Clause
import re
import sys

SCALARS = {  # type: good value, bad values
    "int": ("1", "-1 INT_MIN INT_MAX 0 101"),
    "float": ("2.0f", "NAN INFINITY -1.0f 1e30f 0.0f"),
    "size_t": ("64", "0 1 SIZE_MAX"),
    "uint8_t": ("128", "0 255"),
    "uint64_t": ("7u", "0 UINT64_MAX"),
    "int64_t": ("1", "-1 INT64_MAX"),
    "ptrdiff_t": ("16", "0 -1 3 PTRDIFF_MIN"),
    "MotusRational": (
        "(MotusRational){25,1}",
        "(MotusRational){0,0} (MotusRational){-1,1} "
        "(MotusRational){INT_MAX,INT_MAX} (MotusRational){1,0}",
    ),
    "MotusMv": ("(MotusMv){5,-3}", "(MotusMv){INT16_MIN,INT16_MIN} (MotusMv){INT16_MAX,INT16_MAX}"),
    "MotusStatus": ("MOTUS_OK", ""),
    "MotusBackend": ("MOTUS_BACKEND_CPU", ""),
    "MotusDct8Kind": ("MOTUS_DCT8_INTEGER", ""),
    "MotusWaveletEdge": ("MOTUS_WAVELET_SYMMETRIC", ""),
    "MotusPreset": ("MOTUS_PRESET_MEDIUM", ""),
    "MotusProfile": ("MOTUS_PROFILE_HIGH", ""),
    "MotusStage": ("MOTUS_STAGE_SEARCH", ""),
    "MotusMemory": ("MOTUS_MEMORY_HOST", ""),
    "MotusImageFormat": ("MOTUS_IMAGE_RGB24", ""),
}
ENUM = "-1 99 INT_MAX"
INTS = {  # good values by a parameter's name, or by function and name
    "width": "64",
    "height": "48",
    "quality": "50",
    "levels": "2",
    "slots": "3",
    "matrix_709": "0",
    "full_range": "0",
    "motus_me_reference_block width": "8",
    "motus_me_reference_block height": "8",
}
BOUNDED = {"width": 4, "height": 4, "quality": 5, "levels": 3, "slots": 3}  # bad ones of the five
POINTERS = {  # good values; without one, a new object for the result
    "const MotusPlane *": "good_plane",
    "MotusPlane *": "good_out_plane",
    "const MotusPlane [3]": "good_planes",
    "MotusPlane [3]": "good_out_planes",
    "const MotusFrame *": "good_frame",
    "MotusFrame *": "good_out_frame",
    "const MotusImage *": "&image",
    "const MotusColour *": "&colour",
    "const MotusExec *": "&good_exec",
    "const MotusEncoderConfig *": "&encoder_config",
    "const MotusFrameParams *": "&params",
    "const MotusMeConfig *": "&me_config",
    "const MotusMeHints *": "&hints",
    "const MotusMeCentres *": "&centres",
    "const MotusMeRequest *": "&request",
    "MotusField *": "good_field",
    "const MotusEqualizeConfig *": "&equalize_config",
    "const MotusKeyConfig *": "&key_config",
    "const MotusWaveletShape *": "&shape",
    "const MotusCoefs *": "&coefs",
    "MotusCoefs *": "&out_coefs",
    "const void *const [3]": "(const void *const *)good_data",
    "uint8_t *const [3]": "good_data",
    "const ptrdiff_t [3]": "good_strides",
    "MotusEncoder *": "good_encoder",
    "const MotusEncoder *": "good_encoder",
    "MotusMe *": "good_me",
    "const MotusMe *": "good_me",
    "MotusMeReference *": "good_reference",
    "const MotusMeReference *": "good_reference",
    "MotusEqualizer *": "good_equalizer",
    "const MotusEqualizer *": "good_equalizer",
    "MotusRgbEqualizer *": "good_rgb_equalizer",
    "MotusCudaEqualizer *": "good_cuda_equalizer",
    "MotusCudaRgbEqualizer *": "good_cuda_rgb_equalizer",
    "MotusError *": "&any_error",
    "float *": "good_floats",
    "const float *": "good_floats",
    "int16_t *": "good_levels",
    "const int16_t *": "good_levels",
    "uint8_t *": "good_bytes",
    "uint8_t (*)[256]": "good_curves",
    "uint8_t [256]": "good_bytes",
    "const uint8_t [256]": "good_bytes",
    "uint16_t [64]": "good_table",
    "const uint16_t [64]": "good_table",
    "uint32_t [256]": "good_counts",
    "const uint32_t [256]": "good_counts",
}
NULLS = {  # NULL is good: what they point to is on a GPU, or NULL has a meaning
    *("void *", "const void *", "void (*)(void *)", "const MotusMeTarget *", "MotusMv *"),
    *("MotusCudaRing *", "MotusCudaJob *", "MotusPacket *"),
}
MORE = {  # bad pointers besides NULL
    "MotusMeReference *": ["empty_reference"],
    "const MotusMeReference *": ["empty_reference"],
    "const void *const [3]": ["(const void *const *)bad_data"],
    "uint8_t *const [3]": ["bad_data"],
    "const ptrdiff_t [3]": [f"(const ptrdiff_t[]){{{v}, {v}, {v}}}" for v in (0, -64, 1)],
    "const uint16_t [64]": ["zero_table"],
}
# Parameters that may be NULL, of any function or of one.
OPTIONAL = {"error", "exec", "hints", "stream", "params", "release", "opaque", "frame", "image"}


def read_values(path):
    """Returns {type: (prologue, changes)}; a change: C text, the status wanted, the error's
    text."""
    found = {}
    change = r'    (.*?)(?: -> (\w+(?: if \w+)?))?(?:(?<=[^=({,"]) "([^"]*)")?\n'
    with open(path, encoding="utf-8") as text:
        for line in text:
            if m := re.fullmatch(r"(\w+(?:\[3\])?):(.*)\n", line):
                changes = []
                found[m[1].replace("[", " [")] = m[2].strip(), changes
            elif m := re.fullmatch(change, line):
                changes.append((m[1], m[2] or "ARGUMENT", m[3] or ""))
            elif line.strip() and line[0] != "#":
                raise SystemExit(f"{path}: {line}")
    return found


def function_of(kind):
    return "bad_" + re.sub(r"\W", "", kind)


def print_values(structures):
    """Writes a C function for each structure: a copy of `good` with change n."""
    for kind, (prologue, changes) in structures.items():
        element, array = (kind[:-4], "[3]") if kind.endswith("[3]") else (kind, "")
        print(f"static {element} *{function_of(kind)}(const {element} *good, int n) {{")
        print(f"    static {element} v{array};")
        print(f"    memcpy({'' if array else '&'}v, good, sizeof v);")
        print(f"    {prologue or '(void)0'};\n    switch (n) {{")
        for n, (change, _, _) in enumerate(changes):
            print(f"    case {n}:\n        {change};\n        break;")
        print(f"    }}\n    return {'' if array else '&'}v;\n}}\n")


def split(text):
    """Splits parameters at commas outside of parentheses."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append(text[at:i])
            at = i + 1
    return [p.strip() for p in parts + [text[at:]]]


def parse(parameter):
    """Returns a parameter's type and name."""
    if m := re.fullmatch(r"void \(\*(\w+)\)\(void \*\w*\)", parameter):
        return "void (*)(void *)", m[1]
    if m := re.fullmatch(r"uint8_t \(\*(\w+)\)\[256\]", parameter):
        return "uint8_t (*)[256]", m[1]
    if m := re.fullmatch(r"(.*?)(\w+)\[(\d+)\]", parameter):
        return f"{m[1].strip()} [{m[3]}]", m[2]
    m = re.fullmatch(r"(.*?)(\w+)", parameter)
    return m[1].strip(), m[2]


def values(structures, function, kind, name):
    """Returns the good value, and bad ones: (C text, description, status wanted, error's text)."""
    if kind in SCALARS:
        good, bad = SCALARS[kind]
        if kind == "int":
            good = INTS.get(f"{function} {name}", INTS.get(name, good))
        bad = bad.split() or [f"({kind}){v}" for v in ENUM.split()]
        sure = BOUNDED.get(name, 0) if kind == "int" else 0
        sure = len(bad) if kind.startswith("Motus") and not SCALARS[kind][1] else sure
        return good, [(v, v, "ARGUMENT" if i < sure else "any", "") for i, v in enumerate(bad)]
    optional = name in OPTIONAL or f"{function} {name}" in OPTIONAL or kind in NULLS
    bad = [("NULL", "NULL", "any" if optional else "refused", "")]
    want = "ARGUMENT" if name == "table" else "any"
    bad += [(v, v, want, "") for v in MORE.get(kind, [])]
    if kind in NULLS:
        return "NULL", []
    good = POINTERS.get(kind)
    if "rgb24" in function and kind.endswith("MotusPlane *"):
        good = "good_rgb"
    structure = re.sub(r"^const | \*$", "", kind)
    if good and structure in structures:
        changes = structures[structure][1]
        bad += [(f"{function_of(structure)}({good}, {n})", *c) for n, c in enumerate(changes)]
    elif not good and re.fullmatch(r"\w.* \**\*", kind) and not kind.startswith("const Motus"):
        good = f"&({kind[:-1].strip()}){{0}}"  # the result
    if not good:
        raise SystemExit(f"{function}: no values for a parameter of type '{kind}' ({name})")
    return good, bad


def functions(text):
    """Yields return type, name, parameters and the comment before a function."""
    comment = end = ""
    declaration = r"((?:^ *//[^\n]*\n)*)^MOTUS_API (?!extern)([^;]*?)(\w+)\(([^;]*)\)(\)\[256\])?;"
    for m in re.finditer(declaration, text, re.M):
        flat = " ".join(m[4].split())
        # A comment holds for all functions that follow it without a gap.
        if m[1] or text[end or 0 : m.start()].strip(" ") not in ("", "\n"):
            comment = " ".join(m[1].split())
        end = m.end()
        yield m[2].strip(), m[3], [] if flat == "void" else [parse(p) for p in split(flat)], comment


def calls(structures, name, parameters, comment):
    never_null = "must not be NULL" in comment.replace(" // ", " ")
    chosen = [values(structures, name, kind, parameter) for kind, parameter in parameters]
    good = [g for g, _ in chosen]
    yield "good", good, "any", ""
    for i, (_, bad) in enumerate(chosen):
        for value, what, want, text in bad:
            if value != "NULL" or not never_null:
                arguments = good[:i] + [value] + good[i + 1 :]
                yield f"{parameters[i][1]}: {what}", arguments, want, text
    nulls = [bool(bad) and bad[0][0] == "NULL" for _, bad in chosen]
    if not never_null and sum(nulls) > 1:
        yield "all NULL", ["NULL" if null else g for null, g in zip(nulls, good)], "any", ""


def main():
    structures = read_values(sys.argv[1])
    print("// Made by generate.py.\n#ifndef CALL")
    print_values(structures)
    print("#else")
    for header in sys.argv[2:]:
        with open(header, encoding="utf-8") as file:
            text = file.read()
        declared = len(re.findall(r"^MOTUS_API (?!extern)", text, re.M))
        found = list(functions(text))
        if len(found) != declared:
            understood = [name for _, name, _, _ in found]
            raise SystemExit(f"{header}: {declared} functions, understood are {understood}")
        for result, name, parameters, comment in found:
            for what, arguments, want, text in calls(structures, name, parameters, comment):
                expression = f"{name}({', '.join(arguments)})"
                want, _, taker = want.partition(" if ")
                if taker and taker not in name:
                    want = "ARGUMENT"
                if want == "cuda" and "_cuda_" not in name:
                    continue
                if result != "MotusStatus":
                    expression, want = f"((void){expression}, 0)", "any"
                elif re.search("_cuda_|_device$", name):
                    want = "any" if want == "any" else "refused"  # NO_DEVICE may come first
                text = "NULL" if want in ("any", "refused") or not text else f'"{text}"'
                what = what.replace("\\", "\\\\").replace('"', '\\"')
                encoder = int(bool(re.search(r"good_encoder\b|good_cuda", expression)))
                want = {"any": "ANY", "refused": "REFUSED"}.get(want, "MOTUS_ERR_" + want)
                print(f'CALL("{name}", "{what}", {want}, {text}, {encoder}, {expression})')
    print("#endif")


if __name__ == "__main__":
    main()

"""Compiles traversals.cpp once for each back end and counts the instructions of its functions, which must be the same.

    python3 compare.py traversals.cpp COMPILER [FLAG...]      the back ends of C++20 are compared; with -freflection,
                                                              std::meta too
"""

import re
import subprocess
import sys

FUNCTIONS = ("visit", "update", "map", "reduce", "flatten")


def instructions(assembly):
    """How many instructions each function has; those that the compiler put beside them count under `others`."""
    counts = dict.fromkeys((*FUNCTIONS, "others"), 0)
    function = None
    for line in assembly.splitlines():
        if begin := re.match(r"([A-Za-z_][\w.$]*):", line):
            function = begin[1].removesuffix(".cold")
        elif re.match(r"\t\.(section|data|bss|rodata)", line):
            function = None if ".text" not in line else function
        elif function and re.match(r"\t[a-z]", line):
            counts[function if function in FUNCTIONS else "others"] += 1
    return counts


def main(source, *command):
    back_ends = {"aggregate": ["-DESPALIER_HAS_STD_META=0"], "hana": ["-DBACK_END_hana"], "describe": ["-DBACK_END_describe"]}
    if "-freflection" in command:
        back_ends["meta"] = []
    counts = {}
    for name, flags in back_ends.items():
        flags = [*flags, "-O2", "-fno-asynchronous-unwind-tables", "-S", "-o", "-"]
        counts[name] = instructions(subprocess.run([*command, *flags, source], check=True, stdout=subprocess.PIPE, text=True).stdout)
    print("instructions", *counts, sep="\t")
    differing = []
    for function in (*FUNCTIONS, "others"):
        row = [each[function] for each in counts.values()]
        print(function, *row, sep="\t")
        if len(set(row)) > 1 or (function != "others" and row[0] == 0):
            differing.append(function)
    if differing:
        sys.exit(f"the object code differs between back ends, or is not there, in: {', '.join(differing)}")


main(*sys.argv[1:])

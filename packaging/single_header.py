#!/usr/bin/env python3
"""Writes one header with all of Espalier but its engines, for Compiler Explorer and the like.

  single_header.py OUT

Each of Espalier's headers stands in it once, in an order in which it compiles. What they include of the standard
library and of Boost is included at the top; where an #if guards an include, it stays where it was. Boost's headers have
to be there (in Compiler Explorer: Libraries, Boost).
"""

import argparse
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ["any_treedef.hpp", "compile.hpp", "espalier.hpp", "treedef_json.hpp"]
FOLDERS = [ROOT / "include", ROOT / "reflect/include"]
INCLUDE = re.compile(r"\s*#\s*include\s*([<\"][^>\"]+[>\"])")
CONDITION = re.compile(r"\s*#\s*(if|endif)")


def find(name):
    return next(path for folder in FOLDERS if (path := folder / name).exists())


class SingleHeader:
    def __init__(self):
        self.outside = set()  # what is included of others, under no condition
        self.whole = set()  # headers of our own that stand in the text, under no condition
        self.guarded = set()  # headers of our own that stand there under an #if

    def lines(self, name, conditional=False):
        """What the header includes of our own, then the header, unless it is there already.

        Under an #if a header may be left out, and whoever includes it elsewhere needs it again: then both have a guard.
        """
        if name in self.whole:
            return []
        (self.guarded if conditional else self.whole).add(name)
        before, own, depth = [], [], 0
        for line in find(name).read_text().splitlines():
            if condition := CONDITION.match(line):
                depth += 1 if condition[1] == "if" else -1
            include = INCLUDE.match(line)
            if include and include[1].startswith("<espalier/"):
                if depth == 0:
                    before += self.lines(include[1][1:-1], conditional)
                else:
                    own += self.lines(include[1][1:-1], True)
            elif include and not conditional and depth == 0:
                self.outside.add(include[1])
            elif line != "#pragma once" and (line or (own and own[-1])):
                own.append(line)
        if name in self.guarded:
            guard = "ESPALIER_SINGLE_" + re.sub(r"\W", "_", name.removeprefix("espalier/")).upper()
            own = [f"#ifndef {guard}", f"#define {guard}", *own, "#endif"]
        return [*before, "", f"// ==== {name} ====", *own]


def commit():
    def git(*words):
        command = ["git", "-C", str(ROOT), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", *map(str, FOLDERS))
        return f"commit {git('rev-parse', 'HEAD')}" + (", changed since" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "sources outside a git checkout"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()

    single = SingleHeader()
    text = [line for header in HEADERS for line in single.lines(f"espalier/{header}")]
    version = re.search(r"\n  VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    head = [
        f"// Espalier {version}, all of it but its engines, in one header. Made by packaging/single_header.py from",
        f"// {commit()}: change that, not this file.",
        "// SPDX-License-Identifier: BSL-1.0",
        "#pragma once",
        "",
        *(f"#include {name}" for name in sorted(single.outside)),
    ]
    options.out.write_text("\n".join(head + text) + "\n")


if __name__ == "__main__":
    main()

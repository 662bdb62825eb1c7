#!/usr/bin/env python3
"""What Espalier costs to compile, in seconds and in memory: per struct, per field, per operation, and per include; and
what Boost.PFR, Hana and Describe cost that do the nearest thing to the same structs.

  build_time.py --compiler g++ --isystem boost/include -I include -I reflect/include

`names` is a tree_map_with_path whose function uses the names, and of the peers a loop over the fields with names that
assigns each; `visit` is a loop that reads each. A peer's recursion into structs is written by hand. Programs are
compiled in turn, `--runs` times each (those of 500 structs once): the time is the compiler's own (user and system), of
which the median counts. What a struct costs is the time of the file less that of its includes alone.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import shapes

INCLUDES = ["espalier/visit.hpp", "espalier/map.hpp", "espalier/espalier.hpp", "boost/pfr.hpp"]


def compile_cost(command):
    """Seconds of the processor, and MB of the largest process."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"build_time: the compiler failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compiler_options(parser):
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    parser.add_argument("--isystem", default="", metavar="DIR:DIR",
                        help="where others' headers are, if not where the compiler looks")
    parser.add_argument("--flags", default="-std=c++20", help="as \"-std=c++26 -freflection\"")
    parser.add_argument("--runs", type=int, default=3)


def compiler_command(options):
    command = [options.compiler, *options.flags.split(), "-w", *(f"-I{folder}" for folder in options.include)]
    return command + [word for folder in options.isystem.split(":") if folder for word in ("-isystem", folder)]


def programs():
    """(group, case, who) and the text of each program."""
    yield ("include", "", "nothing"), "int main() {}\n"
    for header in INCLUDES:
        yield ("include", "", header), shapes.includes([header]) + "int main() {}\n"
    for library, about in shapes.LIBRARIES.items():
        yield ("base", "", library), shapes.program(about["includes"])
        for case, shape in shapes.SHAPES.items():
            for operation in ("names", "visit") if case == "50x8" else ("names",):
                if text := shapes.peer_program(library, operation, shape):
                    yield (operation, case, library), text
    for operation in shapes.OPERATIONS:
        yield ("base", "", operation), shapes.operation_program(operation, ([], []))
        yield ("operation", "50x8", operation), shapes.operation_program(operation, shapes.SHAPES["50x8"])


def measure(options):
    """Of each program the medians of seconds and MB."""
    costs = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        commands = {}
        for number, (key, text) in enumerate(programs()):
            if options.only and options.only not in "/".join(key) and key[0] != "base":
                continue
            file = folder / f"build_time_{number}.cpp"
            file.write_text(text)
            commands[key] = [*compiler_command(options), "-O0", "-c", str(file), "-o", str(file.with_suffix(".o"))]
        for command in list(commands.values())[:3]:  # warms the file cache
            compile_cost(command)
        for run in range(options.runs):
            for key, command in commands.items():
                if run == 0 or key[1] != "500x8":
                    costs.setdefault(key, []).append(compile_cost(command))
    return {key: tuple(map(statistics.median, zip(*pairs))) for key, pairs in costs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    compiler_options(parser)
    parser.add_argument("--only", metavar="WORDS", help="only programs whose GROUP/CASE/WHO holds this: names/50x8")
    parser.add_argument("--keep", metavar="DIR", help="write the generated files here and keep them")
    options = parser.parse_args()
    costs = measure(options)
    headlines = []

    print(f"\nTime to compile at -O0 with {options.compiler} {options.flags}, median of {options.runs}: whole, and "
          f"less the includes':\n  {'':36}{'whole':>9}{'less':>9}{'a struct':>11}{'a field':>11}{'memory':>9}")
    for (group, case, who), (seconds, megabytes) in costs.items():
        if case == "":
            continue
        structs = shapes.SHAPES[case][0]
        fields = sum(len(members) for _, members in structs)
        less = seconds - costs["base", "", who][0]
        name = who if group == "operation" else f"{who}, {case} {group}"
        print(f"  {name:36}{seconds:7.2f} s{less:7.2f} s{1e3 * less / len(structs):8.1f} ms"
              f"{1e3 * less / fields:8.2f} ms{megabytes:6.0f} MB")
        if who in shapes.LIBRARIES and who != "espalier" and (ours := costs.get((group, case, "espalier"))):
            own = ours[0] - costs["base", "", "espalier"][0]
            line = f"build_time/{case}_{group}/{who}"
            headlines += [f"{line} ratio {own / less:.2f}", f"{line}_whole_file ratio {ours[0] / seconds:.2f}",
                          f"{line}_memory ratio {ours[1] / megabytes:.2f}"]

    print("\nTime to include, and memory:")
    for (group, _, who), (seconds, megabytes) in costs.items():
        if group == "include":
            print(f"  {who:36}{seconds:7.2f} s{megabytes:6.0f} MB")
            if who.startswith("espalier"):
                headlines.append(f"build_time/include/{who} seconds {seconds:.2f}")
    print("\n" + "\n".join(headlines))


if __name__ == "__main__":
    main()

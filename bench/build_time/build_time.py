#!/usr/bin/env python3
"""How long a file takes to compile that maps over 50 structs of 8 fields with key paths, against the same structs
visited through Boost.PFR with names.

  build_time.py --compiler g++ --isystem boost/include -I include -I reflect/include

Both files hold the same structs and call the same kind of function with each field and what it is called. Each is
compiled several times in turn; the time is the compiler's own (user and system), of which the median counts.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

WORDS = ["weight", "bias", "scale", "shift", "mean", "rate", "count", "step"]
TYPES = ["double", "double", "float", "double", "float", "double", "int", "int"]

ESPALIER = """#include <cstdio>
#include <espalier/map.hpp>

{structs}
int main() {{
{calls}}}
"""
ESPALIER_CALL = """  {{
    {name} value{{}};
    value = espalier::tree_map_with_path(
        [](const auto& path, auto field) {{
          std::printf("%.*s\\n", static_cast<int>(path.back().name.size()), path.back().name.data());
          return field;
        }},
        value);
  }}
"""

PFR = """#include <boost/pfr.hpp>
#include <cstdio>
#include <string_view>

{structs}
int main() {{
{calls}}}
"""
PFR_CALL = """  {{
    {name} value{{}};
    boost::pfr::for_each_field_with_name(value, [](std::string_view name, auto& field) {{
      std::printf("%.*s\\n", static_cast<int>(name.size()), name.data());
      field = std::remove_reference_t<decltype(field)>(field);
    }});
  }}
"""


def source(template, call, structs, fields):
    names = [f"layer_{i}" for i in range(structs)]
    text = ""
    for i, name in enumerate(names):
        members = "".join(f"  {TYPES[j % 8]} {WORDS[j % 8]}_{i}_{j};\n" for j in range(fields))
        text += f"struct {name} {{\n{members}}};\n"
    return template.format(structs=text, calls="".join(call.format(name=name) for name in names))


def compile_seconds(command):
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"build_time: the compiler failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    parser.add_argument("--isystem", default="", metavar="DIR:DIR", help="where Boost's headers are, if not where the compiler looks")
    parser.add_argument("--structs", type=int, default=50)
    parser.add_argument("--fields", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", metavar="DIR", help="write the generated files here and keep them")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        cases = {
            "nothing, <cstdio> alone": "#include <cstdio>\nint main() {}\n",
            "espalier/map.hpp, no struct": source(ESPALIER, ESPALIER_CALL, 0, 0),
            "boost/pfr.hpp, no struct": source(PFR, PFR_CALL, 0, 0),
            "tree_map_with_path": source(ESPALIER, ESPALIER_CALL, options.structs, options.fields),
            "pfr for_each_field_with_name": source(PFR, PFR_CALL, options.structs, options.fields),
        }
        flags = ["-std=c++20", "-O0", "-w"]
        flags += [f"-I{folder}" for folder in options.include]
        flags += [word for folder in options.isystem.split(":") if folder for word in ("-isystem", folder)]
        commands = {}
        for number, (name, text) in enumerate(cases.items()):
            file = folder / f"build_time_{number}.cpp"
            file.write_text(text)
            commands[name] = [options.compiler, *flags, "-c", str(file), "-o", str(file.with_suffix(".o"))]

        times = {name: [] for name in cases}
        for run in range(options.runs + 1):  # the first run warms the file cache
            for name, command in commands.items():
                seconds = compile_seconds(command)
                if run > 0:
                    times[name].append(seconds)

    size = f"{options.structs}x{options.fields}"
    print(f"\nTime to compile {options.structs} structs of {options.fields} fields at -O0 with {options.compiler}, "
          f"median of {options.runs} (lowest, highest):")
    for name, seconds in times.items():
        print(f"  {name:32} {statistics.median(seconds):6.2f} s  ({min(seconds):.2f}, {max(seconds):.2f})")
    ratio = statistics.median(times["tree_map_with_path"]) / statistics.median(times["pfr for_each_field_with_name"])
    print(f"\nbuild_time/{size}/pfr_names ratio {ratio:.2f}")


if __name__ == "__main__":
    main()

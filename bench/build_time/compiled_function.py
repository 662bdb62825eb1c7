#!/usr/bin/env python3
"""How much longer a file takes to compile for each compiled function that it adds, with state types of its own.

  compiled_function.py --compiler g++ --isystem boost/include:mlx/include -I include -I reflect/include

Files with one function and with four are compiled in turn; a third of the difference of the medians is what one costs.
"""

import argparse
import pathlib
import statistics
import tempfile

from build_time import compile_cost, compiler_command, compiler_options

HEAD = """#include <espalier/mlx/engine.hpp>
#include <mlx/ops.h>
namespace mx = mlx::core;
struct linear { mx::array weight; std::optional<mx::array> bias; };
struct batch { mx::array images, labels; };
"""
FUNCTION = """struct model_{i} {{ std::vector<linear> layers; }};
struct state_{i} {{ model_{i} model, mu, nu; mx::array count; }};
mx::array step_{i}(state_{i}& s, const batch& b) {{
  static auto step = espalier::compile([](state_{i}& state, const batch& data) {{
    for (linear& layer : state.model.layers) layer.weight = layer.weight * {i}.0f;
    return mx::sum(data.images);
  }});
  return step(s, b);
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    compiler_options(parser)
    options = parser.parse_args()

    print(f"\nTime to compile one more compiled function with {options.compiler}, median of {options.runs}:")
    headlines = []
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for count in (1, 4):
            files[count] = pathlib.Path(folder) / f"compiled_{count}.cpp"
            files[count].write_text(HEAD + "".join(FUNCTION.format(i=i) for i in range(count)))
        for level in ("-O0", "-O2"):
            times = {count: [] for count in files}
            for _ in range(options.runs):
                for count, file in files.items():
                    command = [*compiler_command(options), level, "-c", str(file), "-o", str(file.with_suffix(".o"))]
                    times[count].append(compile_cost(command)[0])
            one, four = statistics.median(times[1]), statistics.median(times[4])
            print(f"  {level}: {(four - one) / 3:.2f} s  (a file with one: {one:.2f} s, with four: {four:.2f} s)")
            headlines.append(f"build_time/one_more_compiled_function/{level[1:]} seconds {(four - one) / 3:.2f}")
    print("\n" + "\n".join(headlines))


if __name__ == "__main__":
    main()

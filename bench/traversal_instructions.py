#!/usr/bin/env python3
"""Instructions that traversal executes against hand-written code: exact counts, by callgrind.

  traversal_instructions.py build/bench/bench/bench_traversal

Prints a table, then `traversal/CASE/instructions ratio R`. Without valgrind it says so and succeeds.
"""

import re
import shutil
import subprocess
import sys
import tempfile

CALLS = 200


def counts(program):
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as profile:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile.name}", program, "--calls", str(CALLS)],
            capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"valgrind failed on {program}:\n{run.stderr}")
        table = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", profile.name],
                               capture_output=True, text=True, check=True).stdout
    found = {}
    scope = r"(?:\(anonymous namespace\)::)?"
    for line in table.splitlines():
        match = re.match(rf"\s*([\d,]+) .*\b(hand|tree)<{scope}(\w+), {scope}(\w+)>\(", line)
        if match:
            found[match[2], f"{match[4]}/{match[3]}"] = int(match[1].replace(",", "")) / CALLS
    return found


def report(usage, group, one, title=str):
    """The table and the ratios of the program that the command line names; `one` is what is counted, and title(case) its
    name."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    if not shutil.which("valgrind"):
        print(f"{group}_instructions: valgrind is not installed (Debian: valgrind), so no instructions are counted")
        return
    found = counts(sys.argv[1])
    ratios = []
    print(f"\nInstructions of one {one} (mean of {CALLS}):\n  {'case':28} {'by hand':>10} {'espalier':>10} {'ratio':>8}")
    for case in sorted(case for side, case in found if side == "hand"):
        hand, tree = (found[side, case] for side in ("hand", "tree"))
        ratios.append((title(case), tree / hand))
        print(f"  {title(case):28} {hand:10.1f} {tree:10.1f} {tree / hand:8.3f}")
    print()
    for name, ratio in ratios:
        print(f"{group}/{name}/instructions ratio {ratio:.3f}")


if __name__ == "__main__":
    report(__doc__, "traversal", "call")

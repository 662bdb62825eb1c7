#!/usr/bin/env python3
"""Instructions of a step of Boost.odeint on plain structs against a state vector written by hand: exact, by callgrind.

  odeint_instructions.py build/bench/bench/bench_odeint

Prints a table, then `odeint/METHOD/SYSTEM/instructions ratio R`. Without valgrind it says so and succeeds.
"""

import shutil
import sys

from traversal_instructions import CALLS, counts


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("valgrind"):
        print("odeint_instructions: valgrind is not installed (Debian: valgrind), so no instructions are counted")
        return
    found = counts(sys.argv[1])
    ratios = []
    print(f"\nInstructions of one step (mean of {CALLS}):\n  {'case':28} {'by hand':>10} {'espalier':>10} {'ratio':>8}")
    for system, method in sorted(tuple(case.split("/")) for side, case in found if side == "hand"):
        hand, tree = (found[side, f"{system}/{method}"] for side in ("hand", "tree"))
        ratios.append((f"{method}/{system}", tree / hand))
        print(f"  {method + '/' + system:28} {hand:10.1f} {tree:10.1f} {tree / hand:8.3f}")
    print()
    for name, ratio in ratios:
        print(f"odeint/{name}/instructions ratio {ratio:.3f}")


if __name__ == "__main__":
    main()

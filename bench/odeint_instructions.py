#!/usr/bin/env python3
"""Instructions of a step of Boost.odeint on plain structs against a state vector written by hand: exact, by callgrind.

  odeint_instructions.py build/bench/bench/bench_odeint

Prints a table, then `odeint/METHOD/SYSTEM/instructions ratio R`. Without valgrind it says so and succeeds.
"""

from traversal_instructions import report

if __name__ == "__main__":
    report(__doc__, "odeint", "step", title=lambda case: "/".join(reversed(case.split("/"))))

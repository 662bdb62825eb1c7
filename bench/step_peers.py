#!/usr/bin/env python3
"""A whole training step (forward, backward, Adam, evaluation) against all peers: MLX's compile from C++ and from Python,
and jax.jit.

  step_peers.py build/bench/bench/bench_step [--rounds N]

Runs bench_step and the Python peers in turns, N rounds, keeps the shortest time of each, and prints a table, then
`step/CASE/PEER ratio R`: espalier's time over the peer's, by the clock. The steps are those of step.cpp, from the same
numbers: a peer whose loss after 20 steps is another ends the run with an error. A peer that this Python cannot import is
left out (`pip install jax` adds jax).
"""

import argparse
import math
import subprocess
import sys
import time

import numpy

from dispatch_peers import PEERS, JaxPeer, MlxPeer, adam_step, importable, shortest_times

ROWS = 32
MLPS = {f"mlp_{layers}x{width}": (layers, width) for width in (16, 64, 256) for layers in (8, 32)}
BURST_SECONDS = 0.3


def numbers(shape, scale, first=0):
    i = numpy.arange(first, first + math.prod(shape))
    return (scale * ((i * 37 + 11) % 101 - 50) / 50).astype(numpy.float32).reshape(shape)


class MlxSteps(MlxPeer):
    """A training loop's habits: what is compiled, and what waits for the results."""

    def compile_step(self, step):
        return self.compile(step)

    def wait(self, results):
        self.np.eval(results)


class JaxSteps(JaxPeer):
    def compile_step(self, step):
        return self.jax.jit(step, donate_argnums=0)

    def wait(self, results):
        self.jax.block_until_ready(results)


def mlp_run(peer, layers, width):
    """A function without arguments that takes a step of Adam, waits for all of its results, and gives the loss."""
    np = peer.np
    params = [{"weight": np.array(numbers((width, width), 1 / math.sqrt(width), i)),
               "bias": np.zeros((width,), np.float32)} for i in range(layers)]
    state = {"params": params, "mu": peer.tree_map(np.zeros_like, params), "nu": peer.tree_map(np.zeros_like, params),
             "count": peer.count()}
    inputs, target = np.array(numbers((ROWS, width), 1)), np.array(numbers((ROWS, width), 0.5, 50))

    compiled = peer.compile_step(adam_step(peer))

    def run():
        nonlocal state
        state, loss = compiled(state, inputs, target)
        peer.wait((state, loss))
        return loss

    return run


# A new case: a function of the peer that makes its run, as in step.cpp.
CASES = {name: lambda peer, sizes=sizes: mlp_run(peer, *sizes) for name, sizes in MLPS.items()}


def nanoseconds_of_a_step(run, count):
    begin = time.perf_counter_ns()
    for _ in range(count):
        run()
    return (time.perf_counter_ns() - begin) / count


def losses_of_program(program):
    """After 20 steps, by `SIDE/CASE`; nothing is timed."""
    run = subprocess.run([program, "--times", "--benchmark_filter=^$"], capture_output=True, text=True)
    lines = (line.split() for line in run.stdout.splitlines() if line.startswith("loss "))
    found = {name: float(value) for _, name, value in lines}
    if not found:
        sys.exit(f"step_peers: {program} printed no losses:\n{run.stdout}{run.stderr}")
    return found


def measure(program, rounds):
    losses = losses_of_program(program)
    calls = {}
    for name, peer in importable({"mlx_python": MlxSteps, "jax": JaxSteps}, PEERS):
        for case, make in CASES.items():
            run = make(peer)
            for _ in range(19):
                run()
            loss, expected = float(run()), losses[f"espalier/{case}"]
            if not math.isclose(loss, expected, rel_tol=1e-3):
                sys.exit(f"step_peers: {case}: {name}'s loss after 20 steps is {loss}, espalier's {expected}")
            count = max(3, round(BURST_SECONDS * 1e9 / nanoseconds_of_a_step(run, 5)))
            calls[f"{name}/{case}"] = (nanoseconds_of_a_step, run, count)
    return shortest_times(program, calls, rounds)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", help="bench_step")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    best = measure(given.program, given.rounds)

    print("\nMicroseconds of a training step, by the clock:")
    print(f"  {'case':<12} {'espalier':>12}" + "".join(f" {title:>12}" for title in PEERS.values()))
    lines = []
    for case in CASES:
        ours = best[f"espalier/{case}"]
        theirs = {peer: best.get(f"{peer}/{case}") for peer in PEERS}
        cells = "".join(f" {t / 1000:12.1f}" if t else f" {'-':>12}" for t in theirs.values())
        print(f"  {case:<12} {ours / 1000:12.1f}{cells}")
        lines += [f"step/{case}/{peer} ratio {ours / t:.3f}" for peer, t in theirs.items() if t]
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What a call of a compiled function costs, against all peers: MLX's compile from C++ and from Python, and jax.jit.

  dispatch_peers.py build/bench/bench/bench_dispatch [--rounds N] [--plot FILE.svg]

Runs bench_dispatch and the Python peers in turns, N rounds, keeps the shortest time of each, and prints a table, then
`dispatch/PATTERN/SIZE/PEER ratio R`: espalier's time over the peer's. A peer that this Python cannot import is left out
(`pip install jax` adds jax). The patterns are those of dispatch.cpp; the trees are dicts and lists of the same shape.
Times are CPU time of the calling thread, of whole-step those of the clock.
"""

import argparse
import gc
import math
import subprocess
import sys
import time

SIZES = [16, 128, 1024]
LAYERS = [8, 32]
PYTHON_CASES = [(pattern, leaves) for pattern in ["pass-through", "in-out", "return", "per-leaf"] for leaves in SIZES]
PYTHON_CASES += [("step", layers) for layers in LAYERS]
CASES = PYTHON_CASES + [("whole-step", layers) for layers in LAYERS]
LOOK_UPS = [("same-key", 1, 4096), ("cycling", 16, 4096)]
PEERS = {"mlx_cpp": "MLX C++", "mlx_python": "MLX Python", "jax": "jax.jit"}
COLOURS = {"espalier": "#0b6e4f", "mlx_cpp": "#c8553d", "mlx_python": "#3d5a98", "jax": "#b8860b"}
BURST_SECONDS = 0.03


class MlxPeer:
    def __init__(self):
        import mlx.core as mx
        import mlx.utils
        self.np, self.compile, self.tree_map = mx, mx.compile, mlx.utils.tree_map

    def full(self, shape, value):
        array = self.np.full(shape, value)
        self.np.eval(array)
        return array

    def value_and_grad(self, loss):
        return self.np.value_and_grad(loss)

    def count(self):
        count = self.np.array(0, self.np.int32)
        self.np.eval(count)
        return count

    def float32(self, array):
        return array.astype(self.np.float32)


class JaxPeer:
    def __init__(self):
        import jax
        import jax.numpy
        self.jax, self.np, self.compile, self.tree_map = jax, jax.numpy, jax.jit, jax.tree.map

    def full(self, shape, value):
        return self.np.full(shape, value, self.np.float32)

    def value_and_grad(self, loss):
        return self.jax.value_and_grad(loss)

    def count(self):
        return self.np.array(0, self.np.int32)

    def float32(self, array):
        return array.astype(self.np.float32)


def make_tree(peer, leaves):
    arrays = iter([peer.full((4, 4), float(i)) for i in range(leaves)])
    return {"blocks": [
        {"heads": {name: next(arrays) for name in ["query", "key", "value", "output"]},
         "gate": next(arrays), "up": next(arrays), "down": next(arrays), "bias": next(arrays)}
        for _ in range(leaves // 8)]}


def in_out(tree, batch):
    last = tree["blocks"][-1]
    changed = {**last, "heads": {**last["heads"], "query": batch + batch}}
    return {"blocks": tree["blocks"][:-1] + [changed]}


def adam_step(peer):
    """A step of Adam over a perceptron: the arithmetic of mlp_step.hpp."""
    np = peer.np

    def loss_of(params, inputs, target):
        h = inputs
        for layer in params:
            h = np.tanh(h @ layer["weight"] + layer["bias"])
        return np.mean(np.square(h - target))

    def step(state, inputs, target):
        loss, grads = peer.value_and_grad(loss_of)(state["params"], inputs, target)
        mu = peer.tree_map(lambda m, g: 0.9 * m + (1 - 0.9) * g, state["mu"], grads)
        nu = peer.tree_map(lambda v, g: 0.999 * v + (1 - 0.999) * np.square(g), state["nu"], grads)
        count = state["count"] + 1
        steps = peer.float32(count)
        correction1 = -np.expm1(steps * math.log(0.9))
        correction2 = -np.expm1(steps * math.log(0.999))
        params = peer.tree_map(
            lambda p, m, v: p - 1e-3 * (m / correction1 / (np.sqrt(v / correction2) + 1e-8)), state["params"], mu, nu)
        return {"params": params, "mu": mu, "nu": nu, "count": count}, loss

    return step


def make_step(peer, layers):
    """The step, and its arguments."""
    params = [{"weight": peer.full((16, 16), 0.01 * (i + 1)), "bias": peer.full((16,), 0.0)} for i in range(layers)]
    zeros = peer.tree_map(lambda p: peer.full(p.shape, 0.0), params)
    state = {"params": params, "mu": zeros, "nu": zeros, "count": peer.count()}
    return adam_step(peer), (state, peer.full((8, 16), 0.5), peer.full((8, 16), 0.25))


def make_call(peer, pattern, size):
    """A function without arguments that calls the compiled function once. No call builds on another's results."""
    if pattern == "step":
        function, arguments = make_step(peer, size)
    else:
        tree = make_tree(peer, size)
        function, arguments = {
            "pass-through": (lambda t: t["blocks"][-1]["heads"]["query"], (tree,)),
            "return": (lambda t: t, (tree,)),
            "per-leaf": (lambda t: peer.tree_map(lambda x: x + x, t), (tree,)),
            "in-out": (in_out, (tree, peer.full((4, 4), 0.0))),
        }[pattern]
    compiled = peer.compile(function)
    return lambda: compiled(*arguments)


def calls_in_burst(call):
    for _ in range(3):
        call()
    count = 1
    while True:
        seconds = burst(call, count) * count / 1e9
        if seconds > BURST_SECONDS / 4:
            return max(1, round(count * BURST_SECONDS / seconds))
        count *= 4


def burst(call, count):
    """Nanoseconds of a call."""
    gc.collect()
    gc.disable()
    begin = time.thread_time_ns()
    for _ in range(count):
        call()
    end = time.thread_time_ns()
    gc.enable()
    return (end - begin) / count


def burst_of_steps(call, count):
    """The same without the time to drop what a call returned, as dispatch.cpp measures its steps."""
    gc.collect()
    gc.disable()
    spent = 0
    for _ in range(count):
        begin = time.thread_time_ns()
        result = call()
        spent += time.thread_time_ns() - begin
        del result
    gc.enable()
    return spent / count


def program_times(program):
    run = subprocess.run([program, "--times", "--benchmark_repetitions=3"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"dispatch_peers: {program} failed:\n{run.stdout}{run.stderr}")
    lines = (line.split() for line in run.stdout.splitlines() if line.startswith("time "))
    return {name: float(nanoseconds) for _, name, nanoseconds in lines}


def importable(peers, titles):
    """The name and an object of each peer that this Python can import."""
    for name, make in peers.items():
        try:
            yield name, make()
        except ImportError as missing:
            print(f"{titles[name]} is left out: {missing}")


def shortest_times(program, calls, rounds):
    """Nanoseconds by name, of the program's benchmarks and of `calls`, (timer, call, count) by name; all in turns."""
    best = {}
    for _ in range(rounds):
        found = program_times(program)
        found.update({name: timer(call, count) for name, (timer, call, count) in calls.items()})
        for name, nanoseconds in found.items():
            best[name] = min(nanoseconds, best.get(name, nanoseconds))
    return best


def measure(program, rounds):
    calls = {}
    for name, peer in importable({"mlx_python": MlxPeer, "jax": JaxPeer}, PEERS):
        for pattern, size in PYTHON_CASES:
            call = make_call(peer, pattern, size)
            timer = burst_of_steps if pattern == "step" else burst
            calls[f"{name}/{pattern}/{size}"] = (timer, call, calls_in_burst(call))
    return shortest_times(program, calls, rounds)


def print_results(best):
    def cell(nanoseconds):
        return f"{nanoseconds / 1000:12.2f}" if nanoseconds else f"{'-':>12}"

    print("\nMicroseconds of one call. Nothing is evaluated but in whole-step; jax.jit computes when it is called:")
    print(f"  {'pattern':<13} {'size':>5} {'espalier':>12}" + "".join(f" {title:>12}" for title in PEERS.values()))
    lines = []
    for pattern, size in CASES:
        ours = best[f"espalier/{pattern}/{size}"]
        theirs = {peer: best.get(f"{peer}/{pattern}/{size}") for peer in PEERS}
        print(f"  {pattern:<13} {size:>5} {cell(ours)} " + " ".join(cell(t) for t in theirs.values()))
        lines += [f"dispatch/{pattern}/{size}/{peer} ratio {ours / t:.3f}" for peer, t in theirs.items() if t]
    print(f"\nA look-up, 16 leaves, microseconds:\n  {'pattern':<13} {'few traces':>12} {'4096 traces':>12}")
    for pattern, few, many in LOOK_UPS:
        base, full = best[f"espalier/{pattern}/{few}"], best[f"espalier/{pattern}/{many}"]
        print(f"  {pattern:<13} {base / 1000:12.3f} {full / 1000:12.3f}")
        lines.append(f"dispatch/{pattern}/16/{many}_to_{few} ratio {full / base:.3f}")
    print("\n" + "\n".join(lines))


def plot(best, file):
    """Time against leaves, both logarithmic, a panel for each pattern."""
    side, gap, left, top = 210, 34, 58, 58
    decades = range(-1, 5)  # of microseconds

    def x_of(panel, leaves):
        return left + panel * (side + gap) + side * (math.log2(leaves) - 3.5) / 7

    def y_of(nanoseconds):
        return top + side * (decades[-1] - math.log10(nanoseconds / 1000)) / (decades[-1] - decades[0])

    def text(x, y, words, anchor="middle", colour="#333"):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'

    patterns = ["pass-through", "in-out", "return", "per-leaf"]
    width, height = left + len(patterns) * (side + gap), top + side + 48
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
           f'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, (name, title) in enumerate([("espalier", "espalier"), *PEERS.items()]):
        x = left + 110 * i
        out.append(f'<rect x="{x}" y="12" width="14" height="4" fill="{COLOURS[name]}"/>')
        out.append(text(x + 20, 19, title, "start"))
    for panel, pattern in enumerate(patterns):
        x0 = left + panel * (side + gap)
        out.append(text(x0 + side / 2, top - 10, pattern))
        for decade in decades:
            y = y_of(1000 * 10.0**decade)
            out.append(f'<path d="M{x0} {y:.1f}h{side}" stroke="#ddd"/>')
            if panel == 0:
                out.append(text(x0 - 6, y + 4, f"{10.0**decade:g}", "end"))
        out += [text(x_of(panel, leaves), top + side + 16, f"{leaves:,}") for leaves in SIZES]
        for name, colour in COLOURS.items():
            keys = [(leaves, f"{name}/{pattern}/{leaves}") for leaves in SIZES]
            points = [(x_of(panel, leaves), y_of(best[key])) for leaves, key in keys if key in best]
            if points:
                path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
                out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
                out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    middle = top + side / 2
    out.append(f'<text x="16" y="{middle}" text-anchor="middle" fill="#333" transform="rotate(-90 16 {middle})">'
               "µs of a call</text>")
    out += [text((left + width - gap) / 2, height - 10, "leaves"), "</svg>"]
    with open(file, "w", encoding="utf-8") as svg:
        svg.write("\n".join(out) + "\n")
    print(f"\nWritten: {file}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", help="bench_dispatch")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--plot", metavar="FILE.svg", help="write a plot of the times against the leaves")
    given = arguments.parse_args()
    best = measure(given.program, given.rounds)
    print_results(best)
    if given.plot:
        plot(best, given.plot)


if __name__ == "__main__":
    main()

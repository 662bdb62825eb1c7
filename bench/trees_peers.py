#!/usr/bin/env python3
"""What flattening, rebuilding and mapping a tree of arrays costs, against Python's pytrees: optree, jax.tree, dm-tree.

  trees_peers.py build/bench/bench/bench_trees [--rounds N]

Runs bench_trees and the peers in turns, N rounds, keeps the shortest time of each, and prints a table, then
`trees/OP/LEAVES/PEER ratio R`: espalier's time over the peer's. A peer that this Python cannot import is left out
(`pip install optree jax dm-tree` adds them). The trees are those of trees.cpp, dicts for its structs; leaves are
mlx.core.array, as there, or floats. Members that trees.cpp leaves empty are left out (dm-tree takes None for a leaf).
"""

import argparse
import functools

from dispatch_peers import burst, calls_in_burst, importable, shortest_times

SIZES = ["16", "128", "1024", "128_numbers", "resnet50", "transformer"]
OPERATIONS = ["flatten", "unflatten", "round_trip", "map", "map2", "reduce", "paths"]
PEERS = {"hand": "by hand", "optree": "optree", "jax": "jax.tree", "dm_tree": "dm-tree"}


class OptreePeer:
    def __init__(self):
        import optree
        self.flatten, self.map = optree.tree_flatten, optree.tree_map
        self.reduce, self.paths = optree.tree_reduce, optree.tree_flatten_with_path
        self.unflatten = lambda flat: optree.tree_unflatten(flat[1], flat[0])


class JaxPeer:
    def __init__(self):
        import jax
        self.flatten, self.map, self.reduce = jax.tree.flatten, jax.tree.map, jax.tree.reduce
        self.paths = jax.tree_util.tree_flatten_with_path
        self.unflatten = lambda flat: jax.tree.unflatten(flat[1], flat[0])


class DmTreePeer:
    def __init__(self):
        import tree
        self.map, self.paths = tree.map_structure, tree.flatten_with_path
        self.flatten = lambda nest: (tree.flatten(nest), nest)  # its structure is such a tree
        self.unflatten = lambda flat: tree.unflatten_as(flat[1], flat[0])
        self.reduce = lambda f, nest, initial: functools.reduce(f, tree.flatten(nest), initial)


def make_tree(size):
    import mlx.core as mx

    numbers = size == "128_numbers"

    def leaf():
        return 1.0 if numbers else mx.zeros((4, 4))

    def linear():
        return {"weight": leaf(), "bias": leaf()}

    def norm():
        return {"scale": leaf(), "bias": leaf()}

    def conv():
        return {"kernel": leaf(), "scale": leaf(), "bias": leaf()}

    def bottleneck(first):
        return {"reduce": conv(), "spread": conv(), "expand": conv(), **({"shortcut": conv()} if first else {})}

    if size == "resnet50":
        return {"stem": conv(), "stages": [[bottleneck(i == 0) for i in range(n)] for n in [3, 4, 6, 3]],
                "head": linear()}
    if size == "transformer":
        layers = [{"before_attention": norm(), "projections": linear(), "output": linear(), "before_mlp": norm(),
                   "up": linear(), "down": linear()} for _ in range(12)]
        return {"tokens": leaf(), "positions": leaf(), "layers": layers, "last": norm()}
    return {"blocks": [
        {"heads": {name: leaf() for name in ["query", "key", "value", "output"]},
         "gate": leaf(), "up": leaf(), "down": leaf(), "norm": leaf()} for _ in range(int(size.split("_")[0]) // 8)]}


def make_call(peer, operation, tree, numbers):
    flat = peer.flatten(tree)
    other = peer.unflatten(flat)
    add = (lambda n, x: n + x) if numbers else (lambda n, x: n + x.size)
    return {
        "flatten": lambda: peer.flatten(tree),
        "unflatten": lambda: peer.unflatten(flat),
        "round_trip": lambda: peer.unflatten(peer.flatten(tree)),
        "map": lambda: peer.map(lambda x: x, tree),
        "map2": lambda: peer.map(lambda x, y: y, tree, other),
        "reduce": lambda: peer.reduce(add, tree, 0),
        "paths": lambda: peer.paths(tree),
    }[operation]


def measure(program, rounds):
    calls = {}
    for name, peer in importable({"optree": OptreePeer, "jax": JaxPeer, "dm_tree": DmTreePeer}, PEERS):
        for size in SIZES:
            tree = make_tree(size)
            for operation in OPERATIONS:
                call = make_call(peer, operation, tree, size == "128_numbers")
                calls[f"{name}/{operation}/{size}"] = (burst, call, calls_in_burst(call))
    return shortest_times(program, calls, rounds)


def print_results(best):
    def cell(nanoseconds):
        return f"{nanoseconds / 1000:12.3f}" if nanoseconds else f"{'-':>12}"

    print("\nMicroseconds of one call:")
    print(f"  {'operation':<10} {'leaves':>12} {'espalier':>12}" + "".join(f" {title:>12}" for title in PEERS.values()))
    lines = []
    for operation in OPERATIONS:
        for size in SIZES:
            ours = best[f"espalier/{operation}/{size}"]
            theirs = {peer: best.get(f"{peer}/{operation}/{size}") for peer in PEERS}
            print(f"  {operation:<10} {size:>12} {cell(ours)} " + " ".join(cell(t) for t in theirs.values()))
            lines += [f"trees/{operation}/{size}/{peer} ratio {ours / t:.4f}" for peer, t in theirs.items() if t]
    print("\n" + "\n".join(lines))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", help="bench_trees")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    print_results(measure(given.program, given.rounds))


if __name__ == "__main__":
    main()

"""What equinox answers. One function for each operation, which answers in JSON."""

import re

import equinox

from peer_jax import as_arrays
from trees import write


def tree_equal(a, b):
    return equinox.tree_equal(a, b, typematch=True)


def tree_allclose(a, b, rtol, atol):
    return bool(equinox.tree_equal(as_arrays(a), as_arrays(b), rtol=rtol, atol=atol))


def tree_filter(tree, predicate):
    return write(equinox.filter(tree, predicate))


def filter_by_mask(tree, mask):
    return write(equinox.filter(tree, mask))


def tree_partition(tree, predicate):
    return [write(part) for part in equinox.partition(tree, predicate)]


def partition_combine(tree, predicate):
    return write(equinox.combine(*equinox.partition(tree, predicate)))


def tree_combine(*trees):
    return write(equinox.combine(*trees))


def tree_at(tree, where, replace=None, function=None, none_is_leaf=False):
    """The tree with the nodes at the printed key paths `where` replaced, or a function applied to each."""
    change = {"replace_fn": function} if function else {"replace": tuple(replace)}
    is_leaf = (lambda node: node is None) if none_is_leaf else None
    return write(equinox.tree_at(lambda t: tuple(node_at(t, path) for path in where), tree, **change, is_leaf=is_leaf))


def node_at(tree, path):
    """The node at a printed key path, as `.layers[0]['a']`."""
    for name, index, key in re.findall(r"\.(\w+)|\[(-?\d+)\]|\['([^']*)'\]", path):
        tree = getattr(tree, name) if name else tree[int(index) if index else key]
    return tree

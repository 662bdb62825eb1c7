"""What jax.tree and jax.tree_util answer. One function for each operation, which answers in JSON."""

import operator
import re
import warnings

import jax
import numpy
from jax._src.tree_util import prefix_errors as jax_prefix_errors
from jax.flatten_util import ravel_pytree
from jax.tree_util import keystr

from functions import add_leaves, count
from trees import write

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

LEAF = "*"
NUMPY_TYPES = {bool: numpy.bool_, int: numpy.int32, float: numpy.float64}


def write_structure(structure):
    return write(structure.unflatten([LEAF] * structure.num_leaves))


def tree_leaves(tree, is_leaf=None):
    leaves = jax.tree.leaves(tree, is_leaf=is_leaf)
    return [write(leaf) for leaf in leaves]


def num_leaves(tree):
    return jax.tree.structure(tree).num_leaves


def num_nodes(tree):
    return jax.tree.structure(tree).num_nodes


def num_children(tree):
    return len(jax.tree.structure(tree).children())


def is_leaf(tree):
    return jax.tree_util.treedef_is_leaf(jax.tree.structure(tree))


def tree_structure(tree):
    return write_structure(jax.tree.structure(tree))


def same_structure(a, b):
    return jax.tree.structure(a) == jax.tree.structure(b)


def entries(tree):
    """The keys of the root's children, printed."""
    below = jax.tree_util.tree_leaves_with_path(tree, is_leaf=lambda node: node is not tree)
    return [keystr(path) for path, _ in below if path]


def children(tree):
    return [write_structure(child) for child in jax.tree.structure(tree).children()]


def child(tree, index):
    return children(tree)[index]


def compose(outer, inner):
    return write_structure(jax.tree.structure(outer).compose(jax.tree.structure(inner)))


def round_trip(tree):
    leaves, structure = jax.tree.flatten(tree)
    return write(structure.unflatten(leaves))


def tree_unflatten(tree, leaves):
    return write(jax.tree.structure(tree).unflatten(leaves))


def tree_paths(tree):
    return [keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]


def dotted(path):
    return keystr(path, simple=True, separator=".")


def dotted_names(tree):
    return [dotted(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]


def tree_map(*trees, function, is_leaf=None):
    return write(jax.tree.map(function, *trees, is_leaf=is_leaf))


def map_prefix(prefix, full):
    return tree_map(prefix, full, function=add_leaves)


def map_count(tree, is_leaf):
    return tree_map(tree, function=count, is_leaf=is_leaf)


def tree_map_with_path(tree):
    return write(jax.tree.map_with_path(lambda path, _: keystr(path), tree))


def map_with_dotted_name(tree):
    return write(jax.tree.map_with_path(lambda path, _: dotted(path), tree))


def tree_sum(tree):
    return jax.tree.reduce(operator.add, tree, 0)


def tree_max(tree):
    return jax.tree.reduce(max, tree)


def tree_min(tree):
    return jax.tree.reduce(min, tree)


def tree_all(tree):
    return jax.tree.all(tree)


def tree_reduce(tree, function, initial):
    return jax.tree.reduce(function, tree, initial)


def tree_reduce_associative(tree):
    return jax.tree.reduce_associative(operator.add, tree)


def is_prefix(prefix, full):
    return not prefix_errors(prefix, full)


def prefix_errors(prefix, full):
    """The key paths that jax reports."""
    return [error_path(error("")) for error in jax_prefix_errors(prefix, full)]


def error_path(error):
    return re.search(r"at key path\n    (?: tree root)?(.*)", str(error))[1]


def flatten_up_to(prefix, full):
    return [write(subtree) for subtree in jax.tree.structure(prefix).flatten_up_to(full)]


def tree_broadcast_prefix(prefix, full):
    return write(jax.tree.broadcast(prefix, full))


def tree_transpose(outer, inner, tree):
    return write(jax.tree.transpose(jax.tree.structure(outer), jax.tree.structure(inner), tree))


def as_arrays(tree):
    """The tree with the array scalars of the C++ types for its leaves."""
    return jax.tree.map(lambda leaf: NUMPY_TYPES[type(leaf)](leaf), tree)


def ravel(tree):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about casts, which are wanted
        return ravel_pytree(as_arrays(tree))


def tree_ravel(tree):
    flat, _ = ravel(tree)
    return {"dtype": str(flat.dtype), "values": flat.tolist()}


def tree_unravel(tree):
    """The tree made of its ravelled values in reverse order, each cast to the type of the leaf that takes it."""
    flat, unravel = ravel(tree)
    return write(jax.tree.map(lambda leaf: leaf.item(), unravel(flat[::-1])))

"""What optree answers, with None as a node. One function for each operation, which answers in JSON."""

import optree
from optree.integrations.numpy import tree_ravel as ravel

from functions import add_leaves, count, minus
from peer_jax import LEAF, as_arrays, error_path
from trees import NAMESPACE, write


def structure(tree):
    return optree.tree_structure(tree, namespace=NAMESPACE)


def write_structure(treespec):
    return write(treespec.unflatten([LEAF] * treespec.num_leaves))


def tree_leaves(tree, is_leaf=None):
    return [write(leaf) for leaf in optree.tree_leaves(tree, is_leaf, namespace=NAMESPACE)]


def num_leaves(tree):
    return structure(tree).num_leaves


def num_nodes(tree):
    return structure(tree).num_nodes


def num_children(tree):
    return structure(tree).num_children


def is_leaf(tree):
    return structure(tree).is_leaf(strict=False)  # as jax: whatever has no children


def tree_structure(tree):
    return write_structure(structure(tree))


def same_structure(a, b):
    return structure(a) == structure(b)


def entries(tree):
    below = structure(tree).one_level()
    return [accessor.codify("") for accessor in below.accessors() if accessor] if below else []


def children(tree):
    return [write_structure(child) for child in structure(tree).children()]


def child(tree, index):
    return write_structure(structure(tree).child(index))


def compose(outer, inner):
    return write_structure(structure(outer).compose(structure(inner)))


def round_trip(tree):
    leaves, treespec = optree.tree_flatten(tree, namespace=NAMESPACE)
    return write(treespec.unflatten(leaves))


def tree_unflatten(tree, leaves):
    return write(structure(tree).unflatten(leaves))


def tree_paths(tree):
    return [accessor.codify("") for accessor in optree.tree_accessors(tree, namespace=NAMESPACE)]


def tree_map(*trees, function, is_leaf=None):
    return write(optree.tree_map(function, *trees, is_leaf=is_leaf, namespace=NAMESPACE))


def map_prefix(prefix, full):
    return tree_map(prefix, full, function=add_leaves)


def map_count(tree, is_leaf):
    return tree_map(tree, function=count, is_leaf=is_leaf)


def tree_map_with_path(tree):
    return write(optree.tree_map_with_accessor(lambda accessor, _: accessor.codify(""), tree, namespace=NAMESPACE))


def tree_sum(tree):
    return optree.tree_sum(tree, namespace=NAMESPACE)


def tree_max(tree, **default):
    return optree.tree_max(tree, **default, namespace=NAMESPACE)


def tree_min(tree, **default):
    return optree.tree_min(tree, **default, namespace=NAMESPACE)


def tree_all(tree):
    return optree.tree_all(tree, namespace=NAMESPACE)


def tree_any(tree):
    return optree.tree_any(tree, namespace=NAMESPACE)


def tree_reduce(tree, function, initial):
    return optree.tree_reduce(function, tree, initial, namespace=NAMESPACE)


def is_prefix(prefix, full):
    return optree.treespec_is_prefix(structure(prefix), structure(full))


def is_strict_prefix(prefix, full):
    return optree.treespec_is_prefix(structure(prefix), structure(full), strict=True)


def prefix_errors(prefix, full):
    return [error_path(error("")) for error in optree.prefix_errors(prefix, full, namespace=NAMESPACE)]


def flatten_up_to(prefix, full):
    return [write(subtree) for subtree in structure(prefix).flatten_up_to(full)]


def tree_broadcast_prefix(prefix, full):
    return write(optree.tree_broadcast_prefix(prefix, full, namespace=NAMESPACE))


def tree_broadcast_common(a, b):
    return [write(tree) for tree in optree.tree_broadcast_common(a, b, namespace=NAMESPACE)]


def tree_broadcast_map(a, b):
    return write(optree.tree_broadcast_map(minus, a, b, namespace=NAMESPACE))


def tree_transpose(outer, inner, tree):
    return write(optree.tree_transpose(structure(outer), structure(inner), tree))


def tree_transpose_map(tree, function):
    return write(optree.tree_transpose_map(function, tree, namespace=NAMESPACE))


def tree_partition(tree, predicate):
    return [write(part) for part in optree.tree_partition(predicate, tree, namespace=NAMESPACE)]


def tree_ravel(tree):
    flat, _ = ravel(as_arrays(tree), namespace=NAMESPACE)
    return {"dtype": str(flat.dtype), "values": flat.tolist()}


def tree_unravel(tree):
    flat, unravel = ravel(as_arrays(tree), namespace=NAMESPACE)
    return write(optree.tree_map(lambda leaf: leaf.item(), unravel(flat[::-1]), namespace=NAMESPACE))

"""What mlx.utils answers. One function for each operation, which answers in JSON.

It knows no dataclasses: structs are given to it as dicts of their fields that are not aux, as a Module gives its
parameters.
"""

import operator

from mlx import utils

from trees import write


def tree_leaves(tree):
    return [leaf for _, leaf in utils.tree_flatten(tree)]


def dotted_names(tree):
    return [name for name, _ in utils.tree_flatten(tree)]


def dotted_round_trip(tree):
    return write(utils.tree_unflatten(utils.tree_flatten(tree)))


def dotted_unflatten(items):
    return write(utils.tree_unflatten(items))


def tree_map(*trees, function):
    return write(utils.tree_map(function, *trees))


def map_with_dotted_name(tree):
    return write(utils.tree_map_with_path(lambda path, _: path or "", tree))


def tree_sum(tree):
    return utils.tree_reduce(operator.add, tree, 0)


def tree_max(tree):
    return utils.tree_reduce(max, tree)


def tree_min(tree):
    return utils.tree_reduce(min, tree)


def tree_reduce(tree, function, initial):
    return utils.tree_reduce(function, tree, initial)


def tree_merge(a, b, function=None):
    return write(utils.tree_merge(a, b, function))

"""The functions and predicates that operations.json names. A C++ test writes the same ones by hand."""

import jax

KINDS = {bool: "bool", int: "int", float: "double", str: "string"}


def twice(x):
    """2x of a number, a text written twice, a bool as it is."""
    return x if isinstance(x, bool) else 2 * x


def twice_if_double(x):
    return 2 * x if isinstance(x, float) else x


def kind(x):
    return KINDS[type(x)]


def count(subtree):
    """How many leaves a subtree has; 1 for a leaf."""
    return len(jax.tree.leaves(subtree))


def minus(x, y):
    return x - y


def multiply_add(x, y, z):
    return x * y + z


def add_leaves(x, subtree):
    return x + sum(jax.tree.leaves(subtree))


def and_twice(x):
    return x, 2 * x


def horner(total, x):
    """Neither associative nor commutative, so that the order of the leaves shows."""
    return 2 * total + x


def is_double(x):
    return isinstance(x, float)


def is_large(x):
    return x > 2

"""The corpus as Python values: structs become dataclasses (or NamedTuples) that jax and optree know as nodes.

`Corpus.read` makes a value from the notation of corpus.json (README.md describes it), `write` gives it back.
"""

import collections
import dataclasses

import jax
import optree

NAMESPACE = "corpus"
LEAVES = (bool, int, float, str)


class Corpus:
    """The trees of corpus.json by name, and the struct types that they are made of."""

    def __init__(self, data):
        self._structs = {}
        for declaration, fields in data["structs"].items():
            name = declaration.split("<")[0]
            make = make_named_tuple if name in data["named_tuples"] else make_dataclass
            self._structs[name] = make(name, fields)
        self.notations = {tree["name"]: tree["tree"] for tree in data["trees"]}

    def tree(self, name):
        """A tree of the corpus, made anew."""
        return self.read(self.notations[name])

    def read(self, notation):
        """The Python value that a notation stands for."""
        if notation is None or isinstance(notation, LEAVES):
            return notation
        kind, *parts = notation
        if kind == "list":
            return [self.read(part) for part in parts]
        if kind == "tuple":
            return tuple(self.read(part) for part in parts)
        children = {key: self.read(part) for key, part in parts[0].items()}
        if kind == "dict":
            return children
        if kind == "int_dict":
            return {int(key): child for key, child in children.items()}
        return self._structs[kind](**children)

    def without_structs(self, answer):
        """An answer with dicts for its dataclasses, as without_structs writes their values."""
        if isinstance(answer, dict):
            return {key: self.without_structs(part) for key, part in answer.items()}
        if not isinstance(answer, list):
            return answer
        struct = self._structs.get(answer[0]) if answer and isinstance(answer[0], str) else None
        if not dataclasses.is_dataclass(struct):
            return [self.without_structs(part) for part in answer]
        return ["dict", {name: self.without_structs(answer[1][name]) for name in sorted(child_names(struct))}]

    def node_type(self, kind):
        """The Python type of the nodes of a kind."""
        return {"list": list, "tuple": tuple, "dict": dict, "none": type(None)}.get(kind) or self._structs[kind]


def write(value):
    """The notation of a Python value. Dicts are written in key order, as C++ maps are visited."""
    if value is None or isinstance(value, LEAVES):
        return value
    if isinstance(value, list):
        return ["list", *map(write, value)]
    if isinstance(value, dict):
        kind = "int_dict" if any(isinstance(key, int) for key in value) else "dict"
        return [kind, {str(key): write(value[key]) for key in sorted(value)}]
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif hasattr(value, "_fields"):
        names = value._fields
    elif isinstance(value, tuple):
        return ["tuple", *map(write, value)]
    else:
        raise TypeError(f"{type(value)} has no notation")
    return [type(value).__name__, {name: write(getattr(value, name)) for name in names}]


def without_structs(value):
    """The same tree with dicts for its dataclasses and without their aux fields: what mlx.utils can traverse."""
    if dataclasses.is_dataclass(value):
        return {name: without_structs(getattr(value, name)) for name in child_names(type(value))}
    if isinstance(value, dict):
        return {key: without_structs(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        children = map(without_structs, value)
        return type(value)(*children) if hasattr(value, "_fields") else type(value)(children)
    return value


def child_names(struct):
    """The names of a dataclass's fields that are not aux."""
    return [field.name for field in dataclasses.fields(struct) if not field.metadata["aux"]]


def make_named_tuple(name, fields):
    return collections.namedtuple(name, [field.split()[-1] for field in fields])


def make_dataclass(name, fields):
    """A dataclass with the fields of a C++ struct, `TYPE NAME` each, registered with jax and optree."""
    struct = dataclasses.make_dataclass(name, [declare_field(field) for field in fields])
    children = child_names(struct)
    aux = [field.name for field in dataclasses.fields(struct) if field.name not in children]

    def flatten(value):
        return ([getattr(value, name) for name in children], tuple(getattr(value, name) for name in aux), children)

    def unflatten(aux_values, values):
        return struct(**dict(zip(aux, aux_values)), **dict(zip(children, values)))

    jax.tree_util.register_dataclass(struct, data_fields=children, meta_fields=aux)
    optree.register_pytree_node(struct, flatten, unflatten, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)
    return struct


def declare_field(field):
    cpp_type, name = field.rsplit(" ", 1)
    return name, object, dataclasses.field(metadata={"aux": cpp_type.startswith("espalier::aux<")})

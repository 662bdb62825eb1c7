#!/usr/bin/env python3
"""Writes the corpus and the questions of answers.json as C++, for the test that asks Espalier the same.

  write_cpp.py FOLDER    writes trees.hpp and questions_1.cpp, … into the folder

trees.hpp has the structs of corpus.json and a function `NAME_tree()` for each tree. A question is a line of
answers.json without the answers, beside a call of the function of its operation (operations/*.hpp). Needs no peers.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
NOT_IN_QUESTION = ("answer", "by", "but", "espalier")

# The files of questions: the headers with the operations that they ask about, none too long to compile.
PARTS = [
    ("structure", ["num_leaves", "num_nodes", "num_children", "is_leaf", "entries", "tree_structure"]),
    ("structure", ["children", "child", "compose", "round_trip", "tree_unflatten", "same_structure"]),
    ("leaves", ["tree_leaves", "tree_paths", "dotted_names", "dotted_round_trip", "dotted_unflatten"]),
    ("map", ["tree_map_with_path", "map_with_dotted_name"]),
    ("map", ["tree_map", "map_count"]),
    ("reduce", ["tree_sum", "tree_max", "tree_min", "tree_reduce_associative", "tree_all", "tree_any", "tree_reduce"]),
    ("reduce", ["tree_ravel", "tree_unravel"]),
    ("pairs", ["tree_equal", "tree_allclose", "is_prefix", "is_strict_prefix", "prefix_errors", "flatten_up_to"]),
    ("pairs", ["map_prefix", "tree_broadcast_prefix", "tree_broadcast_common", "tree_broadcast_map"]),
    ("parts", ["tree_transpose", "tree_transpose_map", "tree_filter", "tree_partition", "partition_combine",
               "filter_by_mask", "tree_combine", "tree_at", "tree_merge"]),
]

# The questions that have no meaning in C++, and why: all that have these operations, trees and arguments.
NOT_ASKED = [
    ({"operation": "dotted_unflatten"}, "names alone do not make a C++ type; dotted_round_trip has the structure too"),
    ({"trees": ["chain"], "stop": "none"}, "leaf_if stops by type, so at engaged pointers too"),
]


class Structs:
    """The structs of corpus.json, each defined behind those that it is made of."""

    def __init__(self, declarations):
        self._fields = {}
        self._parameters = {}
        for declaration, fields in declarations.items():
            name, _, parameters = declaration.partition("<")
            self._fields[name] = [tuple(field.rsplit(" ", 1)) for field in fields]
            self._parameters[name] = [part.strip() for part in split(parameters[:-1])] if parameters else []

    def definitions(self):
        done = []
        while len(done) < len(self._fields):
            done += [name for name in self._fields if name not in done and self._uses(name) <= set(done)]
        return "\n".join(self._definition(name) for name in done)

    def _uses(self, name):
        words = re.findall(r"\w+", " ".join([*(kind for kind, _ in self._fields[name]), *self._parameters[name]]))
        return {word for word in words if word in self._fields and word != name}

    def _definition(self, name):
        parameters = self._parameters[name]
        fields = "".join(f"  {kind} {field};\n" for kind, field in self._fields[name])
        template = f"template <{', '.join('class ' + parameter for parameter in parameters)}> " if parameters else ""
        names = [parameter.split()[0] for parameter in parameters]
        arguments = f"<{', '.join(names)}>" if names else ""
        generic = f"template <{', '.join('class ' + parameter for parameter in names)}> " if names else ""
        return (f"{template}struct {name} {{\n{fields}}};\n"
                f"{generic}constexpr std::string_view name_of(const {name}{arguments}*) {{ return \"{name}\"; }}\n")

    def __contains__(self, name):
        return name in self._fields

    def fields(self, name, arguments):
        """The fields of a struct as (type, name), with its template's arguments put in."""
        given = {}
        for i, parameter in enumerate(self._parameters[name]):
            parameter, _, default = parameter.partition(" = ")
            given[parameter] = arguments[i] if i < len(arguments) else default
        return [(re.sub(r"\w+", lambda word: given.get(word[0], word[0]), kind), field)
                for kind, field in self._fields[name]]


def split(arguments):
    """The template arguments of a list: `double, std::map<int, double>` has two."""
    parts = [""]
    depth = 0
    for c in arguments:
        depth += (c == "<") - (c == ">")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


class Writer:
    """C++ expressions for notations."""

    def __init__(self, structs):
        self.structs = structs

    def value(self, kind, notation):
        """A value of the C++ type `kind`."""
        name, _, arguments = kind.partition("<")
        arguments = split(arguments[:-1]) if arguments else []
        if name in ("std::optional", "std::unique_ptr") and notation is None:
            return f"{kind}{{}}"
        if name == "std::optional":
            return f"{kind}{{{self.value(arguments[0], notation)}}}"
        if name == "std::unique_ptr":
            return f"std::make_unique<{arguments[0]}>({self.value(arguments[0], notation)})"
        if name == "std::variant":
            i = next(i for i, alternative in enumerate(arguments) if self._fits(alternative, notation))
            return f"{kind}{{std::in_place_index<{i}>, {self.value(arguments[i], notation)}}}"
        if name == "espalier::aux":
            return f"{kind}{{{self.value(arguments[0], notation)}}}"
        if name in self.structs:
            fields = [f".{field} = {self.value(field_kind, notation[1][field])}"
                      for field_kind, field in self.structs.fields(name, arguments)]
            return f"{kind}{{{', '.join(fields)}}}"
        if name in ("std::vector", "std::array"):
            return f"{kind}{{{', '.join(self.value(arguments[0], part) for part in notation[1:])}}}"
        if name in ("std::tuple", "std::pair"):
            return f"{kind}{{{', '.join(map(self.value, arguments, notation[1:]))}}}"
        if name in ("std::map", "std::unordered_map"):
            entries = [f"{{{self.value(arguments[0], int(key) if arguments[0] == 'int' else key)}, "
                       f"{self.value(arguments[1], child)}}}" for key, child in notation[1].items()]
            return f"{kind}{{{', '.join(entries)}}}"
        if name == "std::string":
            return f"std::string({json.dumps(notation, ensure_ascii=False)})"
        return json.dumps(notation)

    def _fits(self, kind, notation):
        name = kind.partition("<")[0]
        if isinstance(notation, list):
            tags = {"std::vector": "list", "std::map": "dict", "std::tuple": "tuple", "std::pair": "tuple"}
            return notation[0] == tags.get(name, name)
        return name == {bool: "bool", int: "int", float: "double", str: "std::string"}[type(notation)]

    def replacement(self, notation):
        """A value whose type its notation tells."""
        if notation is None:
            return "std::nullopt"
        if not isinstance(notation, list):
            return json.dumps(notation)
        return self.value("std::vector<double>" if notation[0] == "list" else notation[0], notation)

    def stops(self, kind, stop):
        """The outermost types of nodes of the kind `stop` in a tree of the type `kind`, each once."""
        found = []
        seen = []

        def search(kind):
            name, _, arguments = kind.partition("<")
            arguments = split(arguments[:-1]) if arguments else []
            containers = {"list": ("std::vector", "std::array"), "none": ("std::optional", "std::unique_ptr")}
            if name in containers.get(stop, (stop,)):
                found.extend([kind] if kind not in found else [])
            elif kind not in seen:
                seen.append(kind)
                fields = self.structs.fields(name, arguments) if name in self.structs else []
                for below in [*(kind for kind, _ in fields), *([] if name in self.structs else arguments)]:
                    search(below)

        search(kind)
        return found


def arguments(writer, types, question):
    """The arguments of the C++ function that answers the question, in front of the trees."""
    written = []
    for name, value in question.items():
        if name in ("function", "predicate"):
            written.append(f"{value}{{}}")
        elif name == "leaves":
            written.append(writer.value("std::vector<double>", ["list", *value]))
        elif name == "stop":
            written.append(f"espalier::leaf_if<{', '.join(writer.stops(types[question['trees'][0]], value))}>")
        elif name == "where":
            places = [re.sub(r"\[(-?\d+)\]|\['([^']*)'\]", r".\1\2", path).removeprefix(".") for path in value]
            written.append(f"where<{', '.join(json.dumps(place) for place in places)}>")
        elif name == "replace":
            written.append(f"std::tuple({', '.join(map(writer.replacement, value))})")
        elif name not in ("operation", "trees", "none_is_leaf"):
            written.append(json.dumps(value))
    return written


def answer(writer, types, question):
    """What a question has in C++: a function, or the reason why there is none."""
    for part, reason in NOT_ASKED:
        if all(question.get(name) == value for name, value in part.items()):
            return f"nullptr, {json.dumps(reason)}"
    given = [*arguments(writer, types, question), *(f"{tree}_tree()" for tree in question["trees"])]
    return f"[] {{ return peers::{question['operation']}({', '.join(given)}); }}"


TREES = """// Written by write_cpp.py from corpus.json.
#pragma once

#include <array>
#include <espalier/aux.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace peers {{

{structs}
{trees}
}}  // namespace peers
"""

QUESTIONS = """// Written by write_cpp.py from answers.json.
#include "operations/{header}.hpp"
#include "questions.hpp"
#include "trees.hpp"

namespace peers {{

static const question asked[] = {{
{questions}}};
static const bool registered = ask(asked);

}}  // namespace peers
"""


def main(folder):
    corpus = json.loads((HERE / "corpus.json").read_text())
    lines = json.loads((HERE / "answers.json").read_text())["answers"]
    questions = [{name: value for name, value in line.items() if name not in NOT_IN_QUESTION} for line in lines]
    writer = Writer(Structs(corpus["structs"]))
    types = {tree["name"]: tree["type"] for tree in corpus["trees"]}
    trees = [f"inline {tree['type']} {tree['name']}_tree() {{ return {writer.value(tree['type'], tree['tree'])}; }}\n"
             for tree in corpus["trees"]]
    (folder / "trees.hpp").write_text(TREES.format(structs=writer.structs.definitions(), trees="\n".join(trees)))
    for number, (header, operations) in enumerate(PARTS, 1):
        asked = [f"  {{R\"~({json.dumps(question, ensure_ascii=False)})~\", {answer(writer, types, question)}}},\n"
                 for question in questions if question["operation"] in operations]
        (folder / f"questions_{number}.cpp").write_text(QUESTIONS.format(header=header, questions="".join(asked)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

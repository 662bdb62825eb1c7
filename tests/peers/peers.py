#!/usr/bin/env python3
"""Asks jax, equinox, optree and mlx.utils what each operation of operations.json gives on the trees of corpus.json.

  peers.py            writes answers.json and differences.md
  peers.py --check    says whether the stored ones still hold; exits 1 if not

README.md describes the files. `pip install -r requirements.txt` installs the peers in their versions; without them,
it exits 77.
"""

import argparse
import difflib
import importlib.metadata
import inspect
import json
import pathlib
import sys

try:
    import functions
    import peer_equinox
    import peer_jax
    import peer_mlx
    import peer_optree
    from differences import Differences
    from trees import Corpus, without_structs
except ModuleNotFoundError as missing:
    print(f"{missing}; pip install -r requirements.txt")
    sys.exit(77)  # what CTest takes for a skipped test

HERE = pathlib.Path(__file__).parent
# Where peers differ, `answer` is that of the first one here that has the operation.
PEERS = {"jax": peer_jax, "equinox": peer_equinox, "optree": peer_optree, "mlx": peer_mlx}
NOT_ARGUMENTS = ("operation", "operations", "trees")


def load(name):
    return json.loads((HERE / name).read_text())


def cases(corpus):
    """Every question: an operation, the names of its trees, and its other arguments."""
    for entry in load("operations.json"):
        arguments = {name: value for name, value in entry.items() if name not in NOT_ARGUMENTS}
        for operation in entry["operations"]:
            for trees in select(corpus, entry["trees"]):
                yield {"operation": operation, "trees": trees, **arguments}


def select(corpus, trees):
    """The lists of trees of an entry: as written, or each tree alone of `all` trees, or of the `numeric` ones."""
    if isinstance(trees, list):
        return trees
    return [[name] for name in corpus.notations if trees == "all" or is_numeric(corpus.tree(name))]


def is_numeric(tree):
    return not any(isinstance(leaf, str) for leaf in peer_jax.tree_leaves(tree))


def arguments_of(corpus, case):
    """The arguments of a case as the peers take them."""
    arguments = {name: value for name, value in case.items() if name not in NOT_ARGUMENTS}
    for name in ("function", "predicate"):
        if name in arguments:
            arguments[name] = getattr(functions, arguments[name])
    if "replace" in arguments:
        arguments["replace"] = [corpus.read(value) for value in arguments["replace"]]
    if "stop" in arguments:
        stop = corpus.node_type(arguments.pop("stop"))
        arguments["is_leaf"] = lambda node: isinstance(node, stop)
    return arguments


def ask(corpus, case):
    """What each peer that has the operation answers. An exception is an answer too: {"error": its type}."""
    arguments = arguments_of(corpus, case)
    answers = {}
    for name, peer in PEERS.items():
        operation = getattr(peer, case["operation"], None)
        trees = [corpus.tree(tree) for tree in case["trees"]]
        if peer is peer_mlx:
            trees = [without_structs(tree) for tree in trees]
        if operation is None or not takes(operation, trees, arguments):
            continue
        try:
            answers[name] = operation(*trees, **arguments)
        except Exception as error:
            answers[name] = {"error": type(error).__name__}
    return answers


def takes(operation, trees, arguments):
    try:
        inspect.signature(operation).bind(*trees, **arguments)
    except TypeError:
        return False
    return True


def line(corpus, case, differences):
    """The case with `answer`, the peers that give it (`by`), what others say (`but`), and Espalier's if not that."""
    answers = ask(corpus, case)
    first = next(iter(answers.values()))
    but = {peer: other for peer, other in answers.items() if not agree(corpus, peer, first, other)}
    result = {**case, "answer": first, "by": [peer for peer in answers if peer not in but]}
    if but:
        result["but"] = but
    differences.explain(result)
    return result


def agree(corpus, peer, first, other):
    if is_error(first) or is_error(other):
        return is_error(first) and is_error(other)
    if peer == "mlx":
        first = corpus.without_structs(first)
    return json.dumps(first) == json.dumps(other)  # unlike ==, tells 1 from 1.0 and true, and 0.0 from -0.0


def is_error(answer):
    return isinstance(answer, dict) and "error" in answer


def answers_text(lines):
    versions = {name: importlib.metadata.version(name) for name in PEERS}
    text = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return f'{{\n"versions": {json.dumps(versions)},\n"answers": [\n{text}\n]\n}}\n'


def store(texts):
    for name, text in texts.items():
        (HERE / name).write_text(text)
    return 0


def check(texts):
    """Prints how the stored files differ from what the peers say now. 1 if they do."""
    changed = []
    for name, text in texts.items():
        stored = (HERE / name).read_text()
        changed += difflib.unified_diff(stored.splitlines(), text.splitlines(), f"stored {name}", f"new {name}", n=0,
                                        lineterm="")
    print("\n".join(changed) if changed else "The peers' answers are those that are stored.")
    return 1 if changed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the stored files instead of writing them")
    options = parser.parse_args()
    corpus = Corpus(load("corpus.json"))
    differences = Differences(load("differences.json"))
    lines = [line(corpus, case, differences) for case in cases(corpus)]
    differences.require_all_used()
    texts = {"answers.json": answers_text(lines), "differences.md": differences.markdown()}
    return check(texts) if options.check else store(texts)


if __name__ == "__main__":
    sys.exit(main())

"""The differences between the peers, and between them and Espalier, each with its reason: differences.json.

A disagreement without an entry is an error, and so is an entry that no longer holds.
"""

import json

HEAD = """# Where the answers differ

Written by `peers.py` from `differences.json`. Paths are as jax prints them; `""` is the root.

## Peers from each other

`answers` counts the answers that an entry explains; the example is the first of them.

"""
PEER_COLUMNS = ["peer", "operations", "answers", "what it does", "Espalier", "example", "the first peer", "this peer"]


class Differences:
    def __init__(self, data):
        self._peers = [{**entry, "lines": []} for entry in data["peers"]]
        self._espalier = [{**group, "lines": []} for group in data["espalier"]]
        self._unused = {key for group in self._espalier for entry in group["answers"] for key in keys(entry)}

    def explain(self, line):
        """Finds the reason of each peer's different answer, and adds `espalier` where its answer is another."""
        for peer in line.get("but", {}):
            self._entry_for(peer, line)["lines"].append(line)
        key = (tuple(line["trees"]), line["operation"])
        for group in self._espalier:
            for entry in group["answers"]:
                if key in keys(entry) and entry[line["operation"]] != line["answer"]:
                    line["espalier"] = entry[line["operation"]]
                    group["lines"].append(line)
                    self._unused.discard(key)

    def _entry_for(self, peer, line):
        for entry in self._peers:
            if (entry["peer"] == peer and line["operation"] in entry["operations"]
                    and not set(line["trees"]).isdisjoint(entry["trees"])):
                return entry
        raise ValueError(f"no entry of differences.json explains what {peer} answers: {line}")

    def require_all_used(self):
        unused = [entry["does"] for entry in self._peers if not entry["lines"]] + sorted(self._unused)
        if unused:
            raise ValueError(f"entries of differences.json that explain nothing: {unused}")

    def markdown(self):
        text = HEAD + table(PEER_COLUMNS, map(peer_row, self._peers)) + "\n## Espalier from its peers\n"
        for group in self._espalier:
            text += f"\n{group['reason']}\n\n"
            text += table(["operation", "trees", "peers", "Espalier"], map(espalier_row, group["lines"]))
        return text


def keys(entry):
    """What an entry of Espalier's answers is about: its trees, with each operation that it has an answer for."""
    return {(tuple(entry["trees"]), operation) for operation in entry if operation != "trees"}


def peer_row(entry):
    line = entry["lines"][0]
    return [entry["peer"], ", ".join(f"`{operation}`" for operation in entry["operations"]), str(len(entry["lines"])),
            entry["does"], entry["espalier"], f"`{line['operation']}({', '.join(line['trees'])})`",
            code(line["answer"]), code(line["but"][entry["peer"]])]


def espalier_row(line):
    return [f"`{line['operation']}`", ", ".join(line["trees"]), code(line["answer"]), code(line["espalier"])]


def code(answer):
    return f"`{json.dumps(answer, ensure_ascii=False)}`"


def table(columns, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in [columns, ["---"] * len(columns), *rows])

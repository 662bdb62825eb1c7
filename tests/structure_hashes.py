#!/usr/bin/env python3
"""Computes the hashes in structure_hashes.txt from the encodings beside them, with the `xxhash` package of PyPI.

  structure_hashes.py structure_hashes.txt            checks them
  structure_hashes.py structure_hashes.txt --write    writes them
"""

import sys

import xxhash


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    path = sys.argv[1]
    with open(path) as file:
        lines = file.read().splitlines()
    computed = []
    for line in lines:
        encoding = line.split(" ")[1]
        computed.append(f"{xxhash.xxh64_hexdigest(bytes.fromhex(encoding))} {encoding}")
    if "--write" in sys.argv:
        with open(path, "w") as file:
            file.write("\n".join(computed) + "\n")
        return
    wrong = [i + 1 for i in range(len(lines)) if lines[i] != computed[i]]
    if wrong:
        sys.exit(f"structure_hashes: the hashes of these lines are not those of their encodings: {wrong}")
    print(f"structure_hashes: {len(lines)} hashes are right")


if __name__ == "__main__":
    main()

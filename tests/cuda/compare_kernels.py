#!/usr/bin/env python3
"""Kernels that update a struct per thread through the tree operations against the same written member by member:
registers, as ptxas counts them, and machine instructions, from the kernels' code.

  compare_kernels.py -I include -I reflect/include --isystem boost/include

Prints a table, then `cuda/CASE/registers ratio R` and `cuda/CASE/instructions ratio R`. Fails if a pair
differs: in fewer instructions too, since nvcc leaves code out where it calls what it takes for a host function. Without
nvcc it says so and exits with 77.
"""

import argparse
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
INSTRUCTION_BYTES = 16  # of every architecture since Volta
NOP = 0x918  # what fills a kernel's code up, in the low 12 bits


def compile_kernels(args, cubin):
    """Compiles kernels.cu; gives back the registers of each kernel."""
    source = pathlib.Path(__file__).with_name("kernels.cu")
    command = [args.nvcc, "-std=c++20", "-O2", "--expt-relaxed-constexpr", f"-arch={args.arch}", "-Xptxas", "-v", "-cubin"]
    command += ["-Werror", "all-warnings"]
    command += [f"-I{folder}" for folder in args.include]
    for folder in filter(None, args.isystem.split(":")):
        command += ["-isystem", folder]
    command += [str(source), "-o", str(cubin)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"compare_kernels: nvcc failed:\n{' '.join(command)}\n{run.stdout}{run.stderr}")
    log = run.stdout + run.stderr
    return {name: int(count) for name, count in
            re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", log, re.DOTALL)}


def instructions_of(cubin):
    """The instructions of each kernel in a cubin, an ELF file with a section `.text.KERNEL` for each; not counted are
    the NOPs behind the end."""
    data = cubin.read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    names = sections[names_index][4]
    found = {}
    for name, _, _, _, begin, length in sections:
        text = data[names + name:data.index(b"\0", names + name)].decode()
        if text.startswith(".text."):
            opcodes = [struct.unpack_from("<H", data, at)[0] & 0xFFF for at in range(begin, begin + length, INSTRUCTION_BYTES)]
            found[text.removeprefix(".text.")] = sum(opcode != NOP for opcode in opcodes)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    parser.add_argument("--isystem", default="", metavar="DIR:DIR", help="where Boost's headers are, if not where nvcc looks")
    args = parser.parse_args()
    if not shutil.which(args.nvcc):
        print(f"compare_kernels: skipped, since there is no {args.nvcc} here (part of the CUDA toolkit)")
        sys.exit(SKIPPED)

    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "kernels.cubin"
        counts = {"registers": compile_kernels(args, cubin), "instructions": instructions_of(cubin)}

    cases = sorted(name.removeprefix("by_hand_") for name in counts["registers"] if name.startswith("by_hand_"))
    if not cases:
        sys.exit("compare_kernels: nvcc reported no kernels")
    print(f"Kernels for {args.arch}, by hand and through espalier:")
    ratios = []
    for case in cases:
        row = []
        for unit, found in counts.items():
            hand, tree = found[f"by_hand_{case}"], found[f"espalier_{case}"]
            row.append(f"{unit} {hand:4} {tree:4}")
            ratios.append((f"cuda/{case}/{unit}", tree / hand))
        print(f"  {case:8} " + "   ".join(row))
    for name, ratio in ratios:
        print(f"{name} ratio {ratio:.3f}")
    different = [name for name, ratio in ratios if ratio != 1]
    if different:
        sys.exit(f"compare_kernels: not as by hand: {', '.join(different)}")


if __name__ == "__main__":
    main()

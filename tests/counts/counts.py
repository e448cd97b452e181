#!/usr/bin/env python3
"""Counts the instructions of every workload of sunder_counts and compares them with counts.txt.

    counts.py PROGRAM --compiler TEXT [--update] [--only NAME...]

Fails where a workload takes more than GROWTH more than the file says, or the file does not know it. --update writes the file
anew: a commit that makes something slower for a reason changes its figure too, and says why. Counts are of one thread and one
vector target, and functions of the C library that differ by processor are kept to the plain ones, so they are the same on every
machine; they are not the same for every compiler, nor for sources that are compiled alone, so with another build than that of
the file the test is skipped."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

GROWTH = 0.05
FILE = pathlib.Path(__file__).resolve().parent / "counts.txt"
PLAIN_LIBRARY = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-FMA,-FMA4,-ERMS,-FSRM"
HEAD = """# Millions of instructions of each workload, as tests/counts/counts.py counts them. Compiler: {compiler}
# Make it anew with: {command}
"""


def count(program, name):
    """Instructions that the work takes, without its preparation."""
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=sunder_counted", "--callgrind-out-file=/dev/null",
               str(program), name]
    done = subprocess.run(command, text=True, capture_output=True, env=dict(os.environ, GLIBC_TUNABLES=PLAIN_LIBRARY))
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return int(collected[1])


def known():
    """The compiler of the file, and its counts by name."""
    if not FILE.exists():
        return None, {}
    compiler, counts = None, {}
    for line in FILE.read_text().splitlines():
        if match := re.search(r"Compiler: (.*)$", line):
            compiler = match[1]
        elif not line.startswith("#"):
            name, millions = line.split()
            counts[name] = float(millions) * 1e6
    return compiler, counts


def judge(before, now):
    """What is wrong with the counts `now`, a line each, and what may be said about them."""
    wrong, notes = [], []
    for name, instructions in now.items():
        if name not in before:
            wrong.append(f"{name} is not in {FILE.name}")
            continue
        growth = instructions / before[name] - 1
        line = f"{name}: {before[name] / 1e6:.1f} to {instructions / 1e6:.1f} million instructions ({growth:+.1%})"
        if growth > GROWTH:
            wrong.append(line)
        elif growth < -GROWTH:
            notes.append(line)
    return wrong, notes


def self_test():
    before = {"a": 100e6, "b": 100e6, "c": 100e6}
    wrong, notes = judge(before, {"a": 104e6, "b": 106e6, "c": 90e6, "d": 1e6})
    assert [line.split()[0] for line in wrong] == ["b:", "d"] and [line.split()[0] for line in notes] == ["c:"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", dest="names", metavar="NAME", default=[])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    self_test()
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        sys.exit(77)
    compiler, before = known()
    if not options.update and compiler != options.compiler:
        print(f"skipped: {FILE.name} is of {compiler}, this build of {options.compiler}")
        sys.exit(77)
    names = options.names or subprocess.run([options.program], text=True, capture_output=True, check=True).stdout.split()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        now = dict(zip(names, pool.map(lambda name: count(options.program, name), names)))
    for name, instructions in now.items():
        print(f"{name:20} {instructions / 1e6:8.1f}")
    command = f"tests/counts/counts.py build/bin/sunder_counts --compiler '{options.compiler}' --update"
    if options.update:
        kept = {name: count for name, count in before.items() if options.names} | now
        FILE.write_text(HEAD.format(compiler=options.compiler, command=command)
                        + "".join(f"{name:20} {instructions / 1e6:8.1f}\n" for name, instructions in kept.items()))
        return
    wrong, notes = judge(before, now)
    if notes:
        print("fewer instructions than in the file; update it, so that the gain stays:", *notes, sep="\n  ")
    if wrong:
        print("more instructions than in the file:", *wrong, sep="\n  ")
        print(f"If that is meant, change the figures in the same commit and say why:\n  {command}")
        sys.exit(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the determinism probe with 1, 2 and 4 threads, several times: its lines must never differ. `determinism.py BIN_DIR`

With --twin, the broken twin of the probe runs instead, and must be caught by the same comparison, in a plain reduction and in
a simulation."""
import pathlib
import subprocess
import sys

# Lines that the twin's reductions reach.
BROKEN = {"reduce", "simulation"}


def differing(program: pathlib.Path, runs: tuple[int, ...], *arguments: str) -> set[str]:
    """Names of the lines that are not the same in all runs, each with its number of threads."""
    seen: dict[str, set[str]] = {}
    for threads in runs:
        text = subprocess.run([program, str(threads), *arguments], capture_output=True, text=True, check=True).stdout
        counts: dict[str, int] = {}
        for line in text.splitlines():
            name, value = line.split()
            counts[name] = counts.get(name, 0) + 1
            seen.setdefault(f"{name}#{counts[name]}", set()).add(value)
    return {name.split("#")[0] for name, values in seen.items() if len(values) > 1}


def same_bits(folder):
    if different := differing(folder / "determinism_probe", (1, 2, 4, 4)):
        sys.exit("results depend on the number of threads: " + ", ".join(sorted(different)))
    print("same bits for 1, 2 and 4 threads")


def twin_is_caught(folder):
    caught = set()
    for _ in range(20):
        caught |= differing(folder / "determinism_probe_broken", (1, 2, 4), "short")
        if BROKEN <= caught:
            break
    else:
        sys.exit("the twin that joins reductions in order of arrival was not caught: this test has no teeth for "
                 + ", ".join(sorted(BROKEN - caught)))
    print("the broken twin was caught in", ", ".join(sorted(caught)))


if "--twin" in sys.argv[2:]:
    twin_is_caught(pathlib.Path(sys.argv[1]))
else:
    same_bits(pathlib.Path(sys.argv[1]))

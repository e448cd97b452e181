#!/usr/bin/env python3
"""Runs the determinism probe with 1, 2 and 4 threads, several times: its lines must never differ. The broken twin of the
probe must be caught by the same comparison, in a plain reduction and in a simulation. `determinism.py BIN_DIR`"""
import pathlib
import subprocess
import sys

# Lines that the twin's reductions reach.
BROKEN = {"reduce", "simulation"}


def differing(program: pathlib.Path, repeats: int) -> set[str]:
    """Names of the lines that are not the same in all runs."""
    seen: dict[str, set[str]] = {}
    for _ in range(repeats):
        for threads in (1, 2, 4):
            text = subprocess.run([program, str(threads)], capture_output=True, text=True, check=True).stdout
            counts: dict[str, int] = {}
            for line in text.splitlines():
                name, value = line.split()
                counts[name] = counts.get(name, 0) + 1
                seen.setdefault(f"{name}#{counts[name]}", set()).add(value)
    return {name.split("#")[0] for name, values in seen.items() if len(values) > 1}


def main():
    folder = pathlib.Path(sys.argv[1])
    if different := differing(folder / "determinism_probe", 3):
        sys.exit("results depend on the number of threads: " + ", ".join(sorted(different)))
    caught = set()
    for _ in range(10):
        caught |= differing(folder / "determinism_probe_broken", 2)
        if BROKEN <= caught:
            break
    else:
        sys.exit("the twin that joins reductions in order of arrival was not caught: this test has no teeth for "
                 + ", ".join(sorted(BROKEN - caught)))
    print("same bits for 1, 2 and 4 threads; the broken twin was caught in", ", ".join(sorted(caught)))


main()

#!/usr/bin/env python3
"""Runs the determinism probe with 1, 2 and 4 threads, several times: its lines must never differ. The broken twin of the
probe must be caught by the same comparison. `determinism.py BIN_DIR`"""
import pathlib
import subprocess
import sys


def outputs(program: pathlib.Path, repeats: int) -> set[str]:
    return {subprocess.run([program, str(threads)], capture_output=True, text=True, check=True).stdout
            for _ in range(repeats) for threads in (1, 2, 4)}


def main():
    folder = pathlib.Path(sys.argv[1])
    seen = outputs(folder / "determinism_probe", 3)
    if len(seen) != 1:
        sys.exit("results depend on the number of threads:\n" + "\n".join(seen))
    broken = outputs(folder / "determinism_probe_broken", 5)
    if len(broken) == 1:
        sys.exit("the twin that joins a reduction in order of arrival was not caught: this test has no teeth")
    print("same bits for 1, 2 and 4 threads; the broken twin was caught")


main()

#!/usr/bin/env python3
"""Runs the commands that the documentation shows. `run_docs.py BIN_DIR PAGE...`

In every ```console block, a line `$ command` is run by bash in one scratch folder per page, with `sunder` on the path;
the lines below it are what it must print (standard output and error together). `...` stands for any text, alone on a
line for any lines. A command that must fail ends in `# exit 2`."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(text: str):
    inside, start = None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if inside is None and line.strip() == "```console":
            inside, start = [], number
        elif inside is not None and line.strip() == "```":
            yield start, inside
            inside = None
        elif inside is not None:
            inside.append((number, line))


def pattern(lines: list[str]) -> re.Pattern:
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"[ ]*\n")
    return re.compile("".join(parts) + r"\s*\Z")


def run_page(page: pathlib.Path, bin_dir: str) -> tuple[int, list[str]]:
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PATH=bin_dir + os.pathsep + os.environ["PATH"])
        for _, lines in blocks(page.read_text()):
            commands = []
            for number, line in lines:
                if line.startswith("$ "):
                    commands.append((number, line[2:], []))
                elif commands:
                    commands[-1][2].append(line)
            for number, command, expected in commands:
                count += 1
                wanted = re.search(r"# exit (\d+)\s*$", command)
                result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
                place = f"{page}:{number}: {command}"
                if result.returncode != (int(wanted[1]) if wanted else 0):
                    failures.append(f"{place}\n  ended with {result.returncode}\n{result.stdout}")
                elif expected and not pattern(expected).match(result.stdout):
                    failures.append(f"{place}\n  printed\n{result.stdout}\n  where the page shows\n" + "\n".join(expected))
    return count, failures


def main():
    bin_dir, pages = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    total, failures = 0, []
    for page in pages:
        count, failed = run_page(page, bin_dir)
        total += count
        failures += failed
    print("\n\n".join(failures))
    print(f"{total - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures or total == 0 else 0)


main()

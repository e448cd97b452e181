#!/usr/bin/env python3
"""Fails when a C++ file is not as clang-format would write it, longer than 800 lines, or has blanks at a line's end.
`format.py ROOT [--self-test]`."""
import pathlib
import subprocess
import sys
import tempfile

FOLDERS = ("sunder", "apps", "bench", "examples", "tests")
LONGEST = 800


def sources(root: pathlib.Path) -> list[pathlib.Path]:
    return sorted(p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp"))


def complaints(root: pathlib.Path) -> list[str]:
    files = sources(root)
    found = [f"{p.relative_to(root)}: {count} lines; split it (one idea a file, at most {LONGEST})"
             for p in files if (count := p.read_text().count("\n")) > LONGEST]
    style = f"--style=file:{root / '.clang-format'}"
    for start in range(0, len(files), 40):
        result = subprocess.run(["clang-format", style, "--dry-run", "-Werror", *map(str, files[start:start + 40])],
                                capture_output=True, text=True)
        if result.returncode:
            found += [line for line in result.stderr.splitlines() if "error:" in line][:20] or [result.stderr]
    return found


def self_test(root: pathlib.Path):
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder)
        (broken / ".clang-format").write_text((root / ".clang-format").read_text())
        (broken / "sunder").mkdir()
        (broken / "sunder/a.cpp").write_text("int  main( ){return 0 ;}\n")
        (broken / "sunder/b.h").write_text("\n" * (LONGEST + 1))
        if len(complaints(broken)) < 2:
            raise SystemExit("self-test: an unformatted and an overlong file went unnoticed")
    print("self-test: the rule bites")


def main():
    root = pathlib.Path(sys.argv[1])
    if "--self-test" in sys.argv:
        self_test(root)
    found = complaints(root)
    print("\n".join(found) + "\nrun: clang-format -i FILE" if found else "every file is formatted")
    sys.exit(1 if found else 0)


main()

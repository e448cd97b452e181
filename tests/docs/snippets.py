#!/usr/bin/env python3
"""Code that the documentation shows comes from sources that are built and tested. A block that begins with the line
    // examples/file.cpp, "name"
must be what stands in that file between "// docs: name" and "// docs: end". Fails where it is not; --write mends the page.
`snippets.py ROOT [--write | --self-test]`."""
import pathlib
import re
import sys
import tempfile
import textwrap

BLOCK = re.compile(r'```cpp\n// (\S+), "([\w-]+)"\n(.*?)```', re.S)


def region(source: pathlib.Path, name: str) -> str:
    lines, out, inside = source.read_text().splitlines(), [], False
    for line in lines:
        mark = re.match(r"\s*// docs: ([\w-]+)$", line)
        if mark:
            if inside and mark[1] == "end":
                return textwrap.dedent("\n".join(out)).strip("\n") + "\n"
            inside = inside or mark[1] == name
        elif inside:
            out.append(line)
    raise SystemExit(f"{source}: there is no part \"{name}\"")


def check(root: pathlib.Path, write: bool) -> list[str]:
    wrong = []
    for page in sorted((root / "docs").rglob("*.md")):
        text = page.read_text()

        def replaced(match):
            wanted = region(root / match[1], match[2])
            if match[3] != wanted:
                wrong.append(f"{page.relative_to(root)}: \"{match[2]}\" is not what {match[1]} has")
            return f"```cpp\n// {match[1]}, \"{match[2]}\"\n{wanted}```"

        new = BLOCK.sub(replaced, text)
        if write and new != text:
            page.write_text(new)
    return wrong


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "a.cpp").write_text("int x;\n  // docs: one\n  int y;\n  // docs: end\nint z;\n")
        page = root / "docs/page.md"
        page.write_text('text\n```cpp\n// a.cpp, "one"\nint q;\n```\n')
        if not check(root, True) or check(root, False) or "int y;\n```" not in page.read_text():
            raise SystemExit("self-test: a block that differs was not found or not mended")


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    problems = check(pathlib.Path(sys.argv[1]), "--write" in sys.argv)
    if problems and "--write" not in sys.argv:
        raise SystemExit("\n".join(problems + ["tests/docs/snippets.py . --write takes the code over"]))

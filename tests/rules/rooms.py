#!/usr/bin/env python3
"""Fails when a file of one room includes a header of a room that docs/architecture.md does not allow it to use, when a room is
missing from the table, when a room looks outside the rooms, when headers include each other in a circle, when the concepts of
a room (its sub-folders, and what stands in the room's folder itself) use each other in a circle, when a folder has more
than MOST_FILES files, or when a test writes where another test running beside it could. `rooms.py ROOT [--self-test]`."""
import pathlib
import re
import sys
import tempfile

ROW = re.compile(r"^\|\s*\d+\s*\|\s*`(\w+)`\s*\|[^|]*\|\s*([^|]*?)\s*\|\s*$")
MOST_FILES = 60  # of a folder; 30 is a good number
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def allowed_rooms(architecture: str) -> dict[str, set[str]]:
    """Room -> every room it may use, its own and those of the rooms it may use included."""
    direct = {}
    for line in architecture.splitlines():
        row = ROW.match(line)
        if row:
            direct[row[1]] = set() if row[2] == "-" else {name.strip() for name in row[2].split(",")}
    closure = {}

    def close(room, path):
        if room in path:
            raise SystemExit(f"docs/architecture.md: the rooms {' -> '.join(path + [room])} use each other in a circle")
        if room not in closure:
            closure[room] = {room}
            for other in direct[room]:
                closure[room] |= close(other, path + [room])
        return closure[room]

    for room in direct:
        close(room, [])
    return closure


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Nodes that lead back to the first of them, or nothing."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return []
        path.append(node)
        for other in sorted(graph.get(node, ())):
            if found := visit(other):
                return found
        path.pop()
        done.add(node)
        return []

    for node in sorted(graph):
        if found := visit(node):
            return found
    return []


def circles(root: pathlib.Path) -> list[str]:
    """Headers that include each other, and concepts of one room that use each other."""
    headers, concepts = {}, {}
    for path in (root / "sunder").rglob("*"):
        if path.suffix not in (".h", ".cpp"):
            continue
        name = path.relative_to(root)
        targets = [m[1] for m in map(INCLUDE.match, path.read_text().splitlines()) if m and m[1].startswith("sunder/")]
        if path.suffix == ".h":
            headers[str(name)] = set(targets)
        own = "/".join(name.parts[1:-1])
        for target in targets:
            other = "/".join(target.split("/")[1:-1])
            if other != own and other.split("/")[0] == name.parts[1]:
                concepts.setdefault(own, set()).add(other)
    found = []
    if around := circle(headers):
        found.append("headers include each other: " + " -> ".join(around))
    if around := circle(concepts):
        found.append("concepts of a room use each other: " + " -> ".join(around))
    return found


def violations(root: pathlib.Path) -> list[str]:
    allowed = allowed_rooms((root / "docs/architecture.md").read_text())
    if not allowed:
        return ["docs/architecture.md: no table of rooms found"]
    found = circles(root)
    for folder in sorted(p for p in (root / "sunder").rglob("*") if p.is_dir()):
        files = sum(p.suffix in (".h", ".cpp") for p in folder.iterdir())
        if files > MOST_FILES:
            found.append(f"{folder.relative_to(root)}: {files} files; sort them into sub-folders by concept")
    for path in sorted((root / "sunder").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        name = path.relative_to(root)
        room = name.parts[1]
        if room not in allowed:
            found.append(f"{name}: the room '{room}' is not in the table of docs/architecture.md")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            target = include[1].split("/")
            if target[0] in ("apps", "bench", "tests") or ".." in target:
                found.append(f"{name}:{number}: a room may not look into {include[1]}")
            elif target[0] == "sunder" and target[1] not in allowed[room]:
                found.append(f"{name}:{number}: '{room}' may not use '{target[1]}'")
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix in (".h", ".cpp") and path.name != "temporary_folder.h":
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if "temp_directory_path" in line:
                    found.append(f"{path.relative_to(root)}:{number}: use TemporaryFolder, tests run side by side")
    return found


def self_test():
    """The rule must bite: a tree that breaks it in each way is reported, one that keeps it is not."""
    table = "| 0 | `base` | x | - |\n| 1 | `geometry` | x | base |\n| 2 | `spatial` | x | geometry |\n"
    cases = {
        'sunder/base/loop.h': ('#include "sunder/base/loop.h"\n', "headers include each other"),
        'sunder/base/a.h': ('#include "sunder/geometry/b.h"\n', "'base' may not use 'geometry'"),
        'sunder/geometry/b.cpp': ('#include "apps/sunder/command.h"\n', "may not look into"),
        'sunder/attic/c.h': ('', "not in the table"),
        'tests/sdf/e_test.cpp': ('auto p = temp_directory_path() / "x";\n', "use TemporaryFolder"),
        'sunder/spatial/d.h': ('#include "sunder/base/a.h"\n#include <sunder/geometry/b.h>\n#include <vector>\n', None),
    }
    for file, (content, expected) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/architecture.md").write_text(table)
            path = root / file
            path.parent.mkdir(parents=True)
            path.write_text(content)
            found = violations(root)
            if expected is None and found or expected is not None and not any(expected in line for line in found):
                raise SystemExit(f"self-test: {file} gave {found}, expected {expected}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, target in (("sunder/base/file.h", ""), ("sunder/base/io/disk.cpp", "base/file.h"), ("sunder/base/io/disk.h", ""),
                             ("sunder/base/file.cpp", "base/io/disk.h")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f'#include "sunder/{target}"\n' if target else "")
        if not any("concepts of a room" in line for line in circles(root)):
            raise SystemExit("self-test: a circle of concepts was not found")
    print("self-test: the rule bites")


def main():
    if "--self-test" in sys.argv:
        self_test()
    found = violations(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "every room keeps to its rooms")
    sys.exit(1 if found else 0)


main()

#!/usr/bin/env python3
"""What took longest in a run of the tests. `times.py BUILD_DIR SINCE [--limit SECONDS]`

Reads BUILD_DIR/times.xml, which ctest writes with --output-junit; sources are those that were compiled there after SINCE
(seconds since 1970). With --limit, quick tests stay quick: one that took longer runs again, alone, and fails if it takes as
long again. Fuzzing and the build of an installed program take as long as they are given and are left out. Unit tests of more
than SLOW seconds that slow_tests.txt does not name are listed."""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SHOWN = 10
SLOW = 2
AS_LONG_AS_GIVEN = ("fuzz/", "install/")
SLOW_TESTS = pathlib.Path(__file__).resolve().parents[1] / "slow_tests.txt"


def tests(path):
    """(seconds, name) of every test that ran."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return sorted(((float(c.get("time", 0)), c.get("name")) for c in cases if c.get("status") == "run"), reverse=True)


def sources(build, since):
    """(seconds, object file) of every source that was compiled after `since`."""
    times = {}
    log = build / ".ninja_log"
    for line in log.read_text().splitlines()[1:] if log.exists() else []:
        start, end, _, name, *_ = line.split("\t")
        path = build / name
        if name.endswith((".o", ".gch", ".pch")) and path.exists() and path.stat().st_mtime > since:
            times[name] = (int(end) - int(start)) / 1000
    return sorted(((seconds, name) for name, seconds in times.items()), reverse=True)


def show(title, rows):
    if rows:
        print(f"{title}, {sum(seconds for seconds, _ in rows):.0f} s in all; the slowest:")
        for seconds, name in rows[:SHOWN]:
            print(f"  {seconds:7.1f} s  {name}")


def alone(build, name):
    """How long a test takes with nothing beside it: of the clock or, where others use the machine, of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "times.xml"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["ctest", "--test-dir", build, "-R", f"^{re.escape(name)}$", "--output-junit", result],
                       stdout=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return min(max((seconds for seconds, _ in tests(result)), default=0), worked)


def too_slow(build, ran, limit):
    """(seconds, name) of tests above the limit, also alone."""
    over = [name for seconds, name in ran if seconds > limit and not name.startswith(AS_LONG_AS_GIVEN)]
    again = [(alone(build, name), name) for name in over]
    return [(seconds, name) for seconds, name in again if seconds > limit]


def unlisted(ran):
    """(seconds, name) of slow unit tests that the sanitizers would take for quick ones."""
    listed = set(SLOW_TESTS.read_text().split("\n"))
    rows = [(seconds, re.fullmatch(r"[a-z]+/([\w/]+\.[\w/]+)", name)) for seconds, name in ran if seconds > SLOW]
    return [(seconds, name[1]) for seconds, name in rows
            if name and name[1] not in listed and not re.match(r"\w*Full\.", name[1])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("since", type=float)
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    ran = tests(options.build / "times.xml")
    compiled = sources(options.build, options.since)
    show(f"{len(ran)} tests", ran)
    show(f"{len(compiled)} objects compiled", compiled)
    if options.limit is None:
        return
    if missing := unlisted(ran):
        print(f"above {SLOW} s and not in tests/slow_tests.txt: " + ", ".join(f"{name} ({s:.1f} s)" for s, name in missing))
    slow = too_slow(options.build, ran, options.limit)
    for seconds, name in slow:
        print(f"{name} took {seconds:.1f} s, also alone; a quick test may take {options.limit:g} s (make it smaller, or "
              "move it into the heavy tier)")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What took longest in a run of the tests. `times.py BUILD_DIR SINCE [--limit SECONDS]`, `times.py --self-test`

Reads BUILD_DIR/times.xml, which ctest writes with --output-junit; sources are those that were compiled there after SINCE
(seconds since 1970). With --limit, quick tests stay quick: one that took longer runs again alone, at most twice, and is a
failure if neither run keeps the limit. In a run during which other programs used more than BUSY of the machine's processors,
BUSY_FACTOR times the limit is allowed: two threads that share a core take that much longer, also in processor time. Fuzzing and
the build of an installed program take as long as they are given and are left out. Unit tests of more than SLOW seconds that
slow_tests.txt does not name are listed."""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

SHOWN = 10
SLOW = 2
BUSY = 0.1
BUSY_FACTOR = 1.5
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


def processor_seconds():
    """What all programs of the machine have used of its processors so far, with what a virtual machine had to wait."""
    user, nice, system, _, _, interrupt, softirq, steal = map(int, open("/proc/stat").readline().split()[1:9])
    return (user + nice + system + interrupt + softirq + steal) / os.sysconf("SC_CLK_TCK")


def alone(build, name):
    """Runs a test with nothing of ours beside it. Returns the seconds that it takes (of the clock or, where others use the
    machine, of the processor) and the part of all processors that others used in the meantime."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "times.xml"
        before, all_before, start = resource.getrusage(resource.RUSAGE_CHILDREN), processor_seconds(), time.monotonic()
        subprocess.run(["ctest", "--test-dir", build, "-R", f"^{re.escape(name)}$", "--output-junit", result],
                       stdout=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        others = (processor_seconds() - all_before - worked) / ((time.monotonic() - start) * os.cpu_count())
        return min(max((seconds for seconds, _ in tests(result)), default=0), worked), others


def too_slow(ran, limit, run_alone):
    """(seconds, name) of tests above the limit, also in two runs alone: the shorter one. `run_alone` takes a name and returns
    what alone() does."""
    slow = []
    for name in (name for seconds, name in ran if seconds > limit and not name.startswith(AS_LONG_AS_GIVEN)):
        runs = []
        for _ in range(2):
            seconds, others = run_alone(name)
            if seconds <= limit * (BUSY_FACTOR if others > BUSY else 1):
                break
            runs.append(seconds)
        else:
            slow.append((min(runs), name))
    return slow


def unlisted(ran):
    """(seconds, name) of slow unit tests that the sanitizers would take for quick ones."""
    listed = set(SLOW_TESTS.read_text().split("\n"))
    rows = [(seconds, re.fullmatch(r"[a-z]+/([\w/]+\.[\w/]+)", name)) for seconds, name in ran if seconds > SLOW]
    return [(seconds, name[1]) for seconds, name in rows
            if name and name[1] not in listed and not re.match(r"\w*Full\.", name[1])]


def self_test():
    ran = [(20, "cli/a"), (15, "fuzz/b"), (11, "cli/c"), (3, "cli/d")]

    def found(runs):
        left = {name: list(rows) for name, rows in runs.items()}
        rows = too_slow(ran, 10, lambda name: left[name].pop(0))
        assert not any(left.values()), "a run too few"
        return rows

    assert found({"cli/a": [(9, 0)], "cli/c": [(12, 0), (10, 0)]}) == []
    assert found({"cli/a": [(13, 0), (12, 0)], "cli/c": [(11, 0.05), (16, 0.9)]}) == [(12, "cli/a"), (11, "cli/c")]
    assert found({"cli/a": [(14, 0.5)], "cli/c": [(16, 0.5), (14, 0.2)]}) == []
    before = processor_seconds()
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
    assert processor_seconds() - before > 0.05, "/proc/stat does not count"


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
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
    slow = too_slow(ran, options.limit, lambda name: alone(options.build, name))
    for seconds, name in slow:
        print(f"{name} took {seconds:.1f} s in the better of two runs alone; a quick test may take {options.limit:g} s (make it smaller, or "
              "move it into the heavy tier)")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()

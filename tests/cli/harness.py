"""Runs the `sunder` command for the tests in this folder: `python3 -m unittest`, with SUNDER_BIN naming the folder of
the programs and SUNDER_SHARED_DATA the folder of public test data (tests that need it skip without it)."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

BIN = pathlib.Path(os.environ["SUNDER_BIN"])
DATA = pathlib.Path(os.environ.get("SUNDER_SHARED_DATA", "/nonexistent"))

# Arguments that make large scenes small: fewer bodies, larger particles. The pile still takes long to make its shapes.
SMALLER = {name: ["--set", change] for name, change in {
    "bottle-pours": "fluid.radius=0.002", "buoyancy": "fluid.radius=0.02", "double-dam": "fluid.radius=0.025", "mill": "fluid.radius=0.014",
    "pile": "arrays.pile.fill.count=100", "propeller": "fluid.radius=0.02", "stairs": "fluid.radius=0.014",
    "temple": "fluid.radius=0.05", "waterfall": "fluid.radius=0.02"}.items()}

# A unit cube of quads, corners 0 and 1: distances and hits have formulas.
CUBE_OBJ = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""


def without_times(text):
    """statistics.csv without the seconds of stages, which no two runs share."""
    rows = list(csv.reader(io.StringIO(text)))
    keep = [i for i, name in enumerate(rows[0]) if not name.startswith("seconds")]
    return [[row[i] for i in keep] for row in rows]


class CommandTest(unittest.TestCase):
    """Every test gets a scratch folder of its own, which is where the command runs."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_sunder(self, *arguments, timeout=60):
        return subprocess.run([BIN / "sunder", *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, timeout=timeout)

    def ok(self, *arguments, timeout=60):
        """Runs a command that must succeed; returns what it printed."""
        result = self.run_sunder(*arguments, timeout=timeout)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result.stdout

    def json(self, *arguments):
        """Runs a command with --json; standard output must be exactly one JSON object."""
        return json.loads(self.ok(*arguments, "--json"))

    def refused(self, *arguments, code=2, says=()):
        """Runs a command that must be refused: exit code, one line on standard error that says all of `says`,
        and no file left that was not there before."""
        before = sorted(self.folder.rglob("*"))
        result = self.run_sunder(*arguments)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        for text in says:
            self.assertIn(text, lines[0])
        self.assertEqual(sorted(self.folder.rglob("*")), before, "something was written")
        return lines[0]

    def exports(self, run, formats, every=1, timeout=60):
        """Name and content of every file of every export of a run; of formats but tables every so many frames."""
        files = {}
        for form in formats:
            target = self.folder / "exports" / form
            shutil.rmtree(target, ignore_errors=True)
            self.ok("export", run, "--to", form, "-o", target, "--every", 1 if form == "csv" else every, timeout=timeout)
            for path in sorted(target.rglob("*")) if target.is_dir() else [target]:
                content = path.read_bytes()
                if path.name == "statistics.csv":
                    content = without_times(content.decode())
                files[f"{form}/{path.name}"] = content
        return files

    def peak(self, arguments, timeout=60, code=None):
        """Bytes of memory that a command took at most, whatever it returned if no exit code is expected."""
        with open(os.devnull, "w") as nowhere:
            process = subprocess.Popen([BIN / "sunder", *map(str, arguments)], cwd=self.folder, stdout=nowhere, stderr=nowhere)
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertGreaterEqual(process.returncode, 0, f"{arguments}: ended by a signal")
        if code is not None:
            self.assertEqual(process.returncode, code, arguments)
        return 1024 * usage.ru_maxrss

    def need_data(self, name):
        path = DATA / name
        if not path.exists():
            self.skipTest(f"no {name} in the shared data")
        return path


def sunder(*arguments, **options):
    """Runs a command wherever; what subprocess.run returns."""
    return subprocess.run([BIN / "sunder", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


class RunTest(unittest.TestCase):
    """All tests of a class share one folder with a short run in it, `cls.root / "run"`: a ball and a box on the ground."""

    BALL = "steel"  # its material

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name)
        ball = {"id": "ball", "shape": {"sphere": {"radius": 0.2}}, "material": cls.BALL, "position": [0, 0.25, 0]}
        box = {"id": "box", "shape": {"box": {"size": [0.3, 0.3, 0.3]}}, "material": "oak", "position": [0.6, 0.2, 0]}
        ground = {"id": "ground", "shape": {"plane": {}}, "kind": "static"}
        (cls.root / "scene.json").write_text(json.dumps({"world": {"frames": 12}, "bodies": [ground, ball, box]}))
        result = sunder("run", cls.root / "scene.json", "-o", cls.root / "run", "--quiet")
        assert result.returncode == 0, result.stderr

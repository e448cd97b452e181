"""`sunder run --resume` on recordings whose last checkpoint was damaged and given the right hashes again: refused in one
line, or the run goes on; never a crash, never gigabytes, and the recording opens as before. SUNDER_PLACES=300 changes
the state at so many places, 12 without it."""
import json
import os
import subprocess
import tempfile
import unittest

from harness import BIN, CommandTest

PLACES = int(os.environ.get("SUNDER_PLACES", 12))
MOST_BYTES = 1 << 30

BRITTLE = {
    "world": {"frames": 6, "timeStep": "1/120 s", "seed": 3},
    "shapes": {"bar": {"box": {"size": ["40 cm", "4 cm", "6 cm"]}}},
    "bodies": [
        {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
        {"id": "bar", "shape": "bar", "material": "oak", "position": [0.5, 0.03, 0], "velocity": [0, -3, 0],
         "fracture": {"model": "voronoi", "pieces": 4, "impulse": "0.1 N s", "edge": "4 cm"}},
        {"id": "arm", "shape": {"box": {"size": [0.3, 0.02, 0.02]}}, "position": [2.15, 0.5, 0]}],
    "joints": [{"id": "pin", "kind": "hinge", "b": "arm", "anchor": [2, 0.5, 0], "axis": [0, 0, 1]}],
    "recording": {"checkpointFrames": 3}}

WET = {
    "world": {"frames": 6, "seed": 3},
    "bodies": [{"id": "light", "shape": {"sphere": {"radius": "8 cm"}}, "material": "oak", "position": [0.2, 0.2, 0.15]},
               {"id": "floor", "shape": {"plane": {}}, "kind": "static"}],
    "fluid": {"radius": "3 cm", "tank": {"lower": [0, 0, 0], "upper": [0.4, 1, 0.3]}, "liquids": [
        {"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.4, 0.2, 0.3]}],
         "emitters": [{"position": [0.2, 0.6, 0.15], "direction": [0, -1, 0], "radius": "5 cm", "speed": 2}]}]},
    "recording": {"checkpointFrames": 3}}


class HostileTest(CommandTest):
    def resumed(self, folder):
        """Exit code, lines on standard error and most bytes of memory."""
        with tempfile.TemporaryFile("w+") as text:
            process = subprocess.Popen([BIN / "sunder", "run", "--resume", folder, "--frames", "8", "--quiet"], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=text)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            text.seek(0)
            return process.returncode, text.read().splitlines(), 1024 * usage.ru_maxrss

    def try_scene(self, scene):
        (self.folder / "scene.json").write_text(json.dumps(scene))
        self.ok("run", "scene.json", "-o", "whole", "-q")
        before = self.json("info", "whole")
        wanted = self.exports("whole/run.sunder", ("csv",))
        made = subprocess.run([BIN / "hostile_run", "whole/run.sunder", "bad", str(PLACES), "0"], cwd=self.folder,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(made.returncode, 0, made.stderr)
        lines = made.stdout.splitlines()
        self.assertEqual(len(lines), PLACES)
        refused = 0
        for line in lines:
            number, _, _, loads = line.split()
            folder = f"bad/{number}"
            content = (self.folder / folder / "run.sunder").read_bytes()
            code, said, peak = self.resumed(folder)
            self.assertIn(code, (0, 1) if loads == "loads" else (2,), f"{line}: {said}")
            self.assertEqual(len(said), 0 if code == 0 else 1, f"{line}: {said}")
            self.assertLess(peak, MOST_BYTES, line)
            if code == 2:
                refused += 1
                self.assertIn("run.sunder", said[0])
                self.assertEqual((self.folder / folder / "run.sunder").read_bytes(), content, line)
            info = self.json("info", folder)
            self.assertEqual(info["problems"], [], line)
            self.assertGreaterEqual(info["frames"], before["frames"], line)
            got = self.exports(f"{folder}/run.sunder", ("csv",))
            if code == 2:
                self.assertEqual(got, wanted, line)
        self.assertGreater(refused, 0, "every state was taken")


class Brittle(HostileTest):
    def test_brittle_bodies_and_joints(self):
        self.try_scene(BRITTLE)


class Liquids(HostileTest):
    def test_liquids(self):
        self.try_scene(WET)


if __name__ == "__main__":
    unittest.main()

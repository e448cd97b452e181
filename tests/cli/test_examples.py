"""The example programs: their recordings are recordings as those of scene files are."""
import csv
import pathlib
import subprocess
import unittest

from harness import BIN, CommandTest


class CppScene(CommandTest):
    def simulate(self, file, *words):
        done = subprocess.run([BIN / "cpp_scene", file, *words], cwd=self.folder, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()[-1]

    def test_its_run_is_replayed_resumed_and_shown(self):
        whole = self.simulate("whole/run.sunder")
        info = self.json("info", "whole")
        self.assertEqual(info["frames"], 61)
        self.ok("replay", "whole", "--quiet")
        self.simulate("half/run.sunder", "30")
        resumed = self.json("run", "half", "--resume", "--frames", "60")
        self.assertEqual(resumed["hash"], whole)
        self.ok("export", "whole", "--to", "csv", "-o", "tables", "--quiet")
        rows = (self.folder / "tables/bodies.csv").read_text()
        self.assertIn("brick 5", rows)

    def test_the_stack_falls(self):
        self.simulate("run.sunder")
        self.ok("export", "run.sunder", "--to", "csv", "-o", "tables", "--quiet")
        with open(self.folder / "tables/bodies.csv") as table:
            rows = list(csv.DictReader(table))
        heights = {row["frame"]: float(row["y"]) for row in rows if row["name"] == "brick 5"}  # of the top brick
        self.assertAlmostEqual(heights["0"], 0.55, 6)
        self.assertLess(heights["60"], 0.5)

    def test_what_is_wrong_is_said(self):
        done = subprocess.run([BIN / "cpp_scene"], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage", done.stderr)


class Swarm(CommandTest):
    SCENE = pathlib.Path(__file__).resolve().parents[2] / "examples/swarm.json"

    def test_a_run_of_a_part_from_outside_is_shown_by_the_command(self):
        done = subprocess.run([BIN / "swarm", self.SCENE, "run.sunder"], cwd=self.folder, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.json("info", "run.sunder")["frames"], 91)
        self.ok("render", "run.sunder", "--frame", "20", "--size", "160x90", "--samples", "1", "-o", "swarm.png", "--quiet")
        self.assertGreater((self.folder / "swarm.png").stat().st_size, 1000)
        self.ok("export", "run.sunder", "--to", "vtk", "-o", "vtk", "--quiet")
        # Only programs that know the part can simulate it.
        self.refused("replay", "run.sunder", says=["swarm"])


if __name__ == "__main__":
    unittest.main()

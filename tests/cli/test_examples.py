"""The example programs: their recordings are recordings as those of scene files are."""
import json
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
        self.assertTrue(any((self.folder / "tables").glob("*.csv")))

    def test_what_is_wrong_is_said(self):
        done = subprocess.run([BIN / "cpp_scene"], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()

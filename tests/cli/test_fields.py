"""sunder sdf, surface and voxelize: answers against formulas, files that come back, pictures, and bad input."""
import csv
import math
import random
import struct
import unittest

from harness import CommandTest


class Fields(CommandTest):
    def make_ball(self):
        self.json("shape", "icosphere", "--set", "frequency=16", "--set", "radius=1", "-o", "ball.obj")
        return self.json("sdf", "ball.obj", "--error", "2e-3", "-o", "ball.sdf")

    def test_a_ball_has_the_distances_of_a_ball(self):
        made = self.make_ball()
        self.assertLess(made["measured_error"], 2e-3)
        self.assertEqual(made["sign_rule"], "pseudo-normals")
        self.assertEqual(made["end"], "target met")
        self.assertEqual(made["problems"], [])
        radius = 1
        source = random.Random(1)
        points = [[source.uniform(-radius, radius) for _ in range(3)] for _ in range(500)]
        (self.folder / "points.csv").write_text("".join(",".join(map(repr, p)) + "\n" for p in points))
        asked = self.json("sdf", "ball.sdf", "--query", "points.csv", "-o", "out.csv")
        self.assertEqual(asked["points"], 500)
        with open(self.folder / "out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        squares = 0
        for p, row in zip(points, rows):
            squares += (float(row["distance"]) - (math.hypot(*p) - radius)) ** 2
        self.assertLess(math.sqrt(squares / 500), 4e-3)
        self.assertEqual(asked["inside"], sum(float(r["distance"]) < 0 for r in rows))

    def test_a_field_describes_itself(self):
        made = self.make_ball()
        told = self.json("sdf", "ball.sdf")
        for name in ("cells", "coefficients", "bytes", "cells_by_degree", "target_error", "measured_error"):
            self.assertEqual(made[name], told[name])

    def test_slices_are_pictures(self):
        self.make_ball()
        self.json("sdf", "ball.sdf", "--slice", "z=0", "-o", "slice.png", "--height", "100")
        data = (self.folder / "slice.png").read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        self.assertEqual(height, 100)
        self.assertGreaterEqual(width, 200)

    def test_the_surface_is_closed_and_near(self):
        self.make_ball()
        made = self.json("surface", "ball.sdf", "--edge", "0.1", "-o", "back.ply")
        self.assertTrue(made["watertight"] and made["manifold"])
        self.assertLess(made["error_rms"], 0.01)
        self.assertTrue(self.json("info", "back.ply")["watertight"])

    def test_continuity_lowers_the_jumps(self):
        self.json("shape", "icosphere", "--set", "frequency=8", "-o", "ball.obj")
        made = self.json("sdf", "ball.obj", "--error", "5e-3", "--continuity", "3", "-o", "smooth.sdf")
        self.assertTrue(made["continuity"]["converged"])
        self.assertLess(made["continuity"]["jump_energy_ratio"], 0.6)

    def test_memory_limit_leaves_the_best_so_far(self):
        self.json("shape", "icosphere", "--set", "frequency=8", "-o", "ball.obj")
        made = self.json("sdf", "ball.obj", "--error", "1e-9", "--memory", "0.1", "-o", "small.sdf")
        self.assertEqual(made["end"], "memory limit")
        self.assertGreater(made["measured_error"], 1e-9)
        self.assertTrue((self.folder / "small.sdf").exists())

    def test_open_meshes_are_told(self):
        (self.folder / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
        made = self.json("sdf", "open.obj", "--error", "0.02", "-o", "open.sdf")
        self.assertEqual(made["sign_rule"], "winding number")
        self.assertTrue(any("only one face" in p for p in made["problems"]))

    def test_voxels_of_the_box(self):
        self.json("shape", "box", "-o", "box.obj")
        made = self.json("voxelize", "box.obj", "-n", "32", "-o", "particles.csv")
        self.assertEqual((made["inside"], made["particles"]), (32768, 10963))
        self.assertEqual(made["particles_by_level"], [10816, 0, 127, 19, 1])
        with open(self.folder / "particles.csv", newline="") as file:
            volume = sum((2 * float(row["radius"])) ** 3 for row in csv.DictReader(file))
        self.assertAlmostEqual(volume, 1, places=9)

    def test_meshes_without_extent_are_named(self):
        (self.folder / "point.obj").write_text("v 1 1 1\n" * 3 + "f 1 2 3\n")
        for arguments in (("sdf", "point.obj", "-o", "f.sdf"), ("voxelize", "point.obj")):
            self.refused(*arguments, says=["point.obj: all vertices are in one place"])

    def test_bad_input(self):
        self.make_ball()
        for arguments in (("sdf", "ball.obj"), ("sdf", "ball.obj", "-o", "x.obj"), ("sdf", "missing.sdf"),
                          ("sdf", "ball.obj", "-o", "x.sdf", "--error", "0"), ("sdf", "ball.obj", "-o", "x.sdf", "--error", "nan"),
                          ("sdf", "ball.sdf", "--slice", "q=1", "-o", "x.png"), ("sdf", "ball.sdf", "--slice", "z=99", "-o", "x.png"),
                          ("sdf", "ball.sdf", "--slice", "z=0", "--point", "0,0,0", "-o", "x.png"),
                          ("sdf", "ball.sdf", "--point", "0,nan,0"), ("sdf", "ball.sdf", "-o", "x.sdf"),
                          ("surface", "ball.sdf", "-o", "x.txt"), ("surface", "ball.sdf", "-o", "x.obj", "--edge", "1e-9"),
                          ("surface", "ball.sdf", "-o", "x.obj", "--value", "-7"),
                          ("voxelize", "ball.obj", "-o", "x.obj"), ("voxelize", "ball.sdf")):
            result = self.run_sunder(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("error", result.stderr, arguments)
        self.assertEqual([p.name for p in self.folder.glob("x.*")], [])
        good = (self.folder / "ball.sdf").read_bytes()
        for size in (0, 5, 30, len(good) // 2, len(good) - 1):
            (self.folder / "cut.sdf").write_bytes(good[:size])
            self.assertEqual(self.run_sunder("sdf", "cut.sdf").returncode, 2)


if __name__ == "__main__":
    unittest.main()

"""sunder collide: counts, moving meshes, and what it says to meshes that do not fit."""
import unittest

from harness import CommandTest


class Collide(CommandTest):
    def shape(self, name, file, **parameters):
        self.ok("shape", name, *(w for k, v in parameters.items() for w in ("--set", f"{k}={v}")), "-o", file)

    def moved(self, source, target, dy):
        lines = (self.folder / source).read_text().splitlines()
        def move(line):
            if not line.startswith("v "):
                return line
            x, y, z = map(float, line.split()[1:4])
            return f"v {x!r} {y + dy!r} {z!r}"
        (self.folder / target).write_text("\n".join(map(move, lines)) + "\n")

    def test_the_reference_spheres(self):
        self.shape("rippled-sphere", "a.ply", n=112)
        self.shape("rippled-sphere", "b.ply", n=112, x=0.5, y=0.15, z=0.1)
        result = self.json("collide", "a.ply", "b.ply", "-o", "pairs.csv")
        self.assertEqual(result["triangle_pairs"], 3398)
        self.assertEqual(len((self.folder / "pairs.csv").read_text().splitlines()), 1 + 3398)
        self.assertLessEqual({"build", "traverse", "triangles"}, set(result["seconds"]))

    def test_a_closed_shape_does_not_touch_itself(self):
        self.shape("torus", "t.obj")
        self.assertEqual(self.json("collide", "t.obj")["triangle_pairs"], 0)
        self.assertEqual(self.json("collide", "t.obj", "--self", "--neighbours", "exact")["triangle_pairs"], 0)

    def test_moving_meshes(self):
        self.shape("box", "floor.obj", width=4, height=0.2, depth=4)
        self.shape("icosphere", "ball.obj", radius=0.5)
        self.moved("ball.obj", "high.obj", 2)
        self.moved("ball.obj", "low.obj", -2)
        hit = self.json("collide", "high.obj", "floor.obj", "--ccd", "low.obj", "floor.obj")
        self.assertTrue(hit["contact"])
        self.assertAlmostEqual(hit["time"], (1.5 - 0.1) / 4, delta=1e-3)
        self.assertFalse(self.json("collide", "high.obj", "floor.obj", "--ccd", "high.obj", "floor.obj")["contact"])

    def test_bad_input(self):
        self.shape("box", "a.obj")
        self.shape("torus", "t.obj")
        self.refused("collide", "a.obj", "gone.obj", says=["gone.obj"])
        self.refused("collide", "a.obj", "t.obj", "--self", says=["--self"])
        self.refused("collide", "a.obj", "--ccd", "t.obj", says=["t.obj", "a.obj"])
        self.refused("collide", "a.obj", "t.obj", "--ccd", "t.obj", says=["two files"])
        (self.folder / "empty.off").write_text("OFF\n0 0 0\n")
        self.refused("collide", "a.obj", "empty.off", says=["empty.off"])

    def test_same_bytes_for_any_number_of_threads(self):
        self.shape("rippled-sphere", "a.ply", n=40)
        self.shape("rippled-sphere", "b.ply", n=40, x=0.02)
        outputs = set()
        for threads in (1, 2, 4):
            self.ok("collide", "a.ply", "b.ply", "-o", "pairs.csv", "--threads", threads)
            outputs.add((self.folder / "pairs.csv").read_bytes())
        self.assertEqual(len(outputs), 1)


if __name__ == "__main__":
    unittest.main()

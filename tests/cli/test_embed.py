"""sunder embed: cages around meshes, cages of files, the table of copies, and what is refused."""
import unittest

from harness import CUBE_OBJ, CommandTest


class Embed(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "cube.obj").write_text(CUBE_OBJ)

    def test_statistics_add_up(self):
        self.ok("shape", "torus", "-o", "torus.obj")
        report = self.json("embed", "torus.obj", "--tets", "60", "-o", "torus.soft")
        self.assertTrue((self.folder / "torus.soft").exists())
        self.assertEqual(sum(report["times"]), report["triangles"])
        self.assertEqual(sum((k + 1) * n for k, n in enumerate(report["times"])), report["copies"])
        self.assertAlmostEqual(report["copies"] / report["triangles"], report["copies_per_triangle"])
        self.assertEqual(report["embedded"]["triangles"], report["clipped_triangles"])
        self.assertLess(abs(report["cage"]["tets"] - 60), 15)
        self.assertTrue(report["closed"])
        copies = self.json("embed", "torus.obj", "--tets", "60", "-o", "copies.soft", "--mode", "copies")
        self.assertEqual(copies["embedded"]["triangles"], report["copies"])

    def test_same_bytes_for_any_threads(self):
        self.ok("shape", "torus", "-o", "torus.obj")
        for threads in 1, 2, 4:
            self.ok("embed", "torus.obj", "--tets", "40", "-o", f"{threads}.soft", "--threads", threads)
        first = (self.folder / "1.soft").read_bytes()
        self.assertEqual(first, (self.folder / "2.soft").read_bytes())
        self.assertEqual(first, (self.folder / "4.soft").read_bytes())

    def test_a_cage_of_a_file(self):
        self.ok("shape", "icosphere", "-o", "ball.obj", "--set", "radius=0.9", "--set", "frequency=8")
        self.ok("shape", "icosphere", "-o", "around.obj", "--set", "radius=1.2", "--set", "frequency=8")
        self.ok("tet", "around.obj", "--edge", "0.3", "-o", "cage.msh")
        report = self.json("embed", "ball.obj", "--cage", "cage.msh", "-o", "ball.soft")
        self.assertEqual(report["triangles"], 1280)
        self.assertGreaterEqual(report["copies"], 1280)
        self.assertGreater(report["cage"]["inside"], 0)
        self.refused("embed", "around.obj", "--cage", "cage.msh", "-o", "none.soft",
                     says=["around.obj", "% of the surface is outside the cage, first triangle"])
        self.refused("embed", "ball.obj", "--cage", "cage.msh", "--tets", "5", "-o", "none.soft", says=["--cage"])
        self.refused("embed", "ball.obj", "--cage", "ball.obj", "-o", "none.soft", says=["ball.obj"])

    def test_what_is_refused(self):
        (self.folder / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.refused("embed", "open.obj", "-o", "x.soft", says=["open.obj", "has no inside", "sunder clean"])
        self.refused("embed", "cube.obj", "--tets", "1000000", "-o", "x.soft", says=["cube.obj", "100000 is the most"])
        self.refused("embed", "cube.obj", "--tets", "0", "-o", "x.soft", says=["--tets"])
        self.refused("embed", "cube.obj", "--mode", "both", "-o", "x.soft", says=["--mode"])
        self.refused("embed", "cube.obj", says=["--output"])
        self.refused("embed", "nowhere.obj", "-o", "x.soft", says=["nowhere.obj"])
        self.refused("embed", "cube.obj", "-o", "no/such/folder/x.soft", says=["no/such/folder"])

    def test_a_box_and_quiet(self):
        text = self.ok("embed", "cube.obj", "--tets", "20", "-o", "cube.soft")
        self.assertIn("12 triangles", text)
        self.assertEqual(self.ok("embed", "cube.obj", "--tets", "20", "-o", "cube.soft", "--quiet"), "")


if __name__ == "__main__":
    unittest.main()

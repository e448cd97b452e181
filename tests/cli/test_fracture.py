#!/usr/bin/env python3
"""sunder fracture: pieces are closed and fill the body, weak blows break nothing, bad input is refused with nothing written."""
import unittest

from harness import CUBE_OBJ, CommandTest


class Fracture(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "cube.obj").write_text(CUBE_OBJ)

    def pieces(self, *options):
        """With the surface of the tetrahedra, which is exact, and with that of the mesh."""
        coarse = self.written(*options, "--coarse")
        self.assertLess(abs(coarse["volume_error"]), 1e-9)
        fine = self.written(*options)
        self.assertTrue(fine["fine"])
        self.assertEqual(fine["coarse_pieces"], 0)
        self.assertLess(abs(fine["volume_error"]), 1e-9)
        self.assertEqual(fine["fragments"], coarse["fragments"])
        return fine

    def written(self, *options):
        answer = self.json("fracture", "cube.obj", "--edge", "0.25", "-o", "pieces", *options)
        self.assertEqual(len(list((self.folder / "pieces").glob("piece_*.ply"))), answer["fragments"])
        volume = 0
        for piece in answer["pieces"]:
            info = self.json("info", f"pieces/{piece['file']}")
            self.assertEqual(info["boundary_edges"], 0, piece)
            self.assertGreater(info["volume"], 0, piece)
            volume += info["volume"]
        self.assertAlmostEqual(volume, sum(p["volume"] for p in answer["pieces"]), delta=1e-5)
        return answer

    def test_a_strong_blow_breaks_it(self):
        answer = self.pieces("--material", "plaster", "--speed", "40", "--ball", "0.3")
        self.assertGreater(answer["fragments"], 1)
        self.assertGreater(answer["largest_stress"], answer["strength"])
        self.assertEqual(answer["impact"]["velocity"], [0, -40, 0])
        self.assertAlmostEqual(answer["impact"]["point"][1], 1, delta=0.01)

    def test_pieces_have_the_surface_of_the_mesh_or_of_the_tetrahedra(self):
        self.json("shape", "icosphere", "--set", "radius=0.1", "--set", "frequency=12", "-o", "ball.ply")
        whole = self.json("info", "ball.ply")
        for options, fine in ([], True), (["--coarse"], False):
            answer = self.json("fracture", "ball.ply", "--material", "plaster", "--speed", "40", "--ball", "0.1", "--edge", "0.05", *options)
            self.assertGreater(answer["fragments"], 1)
            self.assertEqual(answer["fine"], fine)
            volume = sum(p["volume"] for p in answer["pieces"])
            self.assertLess(abs(answer["volume_error"]), 1e-9)
            # Tetrahedra lose some of the ball; its own surface does not.
            self.assertEqual(abs(volume / whole["volume"] - 1) < 1e-9, fine)

    def test_a_weak_blow_does_not(self):
        answer = self.pieces("--material", "glass", "--speed", "0.01")
        self.assertEqual(answer["fragments"], 1)
        self.assertEqual(answer["cracks"], [])

    def test_voronoi_cells(self):
        self.assertEqual(self.pieces("--voronoi", "9")["fragments"], 9)

    def test_bad_input_is_refused(self):
        self.refused("fracture", "cube.obj", "--material", "steel", "-o", "p", says=("steel", "brittle"))
        self.refused("fracture", "cube.obj", "--poisson", "0.5", "-o", "p", says=("Poisson",))
        self.refused("fracture", "cube.obj", "--impact", "0,0,0,0,0,0", "-o", "p", says=("no speed",))
        self.refused("fracture", "missing.obj", "-o", "p", says=("missing.obj",))
        (self.folder / "open.obj").write_text(CUBE_OBJ.rsplit("f ", 5)[0])
        self.refused("fracture", "open.obj", "-o", "p", "--quiet", says=("open.obj", "no inside"))


if __name__ == "__main__":
    unittest.main()

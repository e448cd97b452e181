#!/usr/bin/env python3
"""sunder fracture: pieces are closed and fill the body, weak blows break nothing, bad input is refused with nothing written."""
import unittest

from harness import CUBE_OBJ, CommandTest


class Fracture(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "cube.obj").write_text(CUBE_OBJ)

    def pieces(self, *options):
        answer = self.json("fracture", "cube.obj", "--edge", "0.25", "-o", "pieces", *options)
        self.assertEqual(len(list((self.folder / "pieces").glob("piece_*.ply"))), answer["fragments"])
        self.assertLess(abs(answer["volume_error"]), 1e-9)
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

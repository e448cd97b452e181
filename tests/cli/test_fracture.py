#!/usr/bin/env python3
"""sunder fracture: pieces are closed and fill the body, weak blows break nothing, bad input is refused with nothing written.
SUNDER_TIER=full breaks finer bodies."""
import json
import os
import unittest

from harness import CUBE_OBJ, CommandTest

EDGE = "0.25" if os.environ.get("SUNDER_TIER") == "full" else "0.33"


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
        answer = self.json("fracture", "cube.obj", "--edge", EDGE, "-o", "pieces", *options)
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
            answer = self.json("fracture", "ball.ply", "--material", "plaster", "--speed", "40", "--ball", "0.1", "--edge", "0.025", "--cycles", "0", *options)
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
        for strength in "0", "-1", "nan":
            self.refused("fracture", "cube.obj", "--strength", strength, "-o", "p", says=("strength", "above 0"))
        self.refused("fracture", "cube.obj", "--surface-energy", "0", "-o", "p", says=("surface energy", "above 0"))
        self.refused("fracture", "cube.obj", "--impact", "0,nan,0,0,-5,0", "-o", "p", says=("--impact",))
        self.refused("fracture", "cube.obj", "--voronoi", "3000", "--edge", "0.33", "-o", "p", says=("one tetrahedron", "fewer pieces"))
        self.refused("fracture", "missing.obj", "-o", "p", says=("missing.obj",))
        (self.folder / "open.obj").write_text(CUBE_OBJ.rsplit("f ", 5)[0])
        self.refused("fracture", "open.obj", "-o", "p", "--quiet", says=("open.obj", "no inside"))
        # A hundredth as thick as wide: no tetrahedron fits.
        thin = [" ".join((w[0], w[1], str(0.01 * float(w[2])), w[3])) if w[0] == "v" else " ".join(w)
                for w in map(str.split, CUBE_OBJ.strip().splitlines())]
        (self.folder / "thin.obj").write_text("\n".join(thin) + "\n")
        self.refused("fracture", "thin.obj", "--edge", "0.25", "-o", "p", says=("thin.obj", "lose 100 % of the body", "would do"))

    def test_tetrahedra_that_are_flat_or_inverted(self):
        self.ok("tet", "cube.obj", "--edge", "0.4", "-o", "cube.msh")
        self.assertGreater(self.json("fracture", "cube.msh", "--voronoi", "5")["fragments"], 1)
        for name, tets, code in (("inverted", ("2 1 3 4", "2 3 4 5"), 0), ("flat", ("1 2 3 4", "1 2 3 6"), 2)):
            (self.folder / f"{name}.msh").write_text(
                "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n6 0.5 0.5 0\n"
                "$EndNodes\n$Elements\n2\n" + "".join(f"{i} 4 2 0 1 {t}\n" for i, t in enumerate(tets, 1)) + "$EndElements\n")
            if code:
                self.refused("fracture", f"{name}.msh", "-o", "p", "--quiet", says=("flat.msh", "flat tetrahedr"))
            else:
                result = self.run_sunder("fracture", f"{name}.msh", "--voronoi", "3", "--json")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("inverted", result.stderr)

    def test_parts_that_do_not_hang_together(self):
        self.ok("shape", "letters", "--set", "text=UN", "-o", "un.obj")
        self.refused("fracture", "un.obj", "--material", "plaster", "-o", "p", says=("un.obj", "2 parts", "a body of each"))
        self.assertFalse((self.folder / "p").exists())

    def test_infinite_strength_never_breaks(self):
        answer = self.pieces("--material", "plaster", "--speed", "100", "--ball", "0.3", "--strength", "inf")
        self.assertEqual(answer["fragments"], 1)

    def test_an_impact_beside_the_body_acts_on_its_nearest_point(self):
        result = self.run_sunder("fracture", "cube.obj", "--material", "plaster", "--edge", EDGE, "--ball", "0.3",
                                 "--impact", "0.5,7,0.5,0,-40,0", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("6 m from the surface", result.stderr)
        answer = json.loads(result.stdout)
        self.assertAlmostEqual(answer["impact"]["point"][1], 1, delta=0.01)
        self.assertLess(abs(answer["volume_error"]), 1e-4)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""sunder cut: pieces are closed and fill the body, booleans have the volumes they should, bad input is refused by name."""
import unittest

from harness import CUBE_OBJ, CommandTest


class Cut(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "cube.obj").write_text(CUBE_OBJ)
        moved = []
        for line in CUBE_OBJ.splitlines():
            words = line.split()
            if words[:1] == ["v"]:
                words[1:] = [str(float(w) + 0.5) for w in words[1:]]
            moved.append(" ".join(words))
        (self.folder / "moved.obj").write_text("\n".join(moved) + "\n")
        self.volume = self.json("info", "cube.obj")["volume"]

    def total(self, answer):
        return sum(p["volume"] for p in answer["pieces"])

    def test_a_plane_makes_closed_pieces(self):
        middle = self.json("info", "cube.obj")["centre"]
        plane = ",".join(map(str, middle)) + ",0.1,1,0.2"
        answer = self.json("cut", "cube.obj", "--plane", plane, "-o", "halves")
        self.assertEqual(answer["fragments"], 2)
        self.assertAlmostEqual(self.total(answer), self.volume, delta=1e-9)
        for piece in answer["pieces"]:
            info = self.json("info", f"halves/{piece['file']}")
            self.assertTrue(info["watertight"], piece)
            self.assertAlmostEqual(info["volume"], piece["volume"], delta=1e-6)
            self.assertNotEqual(piece["above"], piece["below"])

    def test_the_seam_is_written(self):
        middle = self.json("info", "cube.obj")["centre"]
        plane = ",".join(map(str, middle)) + ",0.1,1,0.2"
        answer = self.json("cut", "cube.obj", "--plane", plane, "--seam", "seam.obj")
        lines = (self.folder / "seam.obj").read_text().splitlines()
        self.assertEqual(sum(line.startswith("v ") for line in lines), answer["seam_points"])
        # A closed line: every point has two segments.
        ends = [int(w) for line in lines if line.startswith("l ") for w in line.split()[1:]]
        self.assertEqual(sorted(ends), sorted(2 * list(range(1, answer["seam_points"] + 1))))
        self.refused("cut", "cube.obj", "--plane", plane, "--seam", "no/such/folder/seam.obj", says=("seam.obj",))

    def test_the_patches_of_the_cutter_are_written(self):
        middle = self.json("info", "cube.obj")["centre"]
        plane = ",".join(map(str, middle)) + ",0.1,1,0.2"
        answer = self.json("cut", "cube.obj", "moved.obj", "--plane", plane, "--patches", "patches.obj")
        patches = answer["patches"]
        self.assertEqual([p["cutter"] for p in patches], [0, 0, 1, 1])
        self.assertEqual([p["inside"] for p in patches].count(True), 2)
        text = (self.folder / "patches.obj").read_text().splitlines()
        self.assertEqual({line.split()[1] for line in text if line.startswith("g ")}, {p["group"] for p in patches})
        self.assertEqual(sum(line.startswith("f ") for line in text), sum(p["faces"] for p in patches))
        self.refused("cut", "cube.obj", "--plane", plane, "--patches", "patches.nothing", says=("patches.nothing",))

    def test_a_sheet(self):
        middle = self.json("info", "cube.obj")["centre"]
        answer = self.json("cut", "cube.obj", "--sheet", ",".join(map(str, middle)) + ",0,1,0", "--triangles")
        self.assertEqual(answer["fragments"], 2)
        self.assertAlmostEqual(self.total(answer), self.volume, delta=1e-9)

    def test_booleans(self):
        def volume(op):
            answer = self.json("cut", "cube.obj", "moved.obj", "--op", op, "-o", f"{op}.ply")
            self.assertTrue(self.json("info", f"{op}.ply")["watertight"], op)
            return self.total(answer)

        common = volume("intersection")
        self.assertGreater(common, 0)
        self.assertAlmostEqual(volume("difference"), self.volume - common, delta=1e-9)
        self.assertAlmostEqual(volume("union"), 2 * self.volume - common, delta=1e-9)
        self.assertAlmostEqual(volume("xor"), 2 * (self.volume - common), delta=1e-9)
        self.assertAlmostEqual(volume("inside"), common, delta=1e-9)
        self.assertAlmostEqual(volume("outside"), self.volume - common, delta=1e-9)
        self.assertAlmostEqual(volume("split"), self.volume, delta=1e-9)

    def test_several_cutters(self):
        middle = self.json("info", "cube.obj")["centre"]
        planes = []
        for normal in ("1,0,0", "0,1,0", "0,0,1"):
            planes += ["--plane", ",".join(map(str, middle)) + "," + normal]
        answer = self.json("cut", "cube.obj", *planes, "--check-rounding", "-o", "eight")
        self.assertEqual(answer["fragments"], 8)
        self.assertEqual(answer["rounding_crossings"], 0)
        for piece in answer["pieces"]:
            self.assertAlmostEqual(piece["volume"], self.volume / 8, delta=1e-9)
            self.assertTrue(self.json("info", f"eight/{piece['file']}")["watertight"], piece)
        both = self.json("cut", "cube.obj", "moved.obj", *planes[:2])
        self.assertAlmostEqual(self.total(both), self.volume, delta=1e-9)
        self.assertEqual(both["fragments"], 3)

    def test_overlapping_parts(self):
        # The cube and the moved cube in one file.
        count = sum(line.startswith("v ") for line in CUBE_OBJ.splitlines())
        shifted = []
        for line in (self.folder / "moved.obj").read_text().splitlines():
            words = line.split()
            if words[:1] == ["f"]:
                words[1:] = [str(int(w.split("/")[0]) + count) for w in words[1:]]
            if words[:1] in (["v"], ["f"]):
                shifted.append(" ".join(words))
        (self.folder / "two.obj").write_text(CUBE_OBJ + "\n".join(shifted) + "\n")
        far = ("--plane", "-99,0,0,1,0,0")
        self.refused("cut", "two.obj", *far, says=("crosses itself", "and"))
        union = self.total(self.json("cut", "cube.obj", "moved.obj", "--op", "union"))
        resolved = self.json("cut", "two.obj", *far, "--resolve", "-o", "one.ply")
        self.assertAlmostEqual(self.total(resolved), union, delta=1e-9)
        self.assertTrue(self.json("info", "one.ply")["watertight"])

    def test_a_part_that_crosses_itself(self):
        # A prism over a bow tie: the half that turns the other way is outside.
        corners = [(0, 0), (2, 2), (2, 0), (0, 2)]
        lines = [f"v {x} {y} {z}" for z in (0, 1) for x, y in corners]
        lines += ["f 4 3 2 1", "f 5 6 7 8", "f 1 2 6 5", "f 2 3 7 6", "f 3 4 8 7", "f 4 1 5 8"]
        (self.folder / "bow.obj").write_text("\n".join(lines) + "\n")
        plane = ("--plane", "1,1,0.25,0,0,1")
        self.refused("cut", "bow.obj", *plane, says=("crosses itself", "and"))
        answer = self.json("cut", "bow.obj", *plane, "--resolve", "--mend-rounding", "-o", "bow")
        self.assertEqual(sorted(round(p["volume"], 12) for p in answer["pieces"]), [0.25, 0.75])
        self.assertEqual(answer["rounding_crossings"], 0)
        for piece in answer["pieces"]:
            self.assertTrue(self.json("info", f"bow/{piece['file']}")["watertight"])

    def test_slices_fill_the_body(self):
        answer = self.json("slice", "cube.obj", "--count", "7", "--axis", "z", "-o", "slices")
        self.assertEqual(len(answer["slices"]), 7)
        for s in answer["slices"]:
            self.assertAlmostEqual(s["volume"], self.volume / 7, delta=1e-9)
            self.assertTrue(self.json("info", f"slices/{s['file']}")["watertight"], s)

    def test_bad_input_is_refused(self):
        self.refused("cut", "cube.obj", says=("nothing to cut with",))
        self.refused("cut", "cube.obj", "moved.obj", "--plane", "0,0,0,0,1,0", "--op", "union", says=("cutter 2", "open"))
        self.refused("cut", "cube.obj", "--plane", "0,0,0,0,0,0", says=("normal",))
        self.refused("cut", "cube.obj", "--plane", "0,1", says=("--plane", "6 numbers"))
        self.refused("slice", "missing.obj", "-o", "s", says=("missing.obj",))
        self.refused("cut", "missing.obj", "--plane", "0,0,0,0,1,0", says=("missing.obj",))
        self.refused("cut", "cube.obj", "moved.obj", "-o", "x.nonsense", says=("x.nonsense",))
        (self.folder / "open.obj").write_text(CUBE_OBJ.rsplit("f ", 1)[0])
        self.refused("cut", "cube.obj", "open.obj", "--op", "union", "-o", "u.ply", says=("cutter is open", "face"))
        self.refused("cut", "open.obj", "cube.obj", "--op", "union", "-o", "u.ply", says=("mesh is open", "face"))
        face = CUBE_OBJ[CUBE_OBJ.index("f "):].splitlines()[0]
        (self.folder / "fin.obj").write_text(CUBE_OBJ + f"v 9 9 9\n{' '.join(face.split()[:3])} 9\n")
        self.refused("cut", "fin.obj", "moved.obj", "-o", "u.ply", says=("edge", "faces"))


if __name__ == "__main__":
    unittest.main()

"""sunder collide: counts, moving meshes, and what it says to meshes that do not fit."""
import unittest

from harness import CommandTest


class Collide(CommandTest):
    def shape(self, name, file, **parameters):
        self.ok("shape", name, *(w for k, v in parameters.items() for w in ("--set", f"{k}={v}")), "-o", file)

    def write(self, name, corners, faces):
        (self.folder / name).write_text("".join(f"v {c}\n" for c in corners) + "".join(f"f {f}\n" for f in faces))

    def lines(self, name):
        return (self.folder / name).read_text().splitlines()

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

    def test_many_meshes_are_tested_each_against_each(self):
        names = [f"ball{i}.obj" for i in range(6)]
        for i, name in enumerate(names):
            self.shape("rippled-sphere", name, n=12, x=0.7 * i)  # each meets the next, touches no other
        self.shape("scroll", "scroll.obj")
        names.append("scroll.obj")
        told = self.json("collide", *names, "-o", "many.csv")
        rows = self.lines("many.csv")
        self.assertEqual(rows[0], "mesh_a,mesh_b,a,b")
        wanted, total = [], 0
        for a in range(len(names)):
            for b in range(a + 1, len(names)):
                pair = self.json("collide", names[a], names[b], "-o", "two.csv")
                wanted += [f"{a},{b},{row}" for row in self.lines("two.csv")[1:]]
                total += pair["triangle_pairs"]
        self.assertGreater(total, 100)
        self.assertEqual(told["triangle_pairs"], total)
        self.assertEqual(sorted(rows[1:]), sorted(wanted))
        self.assertLess(len(told["mesh_pairs"]), 21, "meshes that are far apart are not searched")
        alone = self.json("collide", *names, "--self")
        self.assertEqual(alone["triangle_pairs"], total + sum(self.json("collide", n)["triangle_pairs"] for n in names))
        for threads in (1, 4):
            self.ok("collide", *names, "-o", "again.csv", "--threads", threads)
            self.assertEqual(self.lines("again.csv"), rows)
        self.refused("collide", *names, "--ccd", names[0], says=["--ccd", "one mesh or two"])
        self.refused("collide", *names, "--max-pairs", 50, says=["ball0.obj", "pairs of boxes"])

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
        self.assertEqual({f["mesh"] for f in hit["features"]}, {"a", "b"})
        miss = self.json("collide", "high.obj", "floor.obj", "--ccd", "high.obj", "floor.obj")
        self.assertEqual((miss["contact"], miss["features"]), (False, None))
        near = self.json("collide", "high.obj", "floor.obj", "--ccd", "low.obj", "floor.obj", "--tolerance", 0.4)
        self.assertAlmostEqual(near["time"], (1.5 - 0.1 - 0.4) / 4, delta=1e-3)

    def test_a_contact_names_the_vertices_of_the_files(self):
        self.write("tip.obj", ["0 1 0", "1 2 0", "0 2 1"], ["1 2 3"])
        self.write("tip1.obj", ["0 -1 0", "1 0 0", "0 0 1"], ["1 2 3"])
        self.write("floor.obj", ["9 9 9", "-5 0 -5", "-5 0 9", "9 0 -5"], ["2 3 4"])
        text = self.ok("collide", "tip.obj", "floor.obj", "--ccd", "tip1.obj", "floor.obj")
        self.assertRegex(text, r"^first contact at 0\.(5|49).* of the step: vertex 0 of tip.obj and face 1-2-3 of floor.obj$")
        text = self.ok("collide", "floor.obj", "tip.obj", "--ccd", "floor.obj", "tip1.obj")
        self.assertRegex(text, r"vertex 0 of tip.obj and face 1-2-3 of floor.obj$")

    def test_polygons_that_bend_stay_the_same_mesh(self):
        # A quad that is concave at its third corner, then at its second: split on its own, it would be other triangles.
        self.write("q0.obj", ["0 0 0", "1 0 0", "0.2 0.2 0", "0 1 0"], ["1 2 3 4"])
        self.write("q1.obj", ["0 0 1", "0.4 0.6 1", "1 1 1", "0 1 1"], ["1 2 3 4"])
        self.assertIn("contact", self.json("collide", "q0.obj", "--ccd", "q1.obj"))

    def test_self_contact_of_a_moving_mesh(self):
        two = ["0 0 0", "1 0 0", "0 0 1", "0.2 1 0.2", "0.4 2 0.2", "0.2 2 0.4"]
        self.write("s0.obj", two, ["1 2 3", "4 5 6"])
        self.write("s1.obj", two[:3] + ["0.2 -1 0.2", "0.4 0 0.2", "0.2 0 0.4"], ["1 2 3", "4 5 6"])
        hit = self.json("collide", "s0.obj", "--self", "--ccd", "s1.obj")
        self.assertTrue(hit["contact"])
        self.assertAlmostEqual(hit["time"], 0.5, delta=1e-6)
        self.assertEqual(hit["features"], [{"mesh": "a", "vertices": [3]}, {"mesh": "a", "vertices": [0, 1, 2]}])

    def test_one_triangle(self):
        self.write("one.obj", ["0 0 0", "1 0 0", "0 1 0"], ["1 2 3"])
        self.assertEqual(self.json("collide", "one.obj")["box_pairs"], 0)
        self.assertEqual(self.json("collide", "one.obj", "one.obj")["triangle_pairs"], 1)
        self.assertFalse(self.json("collide", "one.obj", "--ccd", "one.obj")["contact"])
        both = self.json("collide", "one.obj", "one.obj", "--ccd", "one.obj", "one.obj")
        self.assertEqual((both["contact"], both["time"]), (True, 0))

    def test_all_triangles_equal(self):
        corners = ["0 0 0", "1 0 0", "0 1 0"]
        self.write("same.obj", corners, ["1 2 3"] * 200)
        self.assertEqual(self.json("collide", "same.obj")["triangle_pairs"], 0)  # they share vertices
        self.assertEqual(self.json("collide", "same.obj", "--neighbours", "exact")["triangle_pairs"], 19900)
        self.write("soup.obj", corners * 50, [f"{3 * i + 1} {3 * i + 2} {3 * i + 3}" for i in range(50)])
        result = self.json("collide", "soup.obj", "--tolerance", 0.1, "-o", "near.csv")
        self.assertEqual((result["box_pairs"], result["triangle_pairs"]), (1225, 1225))
        self.assertEqual(len(self.lines("near.csv")), 1 + 1225)
        # more pairs than are kept: 20,000 faces in one place. They are counted, and take no memory.
        self.write("many.obj", corners, ["1 2 3"] * 20_000)
        few = self.peak(["collide", "same.obj"])
        many = self.peak(["collide", "many.obj"])
        self.assertLess(many - few, 400e6)
        self.refused("collide", "many.obj", says=["many.obj", "199990000 pairs", "25000000 are allowed", "--max-pairs"])
        self.refused("collide", "many.obj", "--ccd", "many.obj", says=["many.obj", "more than 25000000 pairs", "--max-pairs"])
        self.refused("collide", "same.obj", "--max-pairs", 19899, says=["19900 pairs", "19899 are allowed"])
        self.ok("collide", "same.obj", "--max-pairs", 19900)

    def test_coordinates_of_any_size(self):
        self.write("a.obj", ["0 0 0", "1e30 0 0", "0 1e30 0"], ["1 2 3"])
        self.write("b.obj", ["1e29 1e29 -1e30", "1e29 1e29 1e30", "2e29 1e29 1e30"], ["1 2 3"])
        self.write("c.obj", ["1e29 1e29 1e29", "1e29 1e29 1e30", "2e29 1e29 1e30"], ["1 2 3"])
        self.assertEqual(self.json("collide", "a.obj", "b.obj")["triangle_pairs"], 1)
        self.assertEqual(self.json("collide", "a.obj", "c.obj")["triangle_pairs"], 0)
        self.assertEqual(self.json("collide", "a.obj", "c.obj", "--tolerance", 2e29)["box_pairs"], 1)
        self.assertTrue(self.json("collide", "a.obj", "c.obj", "--ccd", "a.obj", "b.obj")["contact"])
        self.write("vast.obj", ["0 0 0", "1 0 0", "0 1e38 0"], ["1 2 3"])
        for arguments in (["a.obj", "vast.obj"], ["vast.obj"], ["a.obj", "--ccd", "vast.obj"]):
            self.refused("collide", *arguments, says=["vast.obj", "vertex 2", "1e37"])

    def test_meshes_and_ends_that_do_not_fit(self):
        corners = ["0 0 0", "1 0 0", "0 1 0"]
        self.write("a.obj", corners, ["1 2 3"])
        self.write("nan.obj", ["0 0 0", "nan 0 0", "0 1 0"], ["1 2 3"])
        self.write("turned.obj", corners, ["1 3 2"])
        self.write("more.obj", corners + ["1 1 1"], ["1 2 3"])
        self.write("double.obj", corners, ["1 2 3", "1 2 3"])
        self.write("points.obj", corners, [])
        for arguments in (["a.obj", "nan.obj"], ["nan.obj"], ["a.obj", "--ccd", "nan.obj"]):
            self.refused("collide", *arguments, says=["nan.obj:2"])
        for name, says in (("turned.obj", "face 0"), ("more.obj", "4 vertices instead of 3"),
                           ("double.obj", "2 faces instead of 1")):
            self.refused("collide", "a.obj", "--ccd", name, says=[name, "is not a.obj moved", says])
            self.refused("collide", "a.obj", "a.obj", "--ccd", "a.obj", name, says=[name, says])
        self.refused("collide", "points.obj", says=["points.obj", "no faces"])
        self.refused("collide", "a.obj", "--ccd", "points.obj", says=["points.obj", "no faces"])
        self.refused("collide", "a.obj", "--ccd", "gone.obj", says=["gone.obj"])

    def test_options_that_do_not_fit(self):
        self.shape("box", "a.obj")
        for value in ("-1", "nan", "inf", "1e40", "much"):
            self.refused("collide", "a.obj", "--tolerance", value, says=["--tolerance", value])
        self.refused("collide", "a.obj", "--neighbours", "maybe", says=["--neighbours", "maybe"])
        self.refused("collide", "a.obj", "a.obj", "--neighbours", "exact", says=["--neighbours", "itself"])
        self.refused("collide", "a.obj", "--ccd", "a.obj", "-o", "pairs.csv", says=["-o", "--ccd"])
        self.refused("collide", "a.obj", "-o", "no/such/pairs.csv", says=["no/such/pairs.csv"])
        (self.folder / "keep.csv").write_text("precious")
        self.refused("collide", "a.obj", "gone.obj", "-o", "keep.csv", says=["gone.obj"])
        self.assertEqual((self.folder / "keep.csv").read_text(), "precious")

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

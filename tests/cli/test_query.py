"""sunder query: answers against formulas and a second method, the same rows in every form, and bad input."""
import csv
import math
import random
import subprocess
import unittest

from harness import BIN, CUBE_OBJ, CommandTest


def cube_distance(p):
    """Signed distance of the unit cube: negative inside."""
    outside = math.sqrt(sum(max(-x, 0, x - 1) ** 2 for x in p))
    return outside if outside > 0 else -min(min(x, 1 - x) for x in p)


class Query(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "cube.obj").write_text(CUBE_OBJ)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def random_points(self, count, seed=1):
        source = random.Random(seed)
        return [tuple(source.uniform(-1, 2) for _ in range(3)) for _ in range(count)]

    def points_file(self, points, name="points.csv"):
        return self.write(name, "x,y,z\n" + "".join(",".join(map(repr, p)) + "\n" for p in points))


class Answers(Query):
    def test_closest_equals_the_formula(self):
        points = self.random_points(3000)
        summary = self.json("query", "cube.obj", "closest", "--points", self.points_file(points), "-o", "out.csv")
        self.assertEqual((summary["points"], summary["rows"], summary["triangles"]), (3000, 3000, 12))
        self.assertEqual(summary["inside"], sum(cube_distance(p) < 0 for p in points))
        self.assertLessEqual({"read", "build", "query", "write"}, set(summary["seconds"]))
        self.assertGreater(summary["queries_per_second"], 0)
        for i, (row, p) in enumerate(zip(self.rows("out.csv"), points)):
            self.assertEqual((int(row["point"]), float(row["x"]), float(row["y"]), float(row["z"])), (i, *p))
            self.assertAlmostEqual(float(row["signed_distance"]), cube_distance(p), places=12)
            self.assertAlmostEqual(float(row["distance"]), abs(cube_distance(p)), places=12)
            closest = [float(row["closest_" + k]) for k in "xyz"]
            self.assertAlmostEqual(math.dist(closest, p), float(row["distance"]), places=12)
            self.assertAlmostEqual(sum(float(row[k]) for k in "uvw"), 1, places=12)
            self.assertEqual(int(row["face"]), int(row["triangle"]) // 2)  # each quad is two triangles

    def test_features_name_the_vertices_of_the_file(self):
        result = self.json("query", "cube.obj", "closest", "--point", "-1,-1,-1", "--point", "2,0.5,2",
                           "--point", "0.3,0.4,-1")["results"]
        self.assertEqual([r["feature"] for r in result], ["vertex 0", "edge 5-6", "face"])
        self.assertNotIn("signed_distance", self.json("query", "cube.obj", "closest", "--unsigned", "--point",
                                                      "0,0,5")["results"][0])

    def test_a_point_on_the_surface_has_distance_zero(self):
        row = self.json("query", "cube.obj", "closest", "--point", "0.5,0.5,1")["results"][0]
        self.assertEqual((row["distance"], row["signed_distance"]), (0, 0))

    def test_within_and_nearest_agree(self):
        self.ok("shape", "icosphere", "--set", "frequency=6", "-o", "ball.ply")
        file = self.points_file(self.random_points(50, 2))
        everything = self.json("query", "ball.ply", "nearest", "--points", file, "--count", 1000000)
        count = everything["triangles"]
        self.assertEqual(everything["rows"], 50 * count)
        near = self.json("query", "ball.ply", "within", "--points", file, "--distance", 0.7)
        expected = {(r["point"], r["triangle"]) for r in everything["results"] if r["distance"] <= 0.7}
        self.assertEqual({(r["point"], r["triangle"]) for r in near["results"]}, expected)
        self.assertEqual(near["near"], len({p for p, _ in expected}))
        self.assertTrue(0 < len(expected) < 50 * count)
        for i in range(50):
            mine = everything["results"][i * count:(i + 1) * count]
            self.assertEqual([r["rank"] for r in mine], list(range(count)))
            self.assertEqual([r["distance"] for r in mine], sorted(r["distance"] for r in mine))

    def test_nearest_vertices_equal_brute_force_and_need_no_faces(self):
        cloud, points = self.random_points(400, 3), self.random_points(30, 4)
        self.write("cloud.obj", "".join("v {!r} {!r} {!r}\n".format(*p) for p in cloud))
        result = self.json("query", "cloud.obj", "nearest", "--of", "vertices", "--count", 5, "--points",
                           self.points_file(points))["results"]
        for i, p in enumerate(points):
            wanted = sorted(range(400), key=lambda v: (math.dist(cloud[v], p), v))[:5]
            self.assertEqual([r["vertex"] for r in result[5 * i:5 * i + 5]], wanted)
            self.assertAlmostEqual(result[5 * i]["distance"], math.dist(cloud[wanted[0]], p), places=12)
        self.refused("query", "cloud.obj", "nearest", "--point", "0,0,0", says=["cloud.obj", "no faces", "--of vertices"])

    def test_rays(self):
        rays = ["--ray", "-1,0.3,0.4,2,0,0", "--ray", "0.5,0.6,0.7,0,-0.1,0", "--ray", "5,5,5,1,1,1"]
        first = self.json("query", "cube.obj", "ray", *rays)
        self.assertEqual((first["rays"], first["hit"], first["rows"]), (3, 2, 3))
        a, b, c = first["results"]
        self.assertAlmostEqual(a["distance"], 1, places=12)  # metres, not multiples of the direction
        self.assertEqual((a["hit_x"], a["front"], b["front"], c["hit"], c["distance"]), (0, True, False, False, None))
        self.assertAlmostEqual(b["distance"], 0.6, places=12)
        every = self.json("query", "cube.obj", "ray", *rays, "--hits", "all")["results"]
        self.assertEqual([(r["ray"], r["rank"], round(r["distance"], 9)) for r in every],
                         [(0, 0, 1), (0, 1, 2), (1, 0, 0.6)])
        reach = self.json("query", "cube.obj", "ray", *rays, "--hits", "any", "--max-distance", 0.7)["results"]
        self.assertEqual([r["hit"] for r in reach], [False, True, False])
        self.write("rays.txt", "# origin and direction\n-1 0.3 0.4 2 0 0\n5 5 5 1 1 1\n")
        self.assertEqual(self.json("query", "cube.obj", "ray", "--rays", "rays.txt")["hit"], 1)

    def test_inside(self):
        points = self.random_points(500, 5)
        for flags in ([], ["--exact"]):
            result = self.json("query", "cube.obj", "inside", "--points", self.points_file(points), *flags)
            for row, p in zip(result["results"], points):
                self.assertEqual(row["inside"], cube_distance(p) < 0)
                self.assertAlmostEqual(row["winding_number"], float(cube_distance(p) < 0), delta=2e-3)
        # an open box: half the solid angle at the centre of the missing face
        self.write("open.obj", "\n".join(CUBE_OBJ.splitlines()[:-1]) + "\n")
        row = self.json("query", "open.obj", "inside", "--exact", "--point", "0.5,0.5,0.5")["results"][0]
        self.assertAlmostEqual(row["winding_number"], 5 / 6, places=12)


class Forms(Query):
    def test_points_come_from_everywhere(self):
        self.write("p.xyz", "\ufeff# comment\n0 0 0\n\n+1\t2  3 # more\n")
        self.write("p.csv", "x;y;z\r\n1e-400,5,.5\r\n")
        arguments = ["query", "cube.obj", "inside", "--points", "p.xyz", "--points", "p.csv", "--points", "cube.obj",
                     "--point", "-7,8,9", "--point", " 1 2 3 "]
        result = self.json(*arguments)["results"]
        got = [(r["x"], r["y"], r["z"]) for r in result]
        self.assertEqual(got[:5], [(-7, 8, 9), (1, 2, 3), (0, 0, 0), (1, 2, 3), (0, 5, 0.5)])
        self.assertEqual(len(got), 5 + 8)
        piped = subprocess.run([BIN / "sunder", "query", "cube.obj", "inside", "--points", "-"], cwd=self.folder,
                               input="0.5 0.5 0.5\n", text=True, capture_output=True)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertIn("1 point, 1 answer, 1 inside", piped.stdout)

    def test_rows_are_the_same_as_table_file_and_json(self):
        arguments = ["query", "cube.obj", "closest", "--point", "0.5,0.5,2", "--point", "3,0.25,0.5"]
        found = self.json(*arguments)["results"]
        self.ok(*arguments, "-o", "out.csv")
        self.assertEqual([list(r) for r in found], [list(r) for r in self.rows("out.csv")])
        for row, line in zip(found, self.rows("out.csv")):
            self.assertEqual([str(v) if isinstance(v, str) else float(v) for v in row.values()],
                             [v if k == "feature" else float(v) for k, v in line.items()])
        table = self.ok(*arguments).splitlines()
        self.assertEqual(table[0].split(), list(found[0]))
        self.assertRegex(table[-1], r"^cube.obj: 2 points, 2 answers, 0 inside; build .* ms, query .* ms \(.* points/s\)$")

    def test_the_table_is_short_unless_asked(self):
        file = self.points_file(self.random_points(100))
        self.assertEqual(len(self.ok("query", "cube.obj", "inside", "--points", file).splitlines()), 1 + 20 + 2)
        text = self.ok("query", "cube.obj", "inside", "--points", file, "--rows", 0)
        self.assertEqual(len(text.splitlines()), 1 + 100 + 1)
        self.assertEqual(self.ok("query", "cube.obj", "inside", "--points", file, "--quiet"), "")

    def test_no_hit_leaves_the_fields_empty(self):
        self.ok("query", "cube.obj", "ray", "--ray", "5,5,5,1,0,0", "-o", "out.csv")
        row = self.rows("out.csv")[0]
        self.assertEqual((row["hit"], row["distance"], row["triangle"]), ("false", "", ""))

    def test_same_bytes_for_any_number_of_threads(self):
        self.ok("shape", "rippled-sphere", "--set", "n=20", "-o", "ball.ply")
        points = self.points_file(self.random_points(5000))
        rays = self.write("rays.csv", "".join(",".join(map(repr, p + q)) + "\n" for p, q in
                                              zip(self.random_points(5000, 6), self.random_points(5000, 7))))
        for question in (["closest", "--points", points], ["within", "--distance", 0.2, "--points", points],
                         ["nearest", "--count", 3, "--points", points], ["inside", "--points", points],
                         ["nearest", "--of", "vertices", "--count", 3, "--points", points],
                         ["ray", "--rays", rays], ["ray", "--rays", rays, "--hits", "any"],
                         ["ray", "--rays", rays, "--hits", "all"]):
            outputs = set()
            for threads in (1, 2, 4):
                self.ok("query", "ball.ply", *question, "-o", "out.csv", "--threads", threads)
                outputs.add((self.folder / "out.csv").read_bytes())
            self.assertEqual(len(outputs), 1, question)
            self.assertGreater(len(outputs.pop()), 1000, question)

    def test_describe_and_help_agree(self):
        listed = self.json("describe", "questions")["questions"]
        help_text = self.ok("query", "--help")
        self.assertEqual([q["name"] for q in listed], ["closest", "within", "nearest", "ray", "inside"])
        for question in listed:
            for option in question["options"].split():
                self.assertRegex(help_text, rf"{option} .*\n? *{question['name']}:")
            point = ["--ray", "0,0,5,0,0,-1"] if question["asked_of"] == "rays" else ["--point", "0,0,5"]
            more = ["--distance", 9] if question["name"] == "within" else []
            rows = self.json("query", "cube.obj", question["name"], *point, *more)["results"]
            self.assertEqual(",".join(rows[0]), question["columns"])
        self.assertEqual(self.json("describe", "questions", "ray")["name"], "ray")
        self.refused("describe", "questions", "rays", says=["'ray'"])


class BadInput(Query):
    def bad(self, *arguments, says=()):
        """Refused with and without an output, which must not appear or change."""
        self.refused("query", *arguments, says=says)
        self.write("out.csv", "precious")
        self.refused("query", *arguments, "-o", "out.csv", says=says)
        self.assertEqual((self.folder / "out.csv").read_text(), "precious")

    def test_points(self):
        for text, says in (("1,2", "2 numbers"), ("1,2,3,4", "more than 3"), ("1,two,3", "'two'"), ("", "0 numbers"),
                           ("nan,0,0", "not finite"), ("0,inf,0", "not finite"), ("0,0,1e999", "not finite"),
                           ("0,0,-1e38", "1e37"), ("1,2,3x", "'3x'")):
            self.bad("cube.obj", "closest", "--point", text, says=["--point", says])
            if text:
                self.write("p.csv", "0,0,0\n# a line\n" + text + "\n")
                self.bad("cube.obj", "closest", "--points", "p.csv", says=["p.csv:3:", says])

    def test_files_of_points(self):
        self.bad("cube.obj", "inside", "--points", "gone.csv", says=["gone.csv"])
        self.bad("cube.obj", "inside", "--points", ".", says=["folder"])
        self.bad("cube.obj", "inside", "--points", self.write("none.csv", "x,y,z\n"), says=["none.csv", "no points"])
        self.bad("cube.obj", "inside", "--points", self.write("empty.csv", ""), says=["empty.csv", "no points"])
        self.bad("cube.obj", "inside", "--points", self.write("bad.obj", "v 0 nan 0\n"), says=["bad.obj:1"])
        (self.folder / "bytes.csv").write_bytes(bytes((i * 7919 + 13) % 256 for i in range(5000)))
        self.bad("cube.obj", "inside", "--points", "bytes.csv", says=["bytes.csv:"])
        with open(self.folder / "zeros.csv", "wb") as file:
            file.truncate(2 << 30)
        self.bad("cube.obj", "inside", "--points", "zeros.csv", says=["zeros.csv:1:"])

    def test_rays(self):
        self.bad("cube.obj", "ray", "--ray", "0,0,0,0,0,0", says=["direction is zero"])
        self.bad("cube.obj", "ray", "--ray", "0,0,0,1,0", says=["5 numbers where 6"])
        self.bad("cube.obj", "ray", "--ray", "0,0,0,1,0,nan", says=["not finite"])
        self.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,-0,0\n")
        self.bad("cube.obj", "ray", "--rays", "r.csv", says=["r.csv:3:", "direction is zero"])

    def test_meshes(self):
        point = ["closest", "--point", "0,0,0"]
        self.bad("gone.obj", *point, says=["gone.obj"])
        self.bad(self.write("empty.off", "OFF\n0 0 0\n"), *point, says=["empty.off", "no faces"])
        self.bad(self.write("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n"), *point, says=["nan.obj:2"])
        self.bad(self.write("vast.obj", "v 0 0 0\nv 1e40 0 0\nv 0 1 0\nf 1 2 3\n"), *point,
                 says=["vast.obj", "vertex 1", "1e37"])
        self.write("t.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n")
        self.write("t.ele", "1 4 0\n0 0 1 2 3\n")
        self.bad("t.node", *point, says=["t.node", "tetrahedra", "convert"])
        flat = self.write("flat.obj", "v 0 0 0\nv 1 0 0\nf 1 1 2\n")  # no area, but a place
        self.assertEqual(self.json("query", flat, "closest", "--point", "0.5,1,0")["results"][0]["distance"], 1)

    def test_questions_and_their_options(self):
        self.bad("cube.obj", "closets", "--point", "0,0,0", says=["'closets'", "did you mean 'closest'"])
        self.bad("cube.obj", "volume", "--point", "0,0,0", says=["'volume'", "closest, within, nearest, ray, inside"])
        self.bad("cube.obj", says=["QUESTION"])
        self.bad("cube.obj", "closest", says=["--point x,y,z"])
        self.bad("cube.obj", "ray", says=["--ray ox,oy,oz"])
        self.bad("cube.obj", "ray", "--point", "0,0,0", says=["asked of rays"])
        self.bad("cube.obj", "inside", "--ray", "0,0,0,1,0,0", says=["asked of points"])
        self.bad("cube.obj", "within", "--point", "0,0,0", says=["--distance"])
        for value in ("-1", "nan", "inf", "far"):
            self.bad("cube.obj", "within", "--point", "0,0,0", "--distance", value, says=["--distance", value])
        self.bad("cube.obj", "ray", "--ray", "0,0,0,1,0,0", "--max-distance", "-2", says=["--max-distance"])
        for value in ("0", "-3", "some"):
            self.bad("cube.obj", "nearest", "--point", "0,0,0", "--count", value, says=["--count"])
        self.bad("cube.obj", "closest", "--point", "0,0,0", "--hits", "all", says=["--hits belongs to 'ray'"])
        self.bad("cube.obj", "inside", "--point", "0,0,0", "--unsigned", says=["--unsigned belongs to 'closest'"])

    def test_outputs_that_cannot_be(self):
        point = ["cube.obj", "closest", "--point", "0,0,0", "-o"]
        self.refused("query", *point, "out.txt", says=["out.txt", ".csv"])
        self.refused("query", *point, "no/such/out.csv", says=["no/such/out.csv"])
        (self.folder / "d.csv").mkdir()
        self.refused("query", *point, "d.csv", says=["d.csv", "folder"])


if __name__ == "__main__":
    unittest.main()

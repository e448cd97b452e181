"""sunder stress: held bodies under forces, and what it says to bad input."""
import unittest

from harness import CommandTest


class Stress(CommandTest):
    def beam(self):
        self.ok("shape", "box", "--set", "width=1", "--set", "height=0.1", "--set", "depth=0.1", "-o", "beam.obj")

    def test_a_pulled_bar(self):
        # Far from its ends the stress is F/S and the whole stretches by F L / (E S).
        self.beam()
        self.ok("tet", "beam.obj", "--edge", "0.05", "-o", "beam.msh")
        report = self.json("stress", "beam.msh", "--fix", "x<-0.499", "--force", "0.5,0,0,5000,0,0", "--poisson", "0",
                           "-o", "beam.vtu")
        self.assertAlmostEqual(report["reaction"][0], -5000, delta=1e-4)
        self.assertEqual(report["young"], 7e10)
        self.assertEqual(report["density"], 2500)
        self.assertGreater(report["max_displacement"], 5000 / (7e10 * 0.01))
        # Twice the energy is the force times the way of the point it acts at.
        self.assertLess(report["elastic_energy"], 0.5 * 5000 * report["max_displacement"] * 1.001)
        self.assertTrue((self.folder / "beam.vtu").stat().st_size > 10000)
        self.assertEqual(self.json("info", "beam.vtu")["volume_mesh"]["tets"], report["tets"])

    def test_points_between_vertices_are_probed(self):
        # A bar that is pulled: F/S along it and F x/(S E) of displacement, away from its ends. S is that of the tetrahedra,
        # which cut the edges of the bar off: by 0.8 % here, by 0.5 % at an edge of 0.02.
        self.beam()
        told = self.json("stress", "beam.obj", "--edge", 0.025, "--young", 1e9, "--poisson", 0, "--fix", "x<-0.499",
                         "--force", "0.5,0,0,1000,0,0", "--probe=-0.1,0.013,0.007", "--probe", "0.1,0.013,0.007", "--probe", "0,0.35,0")
        left, right, outside = told["probes"]
        self.assertAlmostEqual(left["stress"][0] / 1e5, 1, delta=0.01)
        self.assertAlmostEqual((right["displacement"][0] - left["displacement"][0]) / (0.2 * 1e5 / 1e9), 1, delta=0.01)
        self.assertEqual((left["inside"], outside["inside"]), (True, False))
        self.assertAlmostEqual(outside["distance"], 0.3, delta=1e-6)
        self.refused("stress", "beam.obj", "--fix", "x<-0.49", "--probe", "1,2", says=("--probe", "3 numbers"))

    def test_a_body_is_cut_without_new_tetrahedra(self):
        # A beam under its weight that is slit along its middle plane is two beams, each with a quarter of the stiffness for its
        # weight; a slit that ends inside leaves it one piece, in between.
        self.beam()
        self.ok("tet", "beam.obj", "--edge", "0.0125", "-o", "beam.msh")
        self.ok("shape", "cloth", "--set", "width=2", "--set", "depth=1", "-o", "slit.obj")
        self.ok("shape", "cloth", "--set", "width=0.6", "--set", "depth=1", "-o", "short.obj")
        bent = ("stress", "beam.msh", "--fix", "x<-0.49", "--gravity", "0,-9.81,0", "--poisson", "0")
        whole = self.json(*bent)
        two = self.json(*bent, "--cut", "slit.obj", "-o", "two.vtu")
        part = self.json(*bent, "--cut", "short.obj", "--cut", "short.obj")
        self.assertNotIn("cut", whole)
        self.assertEqual(two["cut"]["pieces"], 2)
        self.assertEqual(part["cut"]["pieces"], 1)
        self.assertEqual(part["cut"]["sheets"], 2)
        self.assertGreater(two["cut"]["copies"], part["cut"]["copies"])
        self.assertAlmostEqual(two["max_displacement"] / whole["max_displacement"], 4, delta=0.6)
        self.assertGreater(part["max_displacement"], 1.1 * whole["max_displacement"])
        self.assertLess(part["max_displacement"], 0.9 * two["max_displacement"])
        # The supports carry the same weight, and the file says how much of each tetrahedron is there.
        for report in (two, part):
            self.assertAlmostEqual(report["reaction"][1] / whole["reaction"][1], 1, delta=1e-9)
        self.assertIn("volume_fraction", (self.folder / "two.vtu").read_bytes().decode("latin1"))
        self.assertIn("2 pieces", self.ok(*bent, "--cut", "slit.obj"))

    def test_forces_and_probes_act_on_their_side_of_a_cut(self):
        self.beam()
        self.ok("tet", "beam.obj", "--edge", "0.025", "-o", "beam.msh")
        self.ok("shape", "cloth", "--set", "width=2", "--set", "depth=1", "-o", "slit.obj")
        report = self.json("stress", "beam.msh", "--fix", "x<-0.49", "--force", "0.5,0.05,0,0,100,0", "--cut", "slit.obj",
                           "--probe", "0.4,0.006,0.003", "--probe", "0.4,-0.006,0.003")
        above, below = (p["displacement"][1] for p in report["probes"])
        self.assertGreater(above, 1e-7)
        self.assertLess(abs(below), 1e-6 * above)

    def test_bad_sheets(self):
        self.beam()
        self.ok("tet", "beam.obj", "--edge", "0.05", "-o", "beam.msh")
        (self.folder / "across.obj").write_text("v 0.1 -1 -1\nv 0.1 1 -1\nv 0.1 0 2\nf 1 2 3\n")
        (self.folder / "far.obj").write_text("v 9 -1 -1\nv 9 1 -1\nv 9 0 2\nf 1 2 3\n")
        held = ("stress", "beam.msh", "--fix", "x<-0.49", "--gravity", "0,-9.81,0")
        self.assertIn("far.obj does not cut into the body", self.run_sunder(*held, "--cut", "far.obj").stderr)
        # What comes loose must be held.
        self.refused(*held, "--cut", "across.obj", says=("nothing holds the piece", "--fix"))
        self.refused(*held, "--cut", "missing.obj", says=("missing.obj",))

    def test_solvers_and_threads_agree(self):
        self.beam()
        base = ("stress", "beam.obj", "--edge", "0.05", "--fix", "x<-0.45", "--gravity", "0,-9.81,0")
        answers = {s: self.json(*base, "--solver", s)["max_displacement"] for s in ("block", "ldlt", "pcg", "dense")}
        for name, value in answers.items():
            self.assertAlmostEqual(value / answers["block"], 1, delta=1e-7, msg=name)
        for threads in ("1", "4"):
            self.assertEqual(self.json(*base, "--threads", threads)["max_displacement"], answers["block"])

    def test_refusals(self):
        self.beam()
        held = ("stress", "beam.obj", "--edge", "0.1", "--fix", "x<-0.4")
        self.refused("stress", "beam.obj", says=["--fix"])
        self.refused("stress", "beam.obj", "--fix", "w<1", says=["w<1", "half-space"])
        self.refused("stress", "beam.obj", "--fix", "x<one", says=["x<one"])
        self.refused("stress", "beam.obj", "--fix", "x>9", says=["no vertex", "0.5"])
        self.refused(*held, "--force", "1,2,3,4,5", says=["--force", "6 numbers"])
        self.refused(*held, "--force", "1,2,3,4,5,nan", says=["--force"])
        self.refused(*held, "--gravity", "1", says=["--gravity"])
        self.refused(*held, "--material", "cheese", says=["cheese", "glass"])
        self.refused(*held, "--poisson", "0.5", says=["Poisson", "0.5"])
        self.refused(*held, "--young", "-1", says=["Young"])
        self.refused(*held, "--solver", "gauss", says=["gauss", "block"])
        self.refused(*held, "-o", "x.obj", says=["x.obj", ".vtu"])
        self.refused(*held, "-o", "no/such/x.vtu", says=["no/such/x.vtu"])
        self.refused("stress", "none.obj", "--fix", "x<0", says=["none.obj"])

    def test_solvers_that_cannot_be_interrupted_take_small_bodies(self):
        self.ok("shape", "icosphere", "--set", "frequency=16", "-o", "ball.obj")
        held = ("stress", "ball.obj", "--fix", "y<-0.8", "--gravity", "0,-9.81,0")
        for solver, small, large in (("dense", "0.3", "0.2"), ("ldlt", "0.25", "0.16")):
            self.assertEqual(self.json(*held, "--edge", small, "--solver", solver)["solver"], solver)
            self.refused(*held, "--edge", large, "--solver", solver, "-o", "x.vtu",
                         says=["ball.obj", f"'{solver}', which cannot be interrupted", "vertices would do", "'block' and 'pcg'"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Surfaces of liquids: `sunder surface RUN --fluid`, in pictures and exports."""
import json
import pathlib
import tempfile
import unittest

from harness import CommandTest, sunder

SCENE = {"world": {"frames": 3}, "fluid": {
    "radius": 0.02, "tank": {"lower": [0, 0, 0], "upper": [0.6, 0.5, 0.3]},
    "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.24, 0.24, 0.3]}]}]}}


class Liquids(CommandTest):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name)
        (cls.root / "scene.json").write_text(json.dumps(SCENE))
        result = sunder("run", cls.root / "scene.json", "-o", cls.root / "run", "--quiet")
        assert result.returncode == 0, result.stderr
        cls.run_folder = cls.root / "run"

    def test_a_mesh_a_frame(self):
        made = self.json("surface", self.run_folder, "--fluid", "--frames", "1:3", "-o", "water.ply")
        self.assertEqual((made["files"], made["watertight"]), (3, True))
        self.assertEqual([s["file"] for s in made["surfaces"]], ["water-0001.ply", "water-0002.ply", "water-0003.ply"])
        for s in made["surfaces"]:
            report = self.json("info", s["file"])
            self.assertTrue(report["watertight"])
            self.assertEqual((report["vertices"], report["faces"]), (s["vertices"], s["faces"]))
            # 6 x 6 x 7 particles of 0.04 m
            self.assertAlmostEqual(s["volume"] / (s["particles"] * 0.04**3), 1, delta=0.06)
        self.assertEqual([p for p in self.folder.iterdir() if p.suffix != ".ply"], [])

    def test_one_frame_has_the_name_and_a_folder_takes_all(self):
        self.ok("surface", self.run_folder, "--fluid", "--frames", "2:2", "-o", "water.obj")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["water.obj"])
        made = self.json("surface", self.run_folder, "--fluid", "--every", "2", "-o", "all")
        self.assertEqual(sorted(p.name for p in (self.folder / "all").iterdir()), ["frame_0000.ply", "frame_0002.ply"])
        self.assertEqual(made["files"], 2)
        text = self.ok("surface", self.run_folder, "--fluid", "--frames", "0:0")
        self.assertIn("frame_0000.ply: 1 surface,", text)
        self.assertTrue((self.run_folder / "export/surface/frame_0000.ply").is_file())

    def test_the_same_bytes_for_any_number_of_threads(self):
        found = set()
        for threads in (1, 2, 4):
            self.ok("surface", self.run_folder, "--fluid", "--frames", "3:3", "--threads", threads, "-o", "t.ply")
            found.add((self.folder / "t.ply").read_bytes())
        self.assertEqual(len(found), 1)

    def test_cells_methods_and_smoothing(self):
        faces = {}
        for name, more in {"plain": (), "fine": ("--cell", "0.01"), "averaged": ("--method", "averaged"),
                           "smooth": ("--smoothing", "5")}.items():
            made = self.json("surface", self.run_folder, "--fluid", "--frames", "3:3", "-o", f"{name}.ply", *more)
            self.assertTrue(made["watertight"], name)
            faces[name] = made["faces"]
        self.assertGreater(faces["fine"], 3 * faces["plain"])
        self.assertEqual(faces["smooth"], faces["plain"])
        self.assertNotEqual((self.folder / "smooth.ply").read_bytes(), (self.folder / "plain.ply").read_bytes())

    def test_what_is_refused(self):
        run = self.run_folder
        self.refused("surface", run, "-o", "x.ply", says=("--fluid makes those of its liquids",))
        self.refused("surface", run, "--fluid", "--cell", "1e-9", "-o", "x.ply", says=("take larger cells",))
        self.refused("surface", run, "--fluid", "--cell", "1", "-o", "x.ply", says=("at most two diameters",))
        self.refused("surface", run, "--fluid", "--method", "round", "-o", "x.ply", says=("anisotropic and averaged",))
        self.refused("surface", run, "--fluid", "--frames", "2:9", "-o", "x.ply", says=("there is no frame 9",))
        self.refused("surface", run, "--fluid", "-o", "x.txt", says=("x.txt",))
        self.refused("surface", "nowhere", "--fluid", "-o", "x.ply", says=("nowhere",))
        self.ok("shape", "box", "-o", "box.obj")
        self.refused("surface", "box.obj", says=("-o",))
        result = self.run_sunder("surface", "box.obj", "--cell", "0.1", "-o", "x.ply")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--fluid", result.stderr)

    def test_pictures_and_exports(self):
        for more in ((), ("--particles",)):
            name = f"picture{len(more)}.png"
            self.ok("render", self.run_folder, "--frame", "3", "--size", "32x20", "--samples", "1", "-o", name, *more)
        self.assertNotEqual((self.folder / "picture0.png").read_bytes(), (self.folder / "picture1.png").read_bytes())
        self.ok("export", self.run_folder, "--to", "obj", "--surface", "-o", "obj")
        self.assertIn("o water\nv ", (self.folder / "obj/frame_0003.obj").read_text())
        self.refused("export", self.run_folder, "--to", "bgeo", "--surface", "-o", "b",
                     says=("bgeo holds no surfaces of liquids", "vtk, glb, usda, obj and ply do"))

    def test_scenes_of_another_program_are_imported(self):
        theirs = {
            "Configuration": {"particleRadius": 0.05, "stopAt": 0.1, "simulationMethod": 3, "boundaryHandlingMethod": 1},
            "RigidBodies": [
                {"geometryFile": "UnitBox.obj", "translation": [1, 1, 0.5], "scale": [2, 2, 1], "isWall": True},
                {"geometryFile": "sphere.obj", "translation": [1.5, 0.4, 0.5], "scale": [0.2, 0.2, 0.2], "isDynamic": True,
                 "density": 300}],
            "FluidBlocks": [{"start": [0, 0, 0], "end": [0.5, 1, 1], "initialVelocity": [1, 0, 0]}],
            "Emitters": [{"width": 4, "translation": [0.1, 1.5, 0.5], "velocity": 2, "type": 1},
                         {"width": 2, "height": 4, "translation": [0.1, 1.2, 0.5], "velocity": 2, "type": 0}],
            "FluidModels": []}
        (self.folder / "theirs.json").write_text(json.dumps(theirs))
        made = self.json("import", "theirs.json", "-o", "ours.json")
        self.assertEqual((made["bodies"], made["liquids"]), (1, 1))
        self.assertIn('"FluidModels" was left out', made["notes"])
        ours = json.loads((self.folder / "ours.json").read_text())
        self.assertEqual(ours["fluid"]["tank"], {"lower": [0, 0, 0], "upper": [2, 2, 1]})
        self.assertEqual(ours["fluid"]["solver"], "implicit")
        self.assertEqual(ours["fluid"]["liquids"][0]["blocks"][0]["velocity"], [1, 0, 0])
        slot = ours["fluid"]["liquids"][0]["emitters"][1]
        self.assertAlmostEqual(slot["size"][1], 2 * slot["size"][0])
        self.assertEqual(slot["up"], [0, 1, 0])
        self.ok("run", "ours.json", "-o", "out", "--quiet")
        for wrong, says in (({"world": {}}, 'no "Configuration"'), ({"Configuration": {"sim2D": True}}, "two dimensions"),
                            ({"Configuration": {"particleRadius": "big"}}, '"particleRadius" is not a number')):
            (self.folder / "wrong.json").write_text(json.dumps(wrong))
            self.refused("import", "wrong.json", "-o", "never.json", says=(says,))
        self.assertFalse((self.folder / "never.json").exists())


if __name__ == "__main__":
    unittest.main()

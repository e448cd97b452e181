"""Recordings of bodies whose shapes change: info, repair, render and every export take them."""
import json
import subprocess
import unittest

from harness import BIN, CommandTest


class Changing(CommandTest):
    def setUp(self):
        super().setUp()
        subprocess.run([BIN / "changing_run", "run"], cwd=self.folder, check=True, timeout=60)

    def test_info_counts_what_changes(self):
        info = self.json("info", "run")
        self.assertEqual([info[key] for key in ("mesh_changes", "embeddings", "frames_with_inputs", "frames_with_crack_fronts")],
                         [4, 1, 2, 4])
        text = self.ok("info", "run")
        for line in ("4 changes of meshes", "1 surfaces embedded in cages", "2 frames with inputs", "4 frames with crack fronts"):
            self.assertIn(line, text)

    def test_pictures_and_exports_of_every_format(self):
        self.ok("render", "run", "--frame", "9", "--size", "64x36", "--samples", "1", "-o", "picture.png", "--quiet")
        self.ok("render", "run", "--frame", "3", "--size", "64x36", "--samples", "1", "--colour-by", "stress", "-o", "stress.png",
                "--quiet")
        self.assertGreater((self.folder / "picture.png").stat().st_size, 500)
        for form in ("vtk", "glb", "usda", "obj", "ply", "bgeo", "csv"):
            with self.subTest(form):
                self.ok("export", "run", "--to", form, "-o", form, "--quiet")
        self.assertTrue((self.folder / "vtk" / "fronts-frame_0003.vtp").exists())

    def test_damage_is_named_and_the_rest_is_saved(self):
        whole = (self.folder / "run" / "run.sunder").read_bytes()
        for tag, key, lost in ((b"MCHG", "mesh_changes", [[0, 0]]), (b"EMBD", "embeddings", [[0, 0]]),
                               (b"INPT", "inputs", [[3, 3]]), (b"FRNT", "crack_fronts", [[2, 2]])):
            with self.subTest(tag):
                content = bytearray(whole)
                content[content.index(b"\xc5SUN" + tag) + 60] ^= 1
                (self.folder / "bad.sunder").write_bytes(content)
                result = self.run_sunder("info", "bad.sunder", "--json")
                self.assertEqual(result.returncode, 1)
                self.assertEqual(json.loads(result.stdout)["lost"][key], lost)
                name = f"{key}.sunder"
                self.ok("repair", "bad.sunder", "-o", name)
                self.assertEqual(self.json("info", name)["frames"], 12)
                self.ok("export", name, "--to", "ply", "-o", f"{key}-ply", "--quiet")


if __name__ == "__main__":
    unittest.main()

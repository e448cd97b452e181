"""The verbs that work on mesh files: shape, info, convert, clean, and what they say to bad files."""
import os
import struct
import time
import unittest

from harness import CUBE_OBJ, CommandTest


class Shapes(CommandTest):
    def test_every_shape_is_written_and_closed(self):
        for shape in self.json("describe", "shapes")["shapes"]:
            name = shape["name"]
            self.ok("shape", name, "-o", f"{name}.ply")
            info = self.json("info", f"{name}.ply")
            self.assertEqual(info["nonmanifold_edges"], 0, name)
            self.assertEqual(info["degenerate_faces"], 0, name)
            if shape["closed"]:
                self.assertTrue(info["watertight"], name)
                self.assertGreater(info["volume"], 0, name)

    def test_parameters(self):
        self.ok("shape", "box", "--set", "width=2", "--set", "height=3", "--set", "depth=4", "-o", "b.obj")
        self.assertAlmostEqual(self.json("info", "b.obj")["volume"], 24, places=12)
        self.refused("shape", "box", "--set", "widht=2", "-o", "c.obj", says=["widht", "width"])
        self.refused("shape", "box", "--set", "width=-2", "-o", "c.obj", says=["width", "-2"])
        self.refused("shape", "box", "--set", "width=two", "-o", "c.obj", says=["width", "two"])
        self.refused("shape", "box", "--set", "width", "-o", "c.obj", says=["name=value"])
        self.refused("shape", "bix", "-o", "c.obj", says=["bix", "box"])

    def test_outputs_that_cannot_be(self):
        self.refused("shape", "box", "-o", "c.xyz", says=[".xyz", ".obj"])
        self.refused("shape", "box", "-o", "no/such/folder/c.obj", says=["no/such/folder/c.obj"])
        (self.folder / "d.obj").mkdir()
        self.refused("shape", "box", "-o", "d.obj", says=["folder"])


class Info(CommandTest):
    def test_fields_and_values_of_a_cube(self):
        (self.folder / "cube.obj").write_text(CUBE_OBJ)
        info = self.json("info", "cube.obj")
        self.assertEqual((info["vertices"], info["faces"], info["quads"], info["edges"]), (8, 6, 6, 12))
        self.assertEqual((info["boundary_edges"], info["nonmanifold_edges"], info["components"]), (0, 0, 1))
        self.assertTrue(info["watertight"])
        self.assertEqual((info["area"], info["volume"], info["genus"]), (6, 1, 0))
        self.assertEqual(info["bounds"], {"min": [0, 0, 0], "max": [1, 1, 1]})

    def test_real_meshes(self):
        bunny = self.json("info", self.need_data("meshes/stanford-bunny.obj"))
        self.assertEqual((bunny["vertices"], bunny["faces"], bunny["watertight"]), (35947, 69451, False))
        for name in ("spot", "fandisk"):
            self.assertTrue(self.json("info", self.need_data(f"meshes/{name}.obj"))["watertight"], name)

    def test_a_broken_mesh_names_what_is_wrong(self):
        (self.folder / "open.obj").write_text("\n".join(CUBE_OBJ.splitlines()[:-1]) + "\n")
        text = self.ok("info", "open.obj")
        self.assertIn("not watertight", text)
        self.assertIn("4 edges have only one face", text)


class Convert(CommandTest):
    def test_there_and_back_through_every_surface_format(self):
        self.ok("shape", "torus", "-o", "t.obj")
        first = self.json("info", "t.obj")
        for ending in ("ply", "stl", "off", "glb", "vtp", "msh", "vtu"):
            for flags in ([], ["--ascii"]):
                self.ok("convert", "t.obj", f"t.{ending}", *flags)
                self.ok("convert", f"t.{ending}", "back.obj")
                back = self.json("info", "back.obj")
                self.assertEqual((back["vertices"], back["faces"], back["watertight"]),
                                 (first["vertices"], first["faces"], True), ending)
                exact = ending not in ("stl", "glb")
                self.assertAlmostEqual(back["volume"], first["volume"], delta=0 if exact else 1e-6 * first["volume"])

    def test_a_failed_conversion_leaves_the_old_file(self):
        (self.folder / "keep.ply").write_text("precious")
        (self.folder / "bad.obj").write_text("v 0 0 0\nf 1 2 3\n")
        self.refused("convert", "bad.obj", "keep.ply", says=["bad.obj:2"])
        self.assertEqual((self.folder / "keep.ply").read_text(), "precious")


class Clean(CommandTest):
    def test_says_what_it_changed(self):
        # a cube as a soup of separate quads, one of them twice, plus a face of no area and a lone vertex
        lines, faces, n = [], [], 0
        vertices = [l for l in CUBE_OBJ.splitlines() if l.startswith("v")]
        quads = [[int(x) for x in l.split()[1:]] for l in CUBE_OBJ.splitlines() if l.startswith("f")]
        for quad in quads + quads[:1]:
            lines += [vertices[i - 1] for i in quad]
            faces.append("f " + " ".join(str(n + i) for i in (1, 2, 3, 4)))
            n += 4
        lines.append("v 9 9 9")
        faces.append("f 1 1 2")
        (self.folder / "soup.obj").write_text("\n".join(lines + faces) + "\n")
        report = self.json("clean", "soup.obj", "-o", "clean.ply")
        self.assertEqual(report["changes"]["duplicate_faces"], 1)
        self.assertEqual(report["changes"]["degenerate_faces"], 1)
        info = self.json("info", "clean.ply")
        self.assertEqual((info["vertices"], info["faces"], info["watertight"]), (8, 6, True))

    def test_flipped_faces_are_turned(self):
        (self.folder / "flip.obj").write_text(CUBE_OBJ.replace("f 5 6 7 8", "f 8 7 6 5"))
        self.assertFalse(self.json("info", "flip.obj")["watertight"])
        self.ok("clean", "flip.obj", "-o", "fixed.obj")
        info = self.json("info", "fixed.obj")
        self.assertTrue(info["watertight"])
        self.assertAlmostEqual(info["volume"], 1, places=12)


class BadInput(CommandTest):
    """`info` and `convert` answer bad files in under a second with one line that names file and place, and write nothing."""

    def bad(self, name, content, *says):
        path = self.folder / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        for arguments in (["info", name], ["convert", name, "out.ply"]):
            start = time.monotonic()
            self.refused(*arguments, says=[name, *says])
            self.assertLess(time.monotonic() - start, 1.0, f"{arguments} took too long")
        path.unlink()

    ENDINGS = ["obj", "ply", "stl", "off", "gltf", "glb", "msh", "mesh", "vtk", "vtu", "vtp"]

    def test_empty_garbage_and_zeros(self):
        garbage = bytes((i * 7919 + 13) % 256 for i in range(5000))
        for ending in self.ENDINGS:
            self.bad(f"empty.{ending}", b"")
            self.bad(f"garbage.{ending}", garbage)

    def test_two_gigabytes_of_nothing(self):
        for ending in self.ENDINGS:
            name = f"zeros.{ending}"
            with open(self.folder / name, "wb") as file:
                os.truncate(file.fileno(), 2 << 30)
            start = time.monotonic()
            self.refused("info", name, says=[name])
            self.assertLess(time.monotonic() - start, 1.0, name)
            with open(self.folder / name, "r+b") as file:  # a good first byte does not change the answer
                file.write(b"<")
            start = time.monotonic()
            self.refused("info", name, says=[name])
            self.assertLess(time.monotonic() - start, 1.0, name)
            os.remove(self.folder / name)

    def test_not_finite(self):
        for word in ("nan", "inf", "-inf", "1e999"):
            self.bad("x.obj", f"v 0 0 0\nv 1 {word} 0\nv 0 1 0\nf 1 2 3\n", ":2:")
        self.bad("x.off", "OFF\n3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", ":4:")
        triangle = struct.pack("<12f", 0, 0, 1, 0, 0, 0, 1, float("nan"), 0, 0, 1, 0) + b"\0\0"
        self.bad("x.stl", b"\0" * 80 + struct.pack("<I", 1) + triangle)

    def test_index_out_of_range(self):
        self.bad("x.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", ":4:", "9")
        self.bad("x.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", ":4:")
        self.bad("x.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", ":6:", "3")

    def test_a_billion_in_the_header(self):
        header = "ply\nformat binary_little_endian 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\n" \
                 "property float z\nend_header\n"
        self.bad("x.ply", header + "abcd", "1000000000")
        self.bad("x.off", "OFF\n1000000000 1000000000 0\n0 0 0\n", "1000000000")
        self.bad("x.stl", b"\0" * 80 + struct.pack("<I", 1000000000) + b"\0" * 50)

    def test_truncated(self):
        self.ok("shape", "torus", "-o", "t.ply")
        self.ok("shape", "torus", "-o", "t.glb")
        for name in ("t.ply", "t.glb"):
            content = (self.folder / name).read_bytes()
            self.bad("half-" + name, content[: len(content) // 2])

    def test_content_of_another_format(self):
        self.ok("shape", "box", "-o", "b.ply")
        self.bad("b.obj", (self.folder / "b.ply").read_bytes(), "PLY")

    def test_folder_missing_unreadable_and_unknown_ending(self):
        (self.folder / "d.obj").mkdir()
        self.refused("info", "d.obj", says=["d.obj", "folder"])
        self.refused("info", "gone.obj", says=["gone.obj"])
        (self.folder / "x.abc").write_text("v 0 0 0")
        self.refused("info", "x.abc", says=["x.abc", ".obj"])
        secret = self.folder / "secret.obj"
        secret.write_text(CUBE_OBJ)
        secret.chmod(0)
        if os.geteuid() != 0:
            self.refused("info", "secret.obj", says=["secret.obj"])
        secret.chmod(0o600)


if __name__ == "__main__":
    unittest.main()

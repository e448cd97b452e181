#!/usr/bin/env python3
"""sunder export: every format, what is refused, and that a failure leaves nothing behind."""
import json
import pathlib
import resource
import struct
import subprocess
import unittest

from harness import BIN, RunTest, sunder

FORMATS = ("vtk", "glb", "usda", "obj", "ply", "bgeo", "csv")


class Export(RunTest):
    BALL = "glass"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.frames = json.loads(sunder("info", cls.root / "run", "--json").stdout)["frames"]

    def answer(self, *arguments):
        result = sunder("export", self.root / "run", *arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def refused(self, says, *arguments, run=None):
        before = sorted(self.root.rglob("*"))
        result = sunder("export", run or self.root / "run", *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(sorted(self.root.rglob("*")), before)

    def test_every_format_lands_beside_the_run(self):
        for to in FORMATS:
            answer = self.answer("--to", to)
            found = pathlib.Path(answer["open"])
            self.assertTrue(found.is_file(), to)
            self.assertEqual(self.root / "run/export", found.parent if to in ("glb", "usda") else found.parent.parent)
            self.assertEqual((answer["frames"], answer["bodies"]), (self.frames, 3))
            written = [found] if to in ("glb", "usda") else list(found.parent.iterdir())
            self.assertEqual(len(written), answer["files"], to)
            self.assertEqual(sum(f.stat().st_size for f in written), answer["bytes"], to)
        self.assertEqual([p for p in (self.root / "run/export").iterdir() if ".part" in p.name], [])

    def test_the_same_bytes_for_any_number_of_threads(self):
        for to in ("glb", "usda"):
            found = set()
            for threads in (1, 2, 4):
                self.answer("--to", to, "-o", self.root / f"t.{to}", "--threads", threads)
                found.add((self.root / f"t.{to}").read_bytes())
            self.assertEqual(len(found), 1, to)

    def test_chosen_frames(self):
        answer = self.answer("--to", "ply", "--frames", "2:9", "--every", 3, "-o", self.root / "some")
        self.assertEqual(answer["frames"], 3)
        self.assertEqual(sorted(p.name for p in (self.root / "some").iterdir()),
                         ["frame_0002.ply", "frame_0005.ply", "frame_0008.ply"])
        table = (pathlib.Path(self.answer("--to", "csv", "--frames", "3:4")["open"]).parent / "statistics.csv").read_text()
        self.assertEqual([line.split(",")[0] for line in table.splitlines()], ["frame", "3", "4"])

    def test_a_shorter_export_names_what_an_earlier_one_left(self):
        self.answer("--to", "obj", "-o", self.root / "again")
        notes = self.answer("--to", "obj", "--frames", ":1", "-o", self.root / "again")["notes"]
        self.assertIn(f"{self.frames - 2} files of an earlier export", notes[0])

    def test_the_page_stands_alone(self):
        result = sunder("export", self.root / "run", "--to", "html", "--json", "-o", self.root / "page.html")
        if "without the viewer" in result.stderr:
            self.skipTest("built without npm")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.root / "page.html").read_text()
        start = page.index('<script id="sunder-data"')
        self.assertGreater(page.index("</script>", start) - start, 1000)
        few = self.answer("--to", "html", "--frames", "0:2", "-o", self.root / "few.html")
        self.assertLess(few["bytes"], len(page))

    def test_what_is_refused(self):
        self.refused("did you mean 'usda'", "--to", "usd")
        self.refused("there is no frame 99", "--to", "glb", "--frames", "3:99")
        self.refused("not a range", "--to", "glb", "--frames", "9:3")
        self.refused("there is no run here", "--to", "glb", run=self.root / "nowhere")
        self.refused("--to", run=self.root / "run")
        (self.root / "foreign.sunder").write_bytes(b"PK\x03\x04" + bytes(100))
        self.refused("foreign.sunder", "--to", "glb", run=self.root / "foreign.sunder")
        (self.root / "taken").write_text("mine")
        self.refused("it is a file", "--to", "vtk", "-o", self.root / "taken")
        self.assertEqual((self.root / "taken").read_text(), "mine")

    def test_a_cut_recording_gives_its_whole_frames(self):
        whole = (self.root / "run/run.sunder").read_bytes()
        cut = self.root / "cut.sunder"
        # In the middle of the sixth frame that is not a key.
        at = -1
        for _ in range(6):
            at = whole.index(b"\xc5SUNFRAM", at + 1)
        cut.write_bytes(whole[:at + 70])
        result = sunder("export", cut, "--to", "csv", "-o", self.root / "cut", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("did not end by itself", result.stderr)
        self.assertEqual(json.loads(result.stdout)["frames"], 6)
        # Only the scene is left: no frames.
        cut.write_bytes(whole[:200])
        result = sunder("export", cut, "--to", "csv", "-o", self.root / "none")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no frames", result.stderr)
        self.assertFalse((self.root / "none").exists())

    def test_a_full_disk_leaves_nothing(self):
        def small_files():  # a write beyond the limit fails as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        for to in FORMATS:
            target = self.root / "full" / to
            result = subprocess.run([BIN / "sunder", "export", self.root / "run", "--to", to, "-o", target], text=True,
                                    capture_output=True, preexec_fn=small_files, restore_signals=False, timeout=120)
            self.assertEqual(result.returncode, 1, to + result.stderr)
            self.assertIn("has been removed", result.stderr)
            self.assertFalse((self.root / "full").exists(), to)

    def test_glb_is_whole(self):
        data = pathlib.Path(self.answer("--to", "glb")["open"]).read_bytes()
        self.assertEqual(struct.unpack("<4sII", data[:12]), (b"glTF", 2, len(data)))


if __name__ == "__main__":
    unittest.main()

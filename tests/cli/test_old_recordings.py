"""Recordings of earlier versions open and export for good. tests/record/old has three of format 1: a column that broke
and ended, one that was killed after it broke and behind its only checkpoint, and a liquid. Beside each are the tables
that the version which wrote it exported."""
import pathlib
import unittest

from harness import CommandTest

OLD = pathlib.Path(__file__).resolve().parent.parent / "record" / "old"

# Vertices and faces of the last frame, as the version that wrote the recording exported them.
LAST_FRAME = {"broken": (18, 4118, 8206), "killed": (11, 3296, 6566), "water": (12, 128, 12)}


def counts(file):
    """Elements that the header of a PLY file announces, by name."""
    header = file.read_bytes().split(b"end_header")[0].decode()
    return {words[1]: int(words[2]) for words in map(str.split, header.splitlines()) if words[0] == "element"}


class OldRecordings(CommandTest):
    def test_the_tables_are_those_of_their_own_version(self):
        for name in LAST_FRAME:
            with self.subTest(name):
                self.ok("export", OLD / f"{name}.sunder", "--to", "csv", "-o", name, "--quiet")
                for table in ("bodies.csv", "events.csv"):
                    self.assertEqual((self.folder / name / table).read_text(), (OLD / name / table).read_text())

    def test_the_last_frame_has_all_its_meshes_and_points(self):
        for name, (frame, vertices, faces) in LAST_FRAME.items():
            with self.subTest(name):
                self.ok("export", OLD / f"{name}.sunder", "--to", "ply", "-o", name, "--quiet")
                files = sorted((self.folder / name).glob("*.ply"))
                self.assertEqual(len(files), frame + 1)
                self.assertEqual(counts(files[-1]), {"vertex": vertices, "face": faces})

    def test_they_can_be_drawn(self):
        for name in LAST_FRAME:
            with self.subTest(name):
                self.ok("render", OLD / f"{name}.sunder", "--size", "64x36", "--samples", "1", "-o", f"{name}.png", "--quiet")
                self.assertGreater((self.folder / f"{name}.png").stat().st_size, 500)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""sunder render: pictures of runs and meshes."""
import json
import pathlib
import struct
import unittest
import zlib

from harness import RunTest, sunder


def pixels(path):
    """Width, height and rows of a PNG of eight-bit RGB."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        start = y * (3 * width + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + 3 * width])
        for i in range(len(line)):
            left = line[i - 3] if i >= 3 else 0
            corner = above[i - 3] if i >= 3 else 0
            nearest = min((left, above[i], corner), key=lambda v: abs(left + above[i] - corner - v))
            line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[kind]) & 255
        rows.append(bytes(line))
        above = bytes(line)
    return width, height, rows


class Show(RunTest):
    def test_a_picture_shows_bodies_before_a_ground(self):
        path = self.root / "frame.png"
        result = sunder("render", self.root / "run", "--size", "96x54", "--samples", 4, "--colour-by", "body", "-o", path,
                        "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["frames"], 1)
        width, height, rows = pixels(path)
        self.assertEqual((width, height), (96, 54))
        strong = sum(1 for row in rows for x in range(width) if max(row[3 * x:3 * x + 3]) - min(row[3 * x:3 * x + 3]) > 60)
        self.assertGreater(strong, 96 * 54 // 60)  # two coloured bodies
        self.assertLess(strong, 96 * 54 // 2)      # on grey

    def test_the_same_picture_for_any_number_of_threads(self):
        pictures = []
        for threads in (1, 2, 4):
            path = self.root / f"threads{threads}.png"
            sunder("render", self.root / "run", "--size", "48x27", "--samples", 2, "--threads", threads, "-o", path)
            pictures.append(path.read_bytes())
        self.assertEqual(len(set(pictures)), 1)

    def test_bad_calls(self):
        for arguments, text in ((["--frame", "99"], "there is no frame 99"), (["--frames", "3:99"], "there is no frame 99"),
                                (["--frames", "9:3"], "not a range"), (["--colour-by", "stress"], "no field"),
                                (["--camera", "eye 1 2"], "wants numbers"), (["--size", "0x5"], "size of a picture")):
            result = sunder("render", self.root / "run", *arguments, "-o", self.root / "bad.png")
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(text, result.stderr)
            self.assertFalse((self.root / "bad.png").exists())


if __name__ == "__main__":
    unittest.main()

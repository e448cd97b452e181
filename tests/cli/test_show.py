#!/usr/bin/env python3
"""sunder render and sunder view: pictures of runs and meshes, what the server answers and refuses."""
import json
import pathlib
import signal
import socket
import struct
import subprocess
import unittest
import urllib.error
import urllib.request
import zlib

from harness import BIN, RunTest, sunder


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

    def view(self, *arguments):
        process = subprocess.Popen([BIN / "sunder", "view", self.root / "run", "--json", *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = ""
        while not text.endswith("\n}\n"):
            line = process.stdout.readline()
            if not line:
                break
            text += line
        told = json.loads(text or "{}")
        if "port" not in told:
            error = process.communicate()[1]
            if "without the viewer" in error:
                self.skipTest("built without npm")
            self.fail(error)
        return process, told

    def end(self, process):
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)
        process.stdout.close()
        process.stderr.close()

    def test_the_server_answers(self):
        process, started = self.view("--port", 0)
        url = started["url"]
        self.assertTrue(url.startswith("http://127.0.0.1:"))
        get = lambda path: urllib.request.urlopen(url + path, timeout=20)
        try:
            self.assertIn(b'<script id="sunder-data"', get("").read())
            info = json.load(get("api/run"))
            frames = info["frames"]
            self.assertGreaterEqual(frames, 12)
            self.assertEqual((info["state"], len(info["bodies"]), info["ground"]), ("finished", 3, 0))
            data = get(f"api/frames/0-{frames - 1}").read()
            first, count, row, names = struct.unpack("<4I", data[:16])
            self.assertEqual((first, count, row), (0, frames, 8 + len(info["fields"])))
            self.assertEqual(names, len(info["statistics"]))
            self.assertEqual(struct.unpack("<dI", data[16:28]), (0, 3))
            ball = struct.unpack("<8f", data[32 + 4 * row:64 + 4 * row])
            self.assertAlmostEqual(ball[1], 0.25, 4)
            mesh = get(f"api/mesh/{info['bodies'][1]['mesh']}").read()
            vertices, triangles = struct.unpack("<2I", mesh[:8])
            self.assertEqual(len(mesh), 8 + 12 * (vertices + triangles))
            self.assertIsInstance(json.load(get("api/events/3")), list)
            for bad in ("../../etc/passwd", "%2e%2e/scene.json", "/etc/passwd", "api/mesh/999", "api/frames/5-99",
                        "api/frames/7-3", "api/events/99999999999999999999", "scene.json"):
                with self.assertRaises(urllib.error.HTTPError, msg=bad) as refused:
                    get(bad)
                self.assertEqual(refused.exception.code, 404, bad)
                refused.exception.close()
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url + "api/run", headers={"Host": "evil.example"}))
            self.assertEqual(refused.exception.code, 403)
            refused.exception.close()
            # A browser that goes away before its answer comes.
            for _ in range(5):
                with socket.create_connection(("127.0.0.1", started["port"])) as gone:
                    gone.sendall(b"GET /api/run HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % started["port"])
            self.assertEqual(get("api/run").status, 200)
        finally:
            self.end(process)

    def test_a_busy_port_is_left_for_the_next(self):
        first, started = self.view("--port", 0)
        try:
            second, other = self.view("--port", started["port"])
            self.assertGreater(other["port"], started["port"])
            self.end(second)
        finally:
            self.end(first)


if __name__ == "__main__":
    unittest.main()

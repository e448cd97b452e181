#!/usr/bin/env python3
"""sunder view as its clients see it: what the server answers and refuses, slow and vanishing clients, and how it ends."""
import http.client
import json
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time
import unittest

from harness import BIN, RunTest

RANGES = ("bytes=0-99999999", "bytes=0-0", "bytes=-5", "bytes=-99999999", "bytes=70-", "bytes=99999999-", "bytes=50-10",
          "bytes=0-1,5-99999999,-3", "bytes=0-18446744073709551615", "bytes=18446744073709551615-", "bytes=a-b", "bytes=")


class View(RunTest):
    def start(self, *arguments):
        """Starts `sunder view` on any port; sets self.process and self.port."""
        process = subprocess.Popen([BIN / "sunder", "view", self.root / "run", "--json", *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = ""
        while not text.endswith("\n}\n"):
            line = process.stdout.readline()
            if not line:
                break
            text += line
        self.addCleanup(self.kill, process)
        told = json.loads(text or "{}")
        if "port" not in told:
            error = process.communicate()[1]
            if "without the viewer" in error:
                self.skipTest("built without npm")
            self.fail(error)
        self.assertEqual(told["url"], f"http://127.0.0.1:{told['port']}/")
        return process, told["port"]

    def kill(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()

    def end(self, process, within=20.0):
        """Ctrl-C: ends with 0 within some seconds."""
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)
        self.assertLess(time.monotonic() - start, within)

    def get(self, port, path, method="GET", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def connect(self, port, data=b""):
        client = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.addCleanup(client.close)
        client.sendall(data)
        return client

    def request(self, port, path):
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()

    def paths(self, port):
        """Every kind of path that the server answers."""
        info = json.loads(self.get(port, "/api/run")[1])
        mesh = info["bodies"][1]["mesh"]
        return ["/", "/api/run", f"/api/mesh/{mesh}", f"/api/frames/0-{info['frames'] - 1}", f"/api/boxes/{mesh}/2",
                f"/api/spheres/{mesh}/2", f"/api/slice/{mesh}/1/500", "/api/points/0", "/api/events/3"]

    def test_the_page_and_the_run_are_served(self):
        process, port = self.start("--port", 0)
        self.assertIn(b'<script id="sunder-data"', self.get(port, "/")[1])
        info = json.loads(self.get(port, "/api/run")[1])
        frames = info["frames"]
        self.assertGreaterEqual(frames, 12)
        self.assertEqual((info["state"], len(info["bodies"]), info["ground"]), ("finished", 3, 0))
        data = self.get(port, f"/api/frames/0-{frames - 1}")[1]
        first, count, row, names = struct.unpack("<4I", data[:16])
        self.assertEqual((first, count, row), (0, frames, 8 + len(info["fields"])))
        self.assertEqual(names, len(info["statistics"]))
        self.assertEqual(struct.unpack("<dI", data[16:28]), (0, 3))
        ball = struct.unpack("<8f", data[32 + 4 * row:64 + 4 * row])
        self.assertAlmostEqual(ball[1], 0.25, 4)
        mesh = self.get(port, f"/api/mesh/{info['bodies'][1]['mesh']}")[1]
        vertices, triangles = struct.unpack("<2I", mesh[:8])
        self.assertEqual(len(mesh), 8 + 12 * (vertices + triangles))
        self.assertIsInstance(json.loads(self.get(port, "/api/events/3")[1]), list)
        self.end(process)

    def test_ranges_get_exactly_the_whole_resource(self):
        process, port = self.start("--port", 0)
        for path in self.paths(port):
            status, whole, headers = self.get(port, path)
            self.assertEqual((status, headers["Content-Length"]), (200, str(len(whole))), path)
            for text in RANGES:
                status, body, headers = self.get(port, path, headers={"Range": text})
                self.assertEqual((status, headers["Content-Length"]), (200, str(len(whole))), (path, text))
                self.assertEqual(body, whole, (path, text))
                self.assertEqual(headers["Accept-Ranges"], "none")
            status, body, headers = self.get(port, path, method="HEAD")
            self.assertEqual((status, body, headers["Content-Length"]), (200, b"", str(len(whole))), path)
        self.end(process)

    def test_headers_keep_other_pages_out(self):
        process, port = self.start("--port", 0)
        for path in ("/", "/api/run", "/nothing", "/api/mesh/999"):
            headers = self.get(port, path)[2]
            self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                                ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
                                ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store")):
                self.assertEqual(headers.get_all(name), [value], (path, name))
            self.assertIsNone(headers["Access-Control-Allow-Origin"])
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
            self.assertIn(self.get(port, "/api/run", headers={"Host": host})[0], (400, 403), host)
        self.assertEqual(self.get(port, "/api/run", headers={"Host": f"localhost:{port}"})[0], 200)
        for origin in ("http://evil.example", "null", f"http://localhost:{port + 1}"):
            self.assertEqual(self.get(port, "/api/run", headers={"Origin": origin})[0], 403, origin)
        self.assertEqual(self.get(port, "/api/run", headers={"Origin": f"http://127.0.0.1:{port}"})[0], 200)
        self.assertEqual(self.get(port, "/api/run", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)
        self.end(process)

    def test_what_is_not_served_is_refused(self):
        process, port = self.start("--port", 0)
        for bad in ("/../../etc/passwd", "/%2e%2e/scene.json", "//etc/passwd", "/api/mesh/999", "/api/frames/5-99",
                    "/api/frames/7-3", "/api/events/99999999999999999999", "/scene.json", "/api/mesh/", "/api/mesh/-1",
                    "/api/mesh/0x1", "/api/mesh/1/", "/api/slice/1/3/0", "/api/slice/1/1/99999", "/api/run/", "/api",
                    "/api/mesh/1%00", "/API/run"):
            self.assertEqual(self.get(port, bad)[0], 404, bad)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
            status, _, headers = self.get(port, "/api/run", method=method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        for data, status in ((head + "A: " + 65536 * "a" + "\r\n\r\n", 431), ("GET /" + 100000 * "a", 414),
                             (head + "Content-Length: 5\r\n\r\nhello", 413), (head + "A: \0\r\n\r\n", 400),
                             (head + 200 * "A: b\r\n" + "\r\n", 431), ("\0\r\n\r\n", 400)):
            client = self.connect(port, data.encode())
            self.assertEqual(int(client.recv(12)[9:]), status, data[:60])
        self.end(process)

    def test_slow_clients_neither_starve_others_nor_hold_up_the_end(self):
        process, port = self.start("--port", 0)
        slow = [self.connect(port, f"GET /api/run HTTP/1.1\r\nA{i}: ".encode()) for i in range(60)]
        slow += [self.connect(port, 50 * self.request(port, "/")) for _ in range(10)]  # never read what they get
        for _ in range(20):
            for client in slow[:60]:
                try:
                    client.sendall(b"a")
                except OSError:
                    pass  # it was the slowest
            for path in ("/", "/api/run", "/api/frames/0-11"):
                start = time.monotonic()
                self.assertEqual(self.get(port, path)[0], 200)
                self.assertLess(time.monotonic() - start, 1, path)
        self.end(process, within=1.0)

    def resident(self, process):
        pages = pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]
        return int(pages) * 4096

    def test_vanishing_clients_leave_nothing_behind(self):
        process, port = self.start("--port", 0)
        now = struct.pack("ii", 1, 0)  # closing resets the connection

        def visit(count):
            for i in range(count):
                with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
                    client.sendall((b"", b"GET /api", self.request(port, "/"), self.request(port, "/api/frames/0-11"))[i % 4])
                    if i % 8 >= 4:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)

        visit(200)
        before = self.resident(process)
        visit(2000)
        self.assertEqual(self.get(port, "/api/run")[0], 200)
        self.assertLess(self.resident(process), before + (16 << 20))
        self.end(process, within=1.0)

    def test_requests_share_a_connection(self):
        process, port = self.start("--port", 0)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.addCleanup(connection.close)
        for path in self.paths(port):
            connection.request("GET", path)
            answer = connection.getresponse()
            self.assertEqual((answer.status, len(answer.read())), (200, int(answer.headers["Content-Length"])), path)
        client = self.connect(port, 2 * self.request(port, "/api/events/3"))
        data = b""
        while data.count(b"HTTP/1.1 200 OK") < 2 or not data.endswith(b"]"):
            part = client.recv(65536)
            self.assertTrue(part, "the second answer did not come")
            data += part
        self.end(process)

    def test_a_run_that_shows_itself_ends_at_once(self):
        process = subprocess.Popen([BIN / "sunder", "run", self.root / "scene.json", "-o", self.root / "shown", "--view",
                                    "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.kill, process)
        text = ""
        while "goes on showing it" not in text:
            line = process.stderr.readline()
            if "without the viewer" in line:
                self.skipTest("built without npm")
            self.assertTrue(line, text)
            text += line
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/ goes on", text)[1])
        for _ in range(25):
            self.connect(port, b"GET /")
            self.connect(port, 50 * self.request(port, "/"))
        self.assertEqual(self.get(port, "/api/run")[0], 200)
        self.end(process, within=1.0)

    def test_a_busy_port_is_left_for_the_next(self):
        first, port = self.start("--port", 0)
        second, other = self.start("--port", port)
        self.assertGreater(other, port)
        self.end(second)
        self.end(first)


if __name__ == "__main__":
    unittest.main()

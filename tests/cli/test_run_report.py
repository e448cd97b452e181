"""What `sunder run` shows: the line on a terminal, the table of stages and what degraded; and what becomes of an earlier
recording in the same place."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import unittest

from harness import BIN, CommandTest

BALL = {"shape": {"sphere": {"radius": 0.1}}}
GROUND = {"id": "ground", "shape": {"plane": {}}, "kind": "static"}


def heap(count, frames):
    return {"world": {"frames": frames, "sleep": False}, "bodies": [GROUND], "arrays": [
        {"id": "ball", "body": BALL, "fill": {"count": count, "box": {"lower": [-1, 0.2, -1], "upper": [1, 9, 1]}, "spacing": 0.22}}]}


def on_terminal(command, folder, columns):
    """Runs a command with standard error on a pseudo-terminal of so many columns; its exit code, standard output and what
    the terminal got."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=inner)
    os.close(inner)
    shown = b""
    while True:
        if not select.select([outer], [], [], 60)[0]:
            process.kill()
            break
        try:
            part = os.read(outer, 65536)
        except OSError:  # Linux says so when the other end was closed
            break
        if not part:
            break
        shown += part
    os.close(outer)
    out = process.stdout.read()
    process.stdout.close()
    return process.wait(), out.decode(), shown.decode()


class ReportTest(CommandTest):
    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content))

    def on_terminal(self, *arguments, columns=80):
        code, out, shown = on_terminal([BIN / "sunder", *arguments], self.folder, columns)
        self.assertEqual(code, 0, shown)
        return out, shown


class Line(ReportTest):
    def test_the_line_shows_everything_in_80_columns(self):
        self.write("heap.json", heap(300, 100000))
        _, shown = self.on_terminal("run", "heap.json", "--frames", 1500)
        lines = [line for line in re.split(r"\r\x1b\[K", shown) if line.startswith("frame ")]
        self.assertGreater(len(lines), 2, shown)
        for line in lines:
            self.assertLess(len(line.splitlines()[0]), 80)
        self.assertRegex(lines[-1].splitlines()[0],
                         r"^frame \d+/1500  \d+\.\d\d s  [\d.]+( frames)?/s  .+ left  301 bodies( \(\d+ awake\))?  \d+ contacts  -?[\d.]+ m?k?J$")
        self.assertNotIn("\n", "".join(lines[:-1]), "the line was left standing")
        self.assertIn("\r\x1b[Kstage", shown, "the line is gone before the table")

    def test_the_line_fits_into_narrow_and_wide_terminals(self):
        self.write("heap.json", heap(300, 100000))
        for columns, wanted in ((60, "301 bodies"), (140, "awake)")):
            _, shown = self.on_terminal("run", "heap.json", "--frames", 1000, "--force", columns=columns)
            lines = [line for line in re.split(r"\r\x1b\[K", shown) if re.match(r"(frame )?\d+/1000", line)]
            self.assertGreater(len(lines), 1, shown)
            self.assertTrue(all(len(line.splitlines()[0]) < columns for line in lines), lines)
            self.assertIn(wanted, lines[-1])

    def test_resumed_frames_are_not_part_of_the_rate(self):
        self.write("heap.json", heap(300, 100000))
        self.json("run", "heap.json", "--frames", 400)
        _, shown = self.on_terminal("run", "heap.json", "--frames", 2000, "--resume")
        rates = [float(rate) for rate in re.findall(r"  ([\d.]+)(?: frames)?/s", shown)]
        self.assertTrue(rates, shown)
        self.assertLess(rates[0], 5 * rates[-1])


class Report(ReportTest):
    def test_no_line_without_a_terminal(self):
        self.write("heap.json", heap(100, 60))
        result = self.run_sunder("run", "heap.json")
        self.assertNotIn("\r", result.stderr + result.stdout)
        self.assertNotIn("frame 1", result.stderr)
        for option in ("--quiet", "--json"):
            out, shown = self.on_terminal("run", "heap.json", "--force", option)
            self.assertEqual(shown, "", option)
            self.assertEqual(out == "", option == "--quiet")

    def test_the_table_of_stages_comes_at_the_end(self):
        self.write("heap.json", heap(100, 60))
        result = self.run_sunder("run", "heap.json")
        rows = {}
        for line in result.stderr.splitlines():
            if match := re.fullmatch(r"( *[a-z ]+?) +([\d.]+) s +([\d.]+)%", line):
                rows[match[1].strip()] = (float(match[2]), float(match[3]))
        for stage in ("build", "step", "broad phase", "contacts", "solve", "record", "checkpoint", "all"):
            self.assertIn(stage, rows)
        parts = sum(rows[name][0] for name in ("build", "forces", "step", "record", "checkpoint", "other"))
        self.assertAlmostEqual(parts, rows["all"][0], delta=0.004)
        self.assertEqual(rows["all"][1], 100)
        self.assertIn("nothing degraded", result.stderr)
        self.assertNotIn("stage", result.stdout)
        self.assertIn("calls", self.run_sunder("run", "heap.json", "-v").stderr)
        for option in ("--quiet", "--json"):
            self.assertEqual(self.run_sunder("run", "heap.json", "--force", option).stderr, "")

    def test_what_degraded_is_told(self):
        self.write("two.json", {"world": {"frames": 10}, "bodies": [dict(BALL, id="a"), dict(BALL, id="b", position=[0.05, 0, 0])]})
        self.assertRegex(self.run_sunder("run", "two.json").stderr,
                         r"degraded: pairs of bodies overlap at the start: 1, first in frame 0 \(a and b by 0\.15 m\)")

    def test_an_earlier_recording_is_kept(self):
        self.write("heap.json", heap(20, 30))
        first = self.json("run", "heap.json", "-o", "out")
        self.assertNotIn("kept", first)
        bytes_of_first = (self.folder / "out/run.sunder").read_bytes()
        result = self.run_sunder("run", "heap.json", "-o", "out", "--frames", 5)
        self.assertIn("out/run.sunder: the earlier recording is now out/run.1.sunder (--force replaces it)", result.stderr)
        self.assertEqual((self.folder / "out/run.1.sunder").read_bytes(), bytes_of_first)
        self.assertEqual(self.json("run", "heap.json", "-o", "out", "--frames", 6)["kept"], "out/run.2.sunder")
        self.assertEqual([self.json("info", f"out/{name}")["frames"] for name in ("run.1.sunder", "run.2.sunder", "run.sunder")],
                         [31, 6, 7])
        self.assertTrue(self.json("replay", "out/run.1.sunder")["same"])
        # Going on, and --force, keep nothing.
        self.assertNotIn("kept", self.json("run", "--resume", "out", "--frames", 8))
        self.assertNotIn("kept", self.json("run", "heap.json", "-o", "out", "--force"))
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["run.1.sunder", "run.2.sunder", "run.sunder"])

    def test_what_is_not_worth_keeping_and_what_is_not_ours(self):
        self.write("heap.json", heap(20, 30))
        self.json("run", "heap.json", "-o", "out", "--frames", 0)
        self.assertNotIn("kept", self.json("run", "heap.json", "-o", "out"), "nothing had happened in it")
        (self.folder / "out/run.sunder").write_text("someone's notes")
        self.assertEqual(self.json("run", "heap.json", "-o", "out")["kept"], "out/run.1.sunder")
        self.assertEqual((self.folder / "out/run.1.sunder").read_text(), "someone's notes")
        # A scene with a mistake leaves the recording where it is.
        before = (self.folder / "out/run.sunder").read_bytes()
        self.refused("run", "heap.json", "-o", "out", "--set", "world.gravty=1")
        self.assertEqual((self.folder / "out/run.sunder").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()

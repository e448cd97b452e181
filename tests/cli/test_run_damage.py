"""Recordings that were killed, cut, torn, zeroed or found the disk full, with pieces born after the last checkpoint: resumed,
every export is byte for byte that of the run without a break. Damaged ones: what is lost is named, the rest is shown.
SUNDER_BREAKS=100 breaks each way so often, once without it."""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time
import unittest

from harness import BIN, CommandTest

BREAKS = int(os.environ.get("SUNDER_BREAKS", 1))
FORMATS = ("csv", "vtk", "glb", "usda", "obj", "ply", "bgeo") if BREAKS > 10 else ("csv", "vtk")

SCENE = {
    "world": {"frames": 24, "timeStep": "1/120 s", "seed": 3},
    "shapes": {"bar": {"box": {"size": ["40 cm", "4 cm", "6 cm"]}}},
    "bodies": [
        {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
        {"id": "low", "shape": "bar", "material": "oak", "position": [0, 0.2, 0], "velocity": [0, -4, 0],
         "fracture": {"model": "voronoi", "pieces": 5, "impulse": "0.1 N s", "edge": "4 cm"}},
        {"id": "middle", "shape": "bar", "material": "oak", "position": [0.5, 0.4, 0], "velocity": [0, -3, 0],
         "fracture": {"model": "voronoi", "pieces": 7, "impulse": "0.1 N s", "edge": "4 cm"}},
        {"id": "high", "shape": "bar", "material": "oak", "position": [-0.5, 0.7, 0], "velocity": [0, -3, 0],
         "fracture": {"model": "voronoi", "pieces": 6, "impulse": "0.1 N s", "edge": "4 cm"}}],
    "fluid": {"radius": "3 cm", "tank": {"lower": [2, 0, 0], "upper": [2.4, 0.5, 0.4]}, "liquids": [
        {"id": "water", "blocks": [{"lower": [2, 0, 0], "upper": [2.4, 0.2, 0.4]}],
         "emitters": [{"position": [2.2, 0.4, 0.2], "direction": [0, -1, 0], "speed": 1, "radius": "5 cm"}]}]},
    "recording": {"checkpointFrames": 5, "keyEvery": 6, "eventImpulse": 0.01, "fields": ["impulse"]},
}


class BarsTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = random.Random(5)

    def setUp(self):
        super().setUp()
        (self.folder / "bars.json").write_text(json.dumps(SCENE))

    def whole(self):
        begin = time.monotonic()
        told = self.json("run", "bars.json", "-o", "whole")
        self.seconds = time.monotonic() - begin
        self.wanted = self.exports("whole/run.sunder", FORMATS)
        self.hash = told["hash"]
        return (self.folder / "whole/run.sunder").read_bytes()

    def expect_resumed(self, folder, what):
        told = self.json("run", "bars.json", "-o", folder, "--resume")
        self.assertEqual((told["hash"], told["frames"]), (self.hash, 24), what)
        info = self.json("info", folder)  # ends with 0: nothing is damaged
        self.assertEqual((info["problems"], info["frames"]), ([], 25), what)
        got = self.exports(f"{folder}/run.sunder", FORMATS)
        self.assertEqual(sorted(got), sorted(self.wanted), what)
        for name, content in self.wanted.items():
            self.assertEqual(got[name], content, f"{what}: {name}")

    def damage(self, tag, number, at=60):
        """A recording with a flipped bit behind the head of the n-th chunk of a type."""
        content = bytearray((self.folder / "whole/run.sunder").read_bytes())
        place = -1
        for _ in range(number):
            place = content.index(b"\xc5SUN" + tag, place + 1)
        content[place + at] ^= 1
        if at < 56:
            content = content[:-1]  # the index would still have the head
        (self.folder / "bad.sunder").write_bytes(content)

    def result(self, *arguments):
        return self.run_sunder(*map(str, arguments))


class Broken(BarsTest):
    def test_cut_torn_and_zeroed_files_are_resumed_whole(self):
        whole = self.whole()
        for k in range(BREAKS):
            cut = self.random.randrange(16, len(whole))
            tails = {"cut": b"", "torn": os.urandom(self.random.randrange(1, 900)), "zeroed": bytes(4096)}
            for name, tail in tails.items():
                folder = f"{name}{k}"
                (self.folder / folder).mkdir()
                (self.folder / folder / "run.sunder").write_bytes(whole[:cut] + tail)
                self.expect_resumed(folder, f"{name} at {cut}")


class FullDisk(BarsTest):
    def test_full_disks_are_resumed_whole(self):
        whole = self.whole()
        for k in range(BREAKS):
            folder = f"full{k}"
            limit = self.random.randrange(len(whole) // 4, len(whole))
            for _ in range(2):  # and full again, with a little more room
                subprocess.run([BIN / "sunder", "run", "bars.json", "-o", folder, "--resume", "-q"], cwd=self.folder,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                               capture_output=True, timeout=60)
                limit += 3000
            self.expect_resumed(folder, f"a disk of {limit} bytes")


class Killed(BarsTest):
    def test_killed_runs_are_resumed_whole(self):
        self.whole()
        for k in range(BREAKS):
            folder = f"killed{k}"
            for again, part in enumerate((1.0, 0.5)):  # and again while it goes on
                process = subprocess.Popen([BIN / "sunder", "run", "bars.json", "-o", folder, "--resume", "-q"], cwd=self.folder,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(self.random.uniform(0, part * self.seconds))
                process.send_signal((signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[(k + again) % 3])
                process.wait()
            self.expect_resumed(folder, f"kill {k}")


class Damaged(BarsTest):
    def test_a_flipped_bit_costs_what_it_hits(self):
        self.json("run", "bars.json", "-o", "whole")
        self.damage(b"FRAM", 8)
        told = self.result("info", "bad.sunder", "--json")
        self.assertEqual(told.returncode, 1)
        lost = json.loads(told.stdout)["lost"]
        [[first, last]] = lost["frames"]
        self.assertLess(last - first, 5, "up to the next key frame")
        self.assertIn(f"lost: frame", self.result("info", "bad.sunder").stdout)

        asked = self.result("export", "bad.sunder", "--to", "csv", "-o", "all", "--json")
        self.assertEqual(asked.returncode, 1)
        self.assertEqual(json.loads(asked.stdout)["frames"], 25 - (last - first + 1))
        rows = (self.folder / "all/statistics.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 25 - (last - first + 1))
        self.assertEqual(asked.stderr.count("lost:"), 1, asked.stderr)
        quiet = self.result("export", "bad.sunder", "--to", "csv", "-o", "all", "--quiet")
        self.assertEqual((quiet.returncode, quiet.stderr.count("lost:")), (1, 1), "what fails says so")
        self.assertEqual(self.result("export", "bad.sunder", "--to", "csv", "-o", "before", "--frames", f":{first - 1}").returncode, 0)
        gone = self.result("export", "bad.sunder", "--to", "csv", "-o", "gone", "--frames", f"{first}:{last}")
        self.assertEqual(gone.returncode, 1)
        self.assertFalse((self.folder / "gone").exists())
        picture = ["--size", "64x48", "--samples", "1"]
        self.assertEqual(self.result("render", "bad.sunder", "--frame", first, "-o", "lost.png", *picture).returncode, 1)
        self.assertFalse((self.folder / "lost.png").exists())
        self.assertEqual(self.result("render", "bad.sunder", "--frame", last + 1, "-o", "good.png", *picture).returncode, 0)
        self.assertTrue((self.folder / "good.png").exists())
        self.assertEqual(self.result("export", "bad.sunder", "--to", "html", "-o", "page.html").returncode, 1)
        replayed = self.result("replay", "bad.sunder", "--json")
        self.assertEqual((replayed.returncode, json.loads(replayed.stdout)["lost"]), (1, last - first + 1))

    def test_a_lost_mesh_and_a_lost_body_leave_the_others(self):
        self.json("run", "bars.json", "-o", "whole")
        whole = self.json("info", "whole")
        for tag, number, kind in ((b"MESH", 7, "meshes"), (b"BODY", 7, "bodies")):
            for at in (20, 60):  # head, payload
                self.damage(tag, number, at)
                told = self.result("info", "bad.sunder", "--json")
                self.assertEqual(told.returncode, 1, told.stderr)
                info = json.loads(told.stdout)
                self.assertEqual(info["lost"][kind], [[6, 6]], info["problems"])
                self.assertEqual((info["frames"], info["bodies"], info["meshes"]), (25, whole["bodies"], whole["meshes"]))
                asked = self.result("export", "bad.sunder", "--to", "obj", "-o", "obj")
                self.assertEqual(asked.returncode, 1, asked.stderr)
                self.assertTrue((self.folder / "obj/frame_0024.obj").exists())
                self.assertEqual(self.result("render", "bad.sunder", "-o", "p.png", "--size", "64x48", "--samples", "1").returncode, 1)


class Saved(BarsTest):
    def test_repair_saves_the_rest(self):
        self.json("run", "bars.json", "-o", "whole")
        self.damage(b"FRAM", 8)
        before = (self.folder / "bad.sunder").read_bytes()
        lost = json.loads(self.result("info", "bad.sunder", "--json").stdout)["lost"]["frames"][0]
        told = self.json("repair", "bad.sunder")
        self.assertEqual(told["output"], "bad.repaired.sunder")
        self.assertEqual(told["frames"], 25 - (lost[1] - lost[0] + 1))
        self.assertEqual((self.folder / "bad.sunder").read_bytes(), before)
        info = self.json("info", "bad.repaired.sunder")
        self.assertEqual((info["problems"], info["frames"]), ([], told["frames"]))
        self.assertIn("frames", info["lost_before_repair"][0])
        self.refused("repair", "bad.sunder", says=("already there",))
        wanted, got = ((self.folder / name / "bodies.csv").read_text().splitlines() for name in
                       [self.ok("export", run, "--to", "csv", "-o", out) and out for run, out in
                        (("whole", "a"), ("bad.repaired.sunder", "b"))])
        gone = {str(f) for f in range(lost[0], lost[1] + 1)}
        self.assertEqual([row for row in wanted if row.split(",")[0] not in gone], got)
        # It goes on from the checkpoint before the damage, and is whole then.
        wanted = self.json("info", "whole")["hash"]
        self.assertEqual(self.json("run", "--resume", "bad.repaired.sunder")["hash"], wanted)
        self.assertEqual(self.json("info", "bad.repaired.sunder")["frames"], 25)
        # Nothing to save.
        (self.folder / "none.sunder").write_bytes(before[:300])
        self.assertEqual(self.result("repair", "none.sunder").returncode, 1)
        self.assertFalse((self.folder / "none.repaired.sunder").exists())


class Resumed(BarsTest):
    def test_a_damaged_recording_is_resumed_from_before_the_damage(self):
        self.whole()
        self.damage(b"FRAM", 12)
        (self.folder / "bad").mkdir()
        (self.folder / "bad.sunder").rename(self.folder / "bad/run.sunder")
        result = self.result("run", "--resume", "bad")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("something behind frame 10 is damaged", result.stderr)
        self.expect_resumed("bad", "damage")
        first = self.json("info", "bad")["resumed"][0]
        self.assertEqual(first["frame"], 10)
        # What was there before can still be had.
        told = self.json("repair", "bad", "--before-resume", 1, "-o", "earlier.sunder")
        self.assertLess(told["frames"], 25)

    def test_the_old_recording_stays_until_the_first_checkpoint(self):
        self.json("run", "bars.json", "-o", "out")
        before = (self.folder / "out/run.sunder").read_bytes()
        (self.folder / "bars.json").write_text(json.dumps(dict(SCENE, world={"frames": 20, "timeStep": "1/120 s"})))
        for force in ([], ["--force"]):
            subprocess.run([BIN / "sunder", "run", "bars.json", "-o", "out", "-q", *force], cwd=self.folder, timeout=60,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)), capture_output=True)
            self.assertEqual([p.name for p in (self.folder / "out").iterdir()], ["run.sunder"])
            self.assertEqual((self.folder / "out/run.sunder").read_bytes(), before)


OLD = pathlib.Path(__file__).resolve().parents[1] / "record" / "old"


@unittest.skipUnless(OLD.is_dir(), f"no recordings in {OLD}")
class OldRecordings(CommandTest):
    def test_they_open_and_export_for_good(self):
        for run in sorted(OLD.glob("*.sunder")):
            with self.subTest(run=run.name):
                info = self.json("info", run)
                self.assertEqual((info["version"], info["problems"]), (1, []))
                self.ok("export", run, "--to", "csv", "-o", run.stem)
                for wanted in (OLD / run.stem).glob("*.csv"):
                    self.assertEqual((self.folder / run.stem / wanted.name).read_bytes(), wanted.read_bytes(), wanted)
                self.ok("render", run, "-o", "picture.png", "--size", "32x24", "--samples", "1")
                self.refused("run", "--resume", run, says=("format 1",))


if __name__ == "__main__":
    unittest.main()

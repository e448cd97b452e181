"""sunder run, check, replay, describe scene and info of recordings: hashes after kill and resume, bad scenes, full disk."""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time
import unittest

from harness import BIN, CUBE_OBJ, SMALLER, CommandTest

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"

HEAP = {
    "world": {"frames": 120, "seed": 4},
    "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static"}],
    "arrays": [{
        "id": "heap", "body": {}, "shapes": [{"sphere": {"radius": 0.06}}, {"box": {"size": [0.1, 0.1, 0.1]}}],
        "turned": True,
        "fill": {"count": 60, "box": {"lower": [-0.3, 0.2, -0.3], "upper": [0.3, 4, 0.3]}, "spacing": 0.2}}],
    "recording": {"checkpointFrames": 7},
}

BALL = '{"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]}'


class SceneTest(CommandTest):
    def write(self, name, content):
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (self.folder / name).write_text(text)

    def start(self, *arguments, **options):
        return subprocess.Popen([BIN / "sunder", *map(str, arguments)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


class Run(SceneTest):
    def test_threads_do_not_change_the_hash(self):
        self.write("heap.json", HEAP)
        hashes = {self.json("run", "heap.json", "-o", f"t{n}", "--threads", n)["hash"] for n in (1, 2, 4)}
        self.assertEqual(len(hashes), 1)

    def test_the_result_says_what_was_done(self):
        self.write("heap.json", HEAP)
        told = self.json("run", "heap.json", "--frames", 30)
        self.assertEqual(told["file"], "out/heap/run.sunder")
        self.assertEqual((told["frames"], told["bodies"], told["state"]), (30, 61, "finished"))
        for key in ("contacts", "seconds", "hash", "degraded"):
            self.assertIn(key, told)
        info = self.json("info", "out/heap")
        self.assertEqual((info["frames"], info["bodies"], info["state"]), (31, 61, "finished"))
        self.assertEqual(info["hash"], told["hash"])
        self.assertEqual(info["problems"], [])
        self.assertIn("hash " + told["hash"], self.ok("run", "heap.json", "--frames", 30, "--hash"))
        replayed = self.json("replay", "out/heap")
        self.assertTrue(replayed["same"])
        self.assertEqual(replayed["frames"], 31)

    def test_kill_and_resume_reach_the_same_hash(self):
        self.write("heap.json", HEAP)
        begin = time.monotonic()
        wanted = self.json("run", "heap.json", "-o", "whole")["hash"]
        length = time.monotonic() - begin
        source = random.Random(7)
        for k in range(7):  # three kills each
            folder = f"killed{k}"
            process = self.start("run", "heap.json", "-o", folder)
            time.sleep(source.uniform(0, length))
            process.kill()
            process.communicate()
            for _ in range(2):  # killed again while going on
                process = self.start("run", "heap.json", "-o", folder, "--resume")
                time.sleep(source.uniform(0, length / 2))
                process.kill()
                process.communicate()
            told = self.json("run", "heap.json", "-o", folder, "--resume")
            self.assertEqual(told["hash"], wanted)
            self.assertEqual(told["frames"], 120)
            self.assertEqual(self.json("info", folder)["problems"], [])
        self.assertEqual(self.json("run", "--resume", "killed0/run.sunder")["hash"], wanted)

    def test_interrupt_ends_with_a_checkpoint(self):
        scene = dict(HEAP, world={"frames": 100000, "seed": 4, "sleep": False})
        self.write("heap.json", scene)
        process = self.start("run", "heap.json", "-o", "out", "--json")
        while not (self.folder / "out/run.sunder").exists():
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        told = json.loads(out)
        self.assertEqual(told["state"], "stopped")
        info = self.json("info", "out")
        self.assertEqual((info["state"], info["last_checkpoint"]), ("stopped", told["frames"]))
        self.assertEqual(info["hash"], told["hash"])

    def test_a_full_disk_keeps_what_is_recorded(self):
        self.write("heap.json", HEAP)
        process = self.start("run", "heap.json", "-o", "out",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)))
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot write", err)
        info = self.json("info", "out")
        self.assertGreater(info["frames"], 1)
        self.assertEqual(info["problems"], [])
        wanted = self.json("run", "heap.json", "-o", "whole")["hash"]
        self.assertEqual(self.json("run", "heap.json", "-o", "out", "--resume")["hash"], wanted)

    def test_a_million_to_one_is_warned_of_and_holds(self):
        self.write("ratio.json", {"world": {"frames": 120}, "bodies": [
            {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
            {"id": "light", "shape": {"box": {"size": [0.2, 0.2, 0.2]}}, "mass": "1 g", "position": [0, 0.1, 0]},
            {"id": "heavy", "shape": {"box": {"size": [0.2, 0.2, 0.2]}}, "mass": "1000 kg", "position": [0, 0.301, 0]}]})
        result = self.run_sunder("check", "ratio.json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning: light and heavy: masses of 0.001 kg and 1e+03 kg: a ratio of 1e+06", result.stdout)
        self.json("run", "ratio.json")
        statistics = self.json("info", "out/ratio")["statistics"]
        self.assertLess(statistics["energy.kinetic"], 1e-3 * 1000 * 9.81 * 0.3, "neither flies away")

    def test_a_step_that_is_not_finite_names_body_frame_and_checkpoint(self):
        self.write("burst.json", {
            "world": {"frames": 60}, "recording": {"checkpointFrames": 2},
            "bodies": [{"id": "still", "shape": {"sphere": {"radius": 0.1}}, "position": [9, 0, 0]},
                       {"id": "mote", "shape": {"sphere": {"radius": 0.1}}, "mass": 1e-30}],
            "forces": [{"explosion": {"position": [-0.1, 0, 0], "time": 0.1, "impulse": 1e30, "radius": 1}, "bodies": ["mote"]}]})
        result = self.run_sunder("run", "burst.json", "-o", "out")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"out/run\.sunder: frame 7: .*body 1 'mote'.*; the last checkpoint is of frame 6 \(.+\)")
        info = self.json("info", "out")
        self.assertEqual((info["state"], info["frames"], info["last_checkpoint"], info["problems"]), ("diverged", 7, 6, []))

    def test_a_cut_recording_is_read_as_far_as_it_goes(self):
        self.write("heap.json", HEAP)
        self.json("run", "heap.json", "-o", "out", "--frames", 20)
        whole = (self.folder / "out/run.sunder").read_bytes()
        for keep in (len(whole) - 1, len(whole) * 3 // 4, 20):
            (self.folder / "cut.sunder").write_bytes(whole[:keep])
            info = self.json("info", "cut.sunder")
            self.assertLessEqual(info["frames"], 21)
            self.assertEqual(info["state"] == "finished", keep == len(whole) - 1)
        for keep in (0, 7):
            (self.folder / "cut.sunder").write_bytes(whole[:keep])
            self.refused("info", "cut.sunder", says=("not a run file",))

    def test_recordings_are_recognised(self):
        (self.folder / "bad.sunder").write_bytes(b"hello")
        self.refused("info", "bad.sunder", says=("not a run file",))
        self.refused("replay", "none.sunder", says=("cannot read",))
        self.refused("run", "bad.sunder", says=("is a recording",))


class Scenes(SceneTest):
    def test_bad_scenes_name_line_and_way_out(self):
        cases = [
            ('{\n "word": {}}', "bad.json:2", "did you mean 'world'"),
            ('{\n "world": {\n  "gravty": [0, 0, 0]}}', "bad.json:3", "did you mean 'gravity'"),
            ('{\n "bodies": [\n ' + BALL.replace("0.1}", "0}") + "]}", "bad.json:3", "more than 0"),
            ('{\n "bodies": [\n ' + BALL.replace('"position"', '"mass": -1, "position"') + "]}", "bad.json:3", "more than 0"),
            ('{\n "bodies": [\n ' + BALL.replace('"position"', '"material": "glas", "position"') + "]}",
             "bad.json:3", "did you mean 'glass'"),
            ('{"bodies": [\n' + BALL + ",\n" + BALL + "]}", "bad.json:3", "two bodies"),
            ('{"bodies": [\n{"id": "a", "shape": {"file": "none.obj"}}]}', "bad.json:2", "none.obj"),
            ('{"world": {"duration": NaN}}', "bad.json:1", "no such number"),
            ('{"world": {"duration":\n -Infinity}}', "bad.json:2", "no such number"),
            ('{"world": {"duration": 1e999}}', "bad.json:1", "1.7e308"),
            ('{"world": {"duration": "nan s"}}', "bad.json:1", "there is no number"),
            ('{"bodies": [\n' + BALL.replace("[0, 1, 0]", "[0, 1e300, 0]") + "]}", "bad.json:2", "1e+300 is too large"),
            ('{"bodies": [\n' + BALL.replace('"position"', '"mass": 1e-300, "position"') + "]}", "bad.json:2", "1e-300 is too small"),
            ('{"bodies": [\n' + BALL.replace("0.1}", "1e20}") + "]}", "bad.json:2", "radius is 1e+20, but must lie in"),
            ('{"world": {"frames": 1000000000000}}', "bad.json:1", "out of range"),
            ('{"materials": {"m": {\n"density": 0}}}', "bad.json:2", "more than 0"),
            ('{"materials": {"m": {\n"like": "stel"}}}', "bad.json:2", "did you mean 'steel'"),
            ('{"world": {},\n}', "bad.json:2", "remove the comma"),
            ('{"world": {"duration": "2 kg"}}', "bad.json:1", "another kind"),
            ('{"include": ["bad.json"]}', "bad.json:1", "bad.json -> bad.json"),
            ('{"include": ["none.json"]}', "bad.json:1", "none.json"),
            ("", "bad.json:1", ""),
        ]
        for text, place, hint in cases:
            self.write("bad.json", text)
            for verb in ("run", "check"):
                self.refused(verb, "bad.json", says=(place, hint))

    def test_open_meshes_and_overlaps_are_found(self):
        self.json("shape", "cloth", "-o", "sheet.obj")
        self.write("open.json", {"bodies": [{"id": "a", "shape": {"file": "sheet.obj", "as": "hull"}}]})
        result = self.run_sunder("check", "open.json")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        ball = {"shape": {"sphere": {"radius": 1}}}
        self.write("two.json", {"world": {"frames": 60}, "bodies": [dict(ball, id="a"), dict(ball, id="b", position=[0.5, 0, 0])]})
        result = self.run_sunder("check", "two.json", "--json")
        self.assertEqual(result.returncode, 2)
        found = json.loads(result.stdout)
        self.assertTrue(any("overlap" in f["text"] for f in found["findings"]))
        told = self.json("run", "two.json")
        self.assertTrue(any("overlap" in d["what"] for d in told["degraded"]))
        self.assertEqual(self.run_sunder("run", "two.json", "--strict").returncode, 1)

    def test_includes_in_a_circle_name_the_way(self):
        self.write("a.json", '{"include": ["b.json"]}')
        self.write("b.json", '{\n"include": ["a.json"]}')
        self.refused("run", "a.json", says=("b.json:2", "a.json -> b.json -> a.json"))

    def test_a_mesh_with_a_hole_is_an_error_of_check_and_degrades_a_run(self):
        self.write("box.obj", "\n".join(CUBE_OBJ.splitlines()[:-1]) + "\n")
        self.write("open.json", {"world": {"frames": 5}, "bodies": [
            {"id": "a", "shape": {"file": "box.obj", "solid": {"error": 0.02, "points": 50}}}]})
        result = self.run_sunder("check", "open.json")
        self.assertEqual(result.returncode, 2)
        self.assertIn("error: shape box", result.stdout)
        self.assertIn("the surface is open: 4 edges have one face only; close it with 'sunder clean --fill-holes'", result.stdout)
        told = self.json("run", "open.json")
        self.assertEqual([d["what"] for d in told["degraded"]], ["meshes with defects"])

    def test_set_changes_the_scene(self):
        self.write("heap.json", HEAP)
        self.assertEqual(self.json("run", "heap.json", "--set", "world.frames=3")["frames"], 3)
        told = self.json("run", "heap.json", "--set", "arrays.heap.fill.count=5", "--frames", 2)
        self.assertEqual(told["bodies"], 6)
        self.refused("check", "heap.json", "--set", "arrays.heep.fill.count=5", says=("no 'heep'", "did you mean 'heap'"))

    def test_all_scenes_are_valid(self):
        """Those that are built in a moment are run as well; the heavy tier runs all of them."""
        for scene in sorted(SCENES.glob("*.json")):
            self.assertEqual(self.json("check", scene)["errors"], 0, scene.stem)
        for name in ("arch", "cradle", "dominoes", "double-dam", "dzhanibekov", "stack", "top", "tori"):
            self.json("run", SCENES / f"{name}.json", "-o", name, "--frames", 2, *SMALLER.get(name, []))


class Described(SceneTest):
    def test_the_described_scene_runs(self):
        (self.folder / "sample.json").write_text(self.ok("describe", "scene"))
        self.assertEqual(self.json("run", "sample.json", "--frames", 2)["frames"], 2)
        self.assertIn('"keyFrames"', self.ok("describe", "scene", "bodies"))
        self.refused("describe", "scene", "bodis", says=("did you mean 'bodies'",))


if __name__ == "__main__":
    unittest.main()

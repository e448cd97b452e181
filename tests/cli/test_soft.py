"""Soft bodies from the command line: a kill in the middle of a tear, threads, and input that nobody should give."""
import json
import os
import signal
import time
import unittest

from harness import CUBE_OBJ, CommandTest
from test_ends import EndTest

FLOOR = {"id": "floor", "shape": {"plane": {}}, "kind": "static"}


def scene(*bodies, **world):
    return {"world": {"frames": 30, **world}, "bodies": list(bodies)}


def soft(shape, name="soft", position=(0, 0.3, 0), **block):
    return {"id": name, "shape": shape, "kind": "deformable", "position": list(position),
            "soft": {"young": "20 kPa", "tets": 60, **block}}


def box(x, y, z):
    return {"box": {"size": [x, y, z]}}


# A bar that two grips pull apart. Its ends are held, and a ball falls on it.
TORN = scene(
    FLOOR, {"id": "ball", "shape": {"sphere": {"radius": 0.04}}, "position": [0, 0.5, 0]},
    soft(box(0.5, 0.1, 0.1), density=1000, tear={"strength": "6 kPa", "surfaceEnergy": 5}, pins=[
        {"lower": [-1, -1, -1], "upper": [-0.18, 1, 1], "keyFrames": [{"time": 0}, {"time": "0.7 s", "position": [-0.25, 0.3, 0]}]},
        {"lower": [0.18, -1, -1], "upper": [1, 1, 1], "keyFrames": [{"time": 0}, {"time": "0.7 s", "position": [0.25, 0.3, 0]}]}]),
    frames=42)
FORMATS = ("vtk", "csv", "glb", "obj")


class Kill(EndTest):
    def test_a_kill_during_a_tear_and_threads_change_no_byte_of_an_export(self):
        (self.folder / "torn.json").write_text(json.dumps(TORN))
        wanted = self.json("run", "torn.json", "-o", "whole", "--threads", 1)
        files = self.exports("whole", FORMATS)
        events = files["csv/events.csv"].decode()
        self.assertIn("tore at", events)
        for threads in 2, 4:
            told = self.json("run", "torn.json", "-o", f"threads{threads}", "--threads", threads)
            self.assertEqual(told["hash"], wanted["hash"])
            self.assertEqual(self.exports(f"threads{threads}", FORMATS), files)
        # The first tear, and the frame in which it all has come apart.
        frames = sorted(int(line.split(",")[0]) for line in events.splitlines() if "tore at" in line)
        self.assertGreater(frames[-1], frames[0] + 2)
        kills = (frames[0], (frames[0] + frames[-1]) // 2)  # the quick tier has the second alone
        for k, frame in enumerate(kills if os.environ.get("SUNDER_TIER") == "full" else kills[1:]):
            folder = f"killed{k}"
            process = self.start("run", "torn.json", "-o", folder, "--quiet")
            until = time.monotonic() + 50
            done = 0
            while done <= frame and process.poll() is None and time.monotonic() < until:
                told = self.run_sunder("info", folder, "--json")
                done = json.loads(told.stdout).get("frames", 0) if told.returncode == 0 else 0
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertEqual(self.json("run", "torn.json", "-o", folder, "--resume")["hash"], wanted["hash"])
            self.assertEqual(self.exports(folder, FORMATS), files)
            self.assertEqual(self.json("info", folder)["problems"], [])


class Interrupt(EndTest):
    def test_cages_and_steps_end_within_a_second(self):
        self.ok("shape", "icosphere", "--set", "frequency=60", "-o", "ball.obj")
        (self.folder / "large.json").write_text(json.dumps(scene(
            FLOOR, soft({"file": "ball.obj"}, position=(0, 2, 0), tets=50000))))
        self.interrupted("embed", "ball.obj", "--tets", "100000", "-o", "ball.soft")
        self.interrupted("run", "large.json", "-o", "never", after=1)
        (self.folder / "steps.json").write_text(json.dumps(scene(
            FLOOR, *(soft(box(0.2, 0.2, 0.2), f"soft{i}", (0, 0.15 + 0.005 * i, 0), tets=300) for i in range(8)), frames=10000)))
        self.interrupted("run", "steps.json", "-o", "steps", after=4, leaves=("steps", "steps/run.sunder"))


class SoftTest(CommandTest):
    def write(self, name, value):
        (self.folder / name).write_text(value if isinstance(value, str) else json.dumps(value))

    def run_counted(self, name, value, degraded=None):
        """Runs a scene that is no good but possible: it ends, says what went less well, and has no number that is none."""
        self.write(name + ".json", value)
        result = self.run_sunder("run", name + ".json", "-o", name)
        self.assertEqual(result.returncode, 0, result.stderr)
        if degraded:
            self.assertIn(degraded, result.stdout + result.stderr)
        self.ok("export", name, "--to", "csv", "-o", name + "-csv")
        for table in (self.folder / (name + "-csv")).iterdir():
            for word in ("nan", "inf"):
                self.assertNotIn(f",{word}", table.read_text().lower())
        return result


class BadInput(SoftTest):
    def test_meshes(self):
        self.write("cube.obj", CUBE_OBJ)
        lines = CUBE_OBJ.splitlines()
        self.write("open.obj", "\n".join(lines[:-2]) + "\n")
        self.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.write("turned.obj", "\n".join(" ".join(["f", *reversed(line.split()[1:])]) if line[0] == "f" else line for line in lines) + "\n")

        def moved(by, first):
            return [" ".join(["v", *(str(float(x) + by) for x in line.split()[1:])]) if line[0] == "v" else
                    " ".join(["f", *(str(int(i) + first) for i in line.split()[1:])]) for line in lines]
        self.write("crossing.obj", "\n".join(lines + moved(0.5, 8)) + "\n")
        self.write("parts.obj", "\n".join(lines + moved(3, 8)) + "\n")
        for name, says in (("open", "is open"), ("flat", "encloses nothing"), ("turned", "inside out")):
            self.write("bad.json", scene(FLOOR, soft({"file": name + ".obj"}, position=(0, 1, 0))))
            self.refused("run", "bad.json", "-o", "out", says=["bad.json", says])
        few = {"frames": 5}
        self.run_counted("crossing", scene(FLOOR, soft({"file": "crossing.obj"}, position=(0, 1, 0)), **few))
        self.run_counted("parts", scene(FLOOR, soft({"file": "parts.obj"}, position=(0, 1, 0)), **few),
                         "the solid has 2 parts that do not hang together")

    def test_numbers(self):
        for block, says in (({"poisson": 0.5}, "0.5 is out of range"), ({"density": 0}, "soft.density"),
                            ({"tets": 1000000}, "at most 100000"), ({"young": 1e308}, "young")):
            self.write("bad.json", scene(FLOOR, soft(box(0.2, 0.2, 0.2), **block)))
            self.refused("run", "bad.json", "-o", "out", says=["bad.json", says])
        self.write("nan.json", json.dumps(scene(FLOOR, soft(box(0.2, 0.2, 0.2), young=float("nan")))))
        self.refused("run", "nan.json", "-o", "out", says=["nan.json", "JSON has no such number"])
        self.run_counted("one", scene(FLOOR, soft(box(0.2, 0.2, 0.2), tets=1)))
        self.run_counted("poisson", scene(FLOOR, soft(box(0.2, 0.2, 0.2), poisson=0.4999), frames=20))


class Grips(SoftTest):
    def test_grips(self):
        held = {"lower": [-1, -1, -1], "upper": [-0.05, 1, 1]}

        def gripped(keys, **block):
            return scene(soft(box(0.2, 0.2, 0.2), pins=[held, {"lower": [0.05, -1, -1], "upper": [1, 1, 1], "keyFrames": keys}], **block),
                         frames=15, gravity=[0, 0, 0])
        self.write("order.json", gripped([{"time": 0.2}, {"time": 0.1}]))
        self.refused("run", "order.json", "-o", "out", says=["order.json", "times must grow"])
        through = [{"time": 0}, {"time": 0.2, "position": [-0.5, 0.3, 0]}]
        for model in "corotated", "neo-hookean", "stvk":  # pulled through itself, inside out
            self.run_counted("inside-" + model, gripped(through, model=model, selfContact=False))
        self.run_counted("far", gripped([{"time": 0}, {"time": 0.2, "position": [1e6, 0.3, 0]}], selfContact=False))


class Counted(SoftTest):
    def test_a_tear_into_single_tetrahedra_loses_nothing(self):
        self.run_counted("shatter", scene(FLOOR, soft(box(0.2, 0.2, 0.2), tets=100, selfContact=False, tear={
            "strength": 0.001, "mostSplits": 100000})))
        self.ok("export", "shatter", "--to", "vtk", "-o", "shatter-vtk", "--frames", "29:29")
        self.assertEqual(self.json("info", "shatter")["problems"], [])

    def test_bodies_in_each_other(self):
        bodies = [soft(box(0.2, 0.2, 0.2), f"soft{i}", (0, 0.11 + 0.02 * i, 0)) for i in range(2)]
        self.run_counted("crowd", scene(FLOOR, {"id": "ball", "shape": {"sphere": {"radius": 0.05}}, "position": [0, 0.12, 0]},
                                        *bodies, frames=3), "degraded")


if __name__ == "__main__":
    unittest.main()

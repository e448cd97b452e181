"""The heavy tier of sunder run, on every scene that comes along, shortened: the same hash on 1, 2 and 4 threads, after 20
times kill -9 and --resume at random moments, with the same exports as without a kill, and from a debug build.
SUNDER_SCENES="walls letters" takes only those."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import time
import unittest

from harness import BIN, SMALLER, CommandTest

ALL = sorted((pathlib.Path(__file__).resolve().parents[2] / "scenes").glob("*.json"))
SCENES = [scene for scene in ALL if scene.stem in os.environ.get("SUNDER_SCENES", scene.stem).split()]
DEBUG = pathlib.Path(os.environ.get("SUNDER_DEBUG_BIN", BIN.parents[1] / "build-debug" / "bin")) / "sunder"
# Frames and kills. Liquids in thin glass need particles as small as they are, which takes half a minute to build, and their
# bottle breaks in the second frame.
SHORT = {"bottle-pours": (6, 5), "glass-of-water": (8, 5)}


def length(scene):
    return SHORT.get(scene.stem, (60, 20))[0]


def arguments(scene, folder, frames=None):
    return ["run", scene, "-o", folder, "--frames", length(scene) if frames is None else frames,
            "--set", "recording.checkpointFrames=4", "--json", *SMALLER.get(scene.stem, [])]


class RunFullTest(CommandTest):
    def result(self, *arguments, program=BIN / "sunder"):
        done = subprocess.run([program, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True, timeout=3000)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def timed(self, *arguments):
        begin = time.monotonic()
        return self.result(*arguments), time.monotonic() - begin


class Scenes(RunFullTest):
    def test_neither_threads_nor_kills_change_anything(self):
        for scene in SCENES:
            with self.subTest(scene=scene.stem):
                whole, seconds = self.timed(*arguments(scene, "whole"), "--threads", 2, "--force")
                for threads in (1, 4):
                    other = self.result(*arguments(scene, "other"), "--threads", threads, "--force")
                    self.assertEqual(other["hash"], whole["hash"], f"{threads} threads")
                wanted = self.exported(scene, "whole")
                _, building = self.timed(*arguments(scene, "other", 0), "--force")
                self.kill(scene, whole["hash"], wanted, min(building, seconds), seconds)

    def exported(self, scene, run):
        """Tables of all frames; meshes, which move as those tables say, of every tenth; particles of all."""
        wet = '"fluid"' in scene.read_text()
        return self.exports(run, ("csv", "vtk"), every=1 if wet else 10, timeout=900)

    def kill(self, scene, wanted_hash, wanted, building, seconds):
        """Kills come in chains: a run goes on after each of them until it ends; then its recording is compared. That way
        twenty kills cost a few whole runs."""
        source = random.Random(scene.stem)
        most = SHORT.get(scene.stem, (60, 20))[1]
        kills = chains = 0
        while kills < most:
            chains += 1
            self.assertLess(chains, 100, "the run is over before it can be killed")
            before = kills
            while kills < most:
                # While the scene is built or its state is loaded, or within the next frames: half of all at most, so that
                # the run can be killed again.
                after = source.uniform(0, building)
                if source.random() < 0.75:
                    after = building + source.uniform(0, 0.5) * (seconds - building)
                if not self.killed(after, *arguments(scene, "killed"), *(["--resume"] if kills > before else [])):
                    break
                kills += 1
            told = self.result(*arguments(scene, "killed"), "--resume")
            self.assertEqual((told["hash"], told["frames"]), (wanted_hash, length(scene)))
            info = self.result("info", "killed", "--json")
            self.assertEqual((info["frames"], info["problems"]), (length(scene) + 1, []))
            self.assertTrue(self.exported(scene, "killed") == wanted, "what is exported")
            shutil.rmtree(self.folder / "killed")

    def killed(self, after, *arguments):
        """Runs and kills after so many seconds; False where it was over before."""
        process = subprocess.Popen([BIN / "sunder", *map(str, arguments)], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(after)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True


@unittest.skipUnless(DEBUG.exists(), f"no debug build: {DEBUG} is not there")
class DebugBuild(RunFullTest):
    def test_it_gives_the_same_hash(self):
        for name, frames in (("primitives", 60), ("wedge", 40), ("stack", 30), ("cradle", 30)):
            with self.subTest(scene=name):
                scene = next(s for s in ALL if s.stem == name)
                release = self.result(*arguments(scene, f"{name}-release", frames))
                debug = self.result(*arguments(scene, f"{name}-debug", frames), program=DEBUG)
                self.assertEqual(debug["hash"], release["hash"])

    def test_it_gives_the_same_hash_for_a_solid_through_its_field(self):
        torus = {"world": {"frames": 40}, "bodies": [
            {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
            {"id": "ring", "position": [0, 0.2, 0], "rotation": {"degrees": [40, 0, 20]},
             "shape": {"make": "torus", "with": {"radius": 0.085, "tube": 0.03}, "solid": {"error": 0.02, "points": 100}}}]}
        (self.folder / "torus.json").write_text(json.dumps(torus))
        hashes = {self.result("run", "torus.json", "-o", f"torus{i}", "--json", program=program)["hash"]
                  for i, program in enumerate((BIN / "sunder", DEBUG))}
        self.assertEqual(len(hashes), 1)


if __name__ == "__main__":
    unittest.main()

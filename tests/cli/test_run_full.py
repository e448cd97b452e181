"""The heavy tier of sunder run, on every scene that comes along, shortened: the same hash on 1, 2 and 4 threads, after
kill -9 and --resume at 20 random moments, with the same exports as without a kill, and from a debug build.
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

SCENES = sorted((pathlib.Path(__file__).resolve().parents[2] / "scenes").glob("*.json"))
if "SUNDER_SCENES" in os.environ:
    SCENES = [scene for scene in SCENES if scene.stem in os.environ["SUNDER_SCENES"].split()]
DEBUG = pathlib.Path(os.environ.get("SUNDER_DEBUG_BIN", BIN.parents[1] / "build-debug" / "bin")) / "sunder"
# Liquids in thin glass need particles as small as they are, and their bottle breaks in the second frame.
FRAMES = {"bottle-pours": 6, "glass-of-water": 8}


def length(scene):
    return FRAMES.get(scene.stem, 60)


def arguments(scene, folder, frames=None):
    return ["run", scene, "-o", folder, "--frames", frames or length(scene), "--set", "recording.checkpointFrames=4", "--json",
            *SMALLER.get(scene.stem, [])]


class RunFull(CommandTest):
    def result(self, *arguments, program=BIN / "sunder"):
        done = subprocess.run([program, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True, timeout=3000)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

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

    def test_threads_do_not_change_the_hash(self):
        for scene in SCENES:
            with self.subTest(scene=scene.stem):
                hashes = {self.result(*arguments(scene, f"{scene.stem}{n}"), "--threads", n)["hash"] for n in (1, 2, 4)}
                self.assertEqual(len(hashes), 1)

    def test_twenty_kills_do_not_change_the_hash(self):
        source = random.Random(11)
        for scene in SCENES:
            with self.subTest(scene=scene.stem):
                begin = time.monotonic()
                whole = self.result(*arguments(scene, f"{scene.stem}-whole"))
                seconds = time.monotonic() - begin
                wanted = self.exports(f"{scene.stem}-whole", ("csv", "vtk"))
                kills = tries = 0
                while kills < 20:
                    tries += 1
                    self.assertLess(tries, 200, "the run is over before it can be killed")
                    folder = f"{scene.stem}-killed{tries}"
                    begun = self.killed(source.uniform(0, seconds), *arguments(scene, folder))
                    kills += begun
                    for _ in range(source.randrange(4)):  # killed again while going on
                        kills += self.killed(source.uniform(0, seconds), *arguments(scene, folder), "--resume")
                    told = self.result(*arguments(scene, folder), "--resume")
                    self.assertEqual((told["hash"], told["frames"]), (whole["hash"], length(scene)))
                    info = self.result("info", folder, "--json")
                    self.assertEqual((info["frames"], info["problems"]), (length(scene) + 1, []))
                    self.assertTrue(self.exports(folder, ("csv", "vtk")) == wanted, "what is exported")
                    shutil.rmtree(self.folder / folder)

    @unittest.skipUnless(DEBUG.exists(), f"no debug build: {DEBUG} is not there")
    def test_a_debug_build_gives_the_same_hash(self):
        for name, frames in (("primitives", 60), ("wedge", 40), ("stack", 30), ("cradle", 30)):
            with self.subTest(scene=name):
                scene = next(s for s in SCENES if s.stem == name)
                release = self.result(*arguments(scene, f"{name}-release", frames))
                debug = self.result(*arguments(scene, f"{name}-debug", frames), program=DEBUG)
                self.assertEqual(debug["hash"], release["hash"])
        torus = {"world": {"frames": 40}, "bodies": [
            {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
            {"id": "ring", "position": [0, 0.2, 0], "rotation": {"degrees": [40, 0, 20]},
             "shape": {"make": "torus", "with": {"radius": 0.085, "tube": 0.03}, "solid": {"error": 0.02, "points": 100}}}]}
        (self.folder / "torus.json").write_text(json.dumps(torus))
        hashes = {self.result("run", "torus.json", "-o", f"torus{i}", "--json", program=program)["hash"]
                  for i, program in enumerate((BIN / "sunder", DEBUG))}
        self.assertEqual(len(hashes), 1, "a solid through its field")


if __name__ == "__main__":
    unittest.main()

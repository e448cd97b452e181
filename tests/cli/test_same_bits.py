"""Runs of the same scene must end with the same hash on every vector target of the processor, and from every build of the
command: another compiler, another level of optimisation, sanitizers.

SUNDER_OTHER_BIN names the folders of the other builds' programs, with ':' between; builds that are not there are left out.
SUNDER_SCENES=all takes every scene that comes along, SUNDER_SCENES="wedge tori" these; without it, six are run.
SUNDER_TIER=full takes all targets for scenes that take seconds, too."""
import json
import os
import pathlib
import subprocess
import unittest

from harness import BIN, CommandTest

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
TARGETS = ("AVX3", "AVX2", "SSE4", "SSSE3", "EMU128")

# Frames of a scene, and settings that make it small. Each run takes a second or so in a release build.
FRAMES = 20
SMALL = {
    "bars": (6,), "bottle-pours": (1, "fluid.radius=0.003"), "bricks": (2,), "buoyancy": (4, "fluid.radius=0.03"),
    "dam-break": (2, "fluid.radius=0.025"), "fruit-jelly": (4,), "log-splits": (6,), "torn-drop": (19,), "double-dam": (4, "fluid.radius=0.03"), "glass-of-water": (1, "fluid.radius=0.0025"),
    "letters": (8,), "mill": (4, "fluid.radius=0.02"), "piggy-bank": (8,), "pile": (10, "arrays.pile.fill.count=30"),
    "plates": (60,), "primitives": (80,), "propeller": (4, "fluid.radius=0.03"), "rabbits": (4,), "showcase": (10,), "soft-in-water": (30, "fluid.radius=0.03"), "stairs": (4, "fluid.radius=0.02"),
    "temple": (4, "fluid.radius=0.06"), "tori": (10,), "walls": (8,), "water-column": (4,), "waterfall": (4, "fluid.radius=0.03"),
    "wine-glass": (4, "shapes.glass.with.segments=24", "shapes.glass.with.resolution=10",
                   "shapes.bottle.with.segments=22", "shapes.bottle.with.resolution=14")}
HEAVY = {"wine-glass"}  # takes seconds: in the quick tier on the widest target and the narrowest
SIX = ["dam-break", "figure", "plates", "primitives", "tori", "wine-glass"]  # liquid, joints, cracks, shapes, fields, thin walls


def chosen():
    wanted = os.environ.get("SUNDER_SCENES", " ".join(SIX))
    return sorted(p.stem for p in SCENES.glob("*.json")) if wanted == "all" else wanted.split()


def folders():
    return [pathlib.Path(f) for f in os.environ.get("SUNDER_OTHER_BIN", "").split(":") if f]


class SameBits(CommandTest):
    def hash_of(self, scene, program=BIN / "sunder", target=None):
        frames, *settings = SMALL.get(scene, (FRAMES,))
        command = [program, "run", SCENES / f"{scene}.json", "-o", f"{scene}-run", "--frames", frames, "--json"]
        for setting in settings:
            command += ["--set", setting]
        environment = dict(os.environ, **({"SUNDER_SIMD": target} if target else {}))
        done = subprocess.run(list(map(str, command)), cwd=self.folder, env=environment, text=True, capture_output=True, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["hash"]

    def test_every_vector_target_gives_the_same_hash(self):
        for scene in chosen():
            with self.subTest(scene=scene):
                targets = self.targets()
                if scene in HEAVY and os.environ.get("SUNDER_TIER") != "full":
                    targets = sorted({targets[0], targets[-1]})
                hashes = {target: self.hash_of(scene, target=target) for target in targets}
                self.assertEqual(len(set(hashes.values())), 1, hashes)

    def test_every_build_gives_the_same_hash(self):
        there = [f for f in folders() if (f / "sunder").exists()]
        if not there:
            self.skipTest("no other build to compare with")
        for scene in chosen():
            wanted = self.hash_of(scene)
            for folder in there:
                with self.subTest(scene=scene, build=folder):
                    self.assertEqual(self.hash_of(scene, program=folder / "sunder"), wanted)

    def targets(self):
        """Those that the processor has and the program was built with."""
        return [t for t in TARGETS if self.version(t).returncode == 0]

    def version(self, target):
        return subprocess.run([BIN / "sunder", "--version"], env=dict(os.environ, SUNDER_SIMD=target), text=True, capture_output=True)

    def test_the_environment_chooses_the_target(self):
        self.assertIn("EMU128", self.targets())
        for target in self.targets():
            self.assertIn(f"(SIMD: {target})", self.version(target).stdout)
        refused = self.version("AVX9")
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr.strip(), r"^sunder: error: environment variable SUNDER_SIMD: .*'AVX9' \(there are: .*EMU128\)$")


if __name__ == "__main__":
    unittest.main()

"""What `sunder check` says a scene costs, against what it takes: peak memory, and the scenes that once took all of it."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import unittest

from harness import BIN, DATA, CommandTest

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
FULL = os.environ.get("SUNDER_TIER") == "full"
QUICK = {"primitives": None, "plates": None, "water-column": 2}  # frames; None: the whole run


class Cost(CommandTest):
    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content, indent=1))

    def compare(self, name, frames):
        """The peak of a run of so many frames, or of the whole run, against the estimate for it."""
        scene = SCENES / f"{name}.json"
        length = ["--set", f"world.duration={frames / self.rate(scene)}"] if frames else []
        told = self.json("check", scene, *length)
        peak = self.peak(["run", scene, *(["--frames", frames] if frames else []), "-o", "out", "--force", "--quiet"], timeout=3000)
        ratio = told["memory_bytes"] / peak
        print(f"{name}: {peak / 1e6:.0f} MB, estimated {told['memory_bytes'] / 1e6:.0f} MB, ratio {ratio:.2f}", file=sys.stderr)
        return ratio

    def rate(self, scene):
        text = "\n".join(line for line in scene.read_text().splitlines() if not line.lstrip().startswith("//"))
        return json.loads(text)["world"].get("frameRate", 60)

    @unittest.skipIf(FULL, "the full tier looks at all scenes")
    def test_memory_of_three_scenes_is_within_a_factor_of_two(self):
        for name, frames in QUICK.items():
            ratio = self.compare(name, frames)
            self.assertTrue(0.5 <= ratio <= 2, f"{name}: {ratio}")

    @unittest.skipUnless(FULL, "the full tier")
    def test_memory_of_every_scene_is_within_a_factor_of_two(self):
        wrong = {}
        for scene in sorted(SCENES.glob("*.json")):
            # Liquids take their memory at the start, bodies that break at the end.
            wet = '"fluid"' in scene.read_text()
            ratio = self.compare(scene.stem, None if not wet else 2 if scene.stem == "temple" else 20)
            if not 0.5 <= ratio <= 2:
                wrong[scene.stem] = ratio
        self.assertEqual(wrong, {})

    def hostile(self, name):
        return self.need_data(f"hostile/{name}.json")

    def test_scenes_that_took_all_memory_are_refused_at_once(self):
        keys = {"fl0.002": "fluid.radius", "flem": "fluid.radius", "frac0.002": "bodies.x.fracture.edge",
                "same_place": "arrays.m.grid.spacing", "typo_water_column": "fluid.liquids.0.blocks.0.upper.2"}
        for name, key in keys.items():
            scene = self.hostile(name)
            for verb in (["check", scene], ["run", scene, "-o", "out"]):
                start = time.monotonic()
                line = self.refused(*verb, "--memory", "2GB", says=(f"{name}.json:", f"{key}: ", "would "))
                self.assertLess(time.monotonic() - start, 5, line)  # a second where the machine is free
                self.assertLess(self.peak([*verb, "--memory", "2GB"]), 100e6)

    def test_the_value_that_is_said_to_fit_fits(self):
        line = self.refused("check", self.hostile("fl0.002"), "--memory", "1GB")
        value = line.split("(")[-1].split(" would fit")[0]
        self.assertEqual(self.run_sunder("check", self.hostile("fl0.002"), "--memory", "1GB", "--set", f"fluid.radius={value}").returncode, 0)

    def test_a_glass_of_water_is_looked_at_in_a_second(self):
        peak = self.peak(["check", SCENES / "glass-of-water.json"])
        self.assertLess(peak, 100e6)
        told = self.json("check", SCENES / "glass-of-water.json")
        self.assertFalse(told["built"])
        self.assertGreater(told["memory_bytes"], 2e8)

    def test_the_address_space_is_a_limit(self):
        self.write("water.json", {"world": {"frames": 1}, "fluid": {"radius": 0.004, "liquids": [
            {"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [1, 0.5, 1]}]}]}})
        def narrow():
            resource.setrlimit(resource.RLIMIT_AS, (2 ** 30, 2 ** 30))
        result = subprocess.run([BIN / "sunder", "run", "water.json", "--threads", "1"], cwd=self.folder, text=True,
                                capture_output=True, preexec_fn=narrow, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("fluid.radius", result.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_amounts_of_memory_are_checked(self):
        self.write("empty.json", {"world": {"frames": 1}})
        for verb in ("run", "check"):
            self.refused(verb, "empty.json", "--memory", "plenty", says=("plenty", "2GB"))


if __name__ == "__main__":
    unittest.main()

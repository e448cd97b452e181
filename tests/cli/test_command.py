"""The command as a whole: help, version, exit codes, settings, completion."""
import json
import subprocess
import unittest

from harness import BIN, CommandTest

VERBS = ["run", "check", "replay", "shape", "info", "convert", "clean", "collide", "query", "sdf", "surface", "voxelize", "tet",
         "embed", "stress", "fracture", "cut", "slice", "render", "view", "export", "bench", "describe", "completion"]


class Command(CommandTest):
    def test_help_of_every_verb_has_examples_and_the_settings(self):
        for verb in VERBS:
            text = self.ok(verb, "--help")
            for word in ("Examples:", "--json", "--threads", "--quiet", "--verbose", "--version"):
                self.assertIn(word, text, verb)
        self.assertIn("Exit codes", self.ok("--help"))

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^sunder \d+\.\d+\.\d+ ")
        self.assertRegex(self.ok("info", "--version"), r"^sunder \d+\.\d+\.\d+ ")

    def test_no_arguments_show_help_and_fail(self):
        result = self.run_sunder()
        self.assertEqual(result.returncode, 2)
        self.assertIn("sunder VERB --help", result.stdout)

    def test_unknown_verb_suggests_the_nearest(self):
        self.refused("inof", says=["unknown verb 'inof'", "info"])

    def test_unknown_option_and_missing_argument(self):
        self.refused("info", "--colour", "x.obj", says=["--colour", "info --help"])
        self.refused("shape", "box", says=["--output"])
        self.refused("info", "x.obj", "--threads", "many", says=["--threads"])

    def test_numbers_out_of_range_are_told_shortly(self):
        positive = [("fracture", "x.obj", "--speed"), ("fracture", "x.obj", "--ball"), ("fracture", "x.obj", "--edge"),
                    ("cut", "x.obj", "--frequency"), ("stress", "x.obj", "--edge"), ("tet", "x.obj", "--edge"),
                    ("surface", "x.sdf", "--edge")]
        for *call, option in positive:
            for value in "-1", "0", "inf", "nan", "much":
                result = self.run_sunder(*call, f"{option}={value}")
                self.assertEqual(result.returncode, 2, call)
                self.assertIn(f"{option}: must be a positive number, not '{value}'", result.stderr)
                self.assertLess(len(result.stderr), 120)
        for *call, option in [("fracture", "x.obj", "--noise"), ("cut", "x.obj", "--amplitude")]:
            result = self.run_sunder(*call, f"{option}=-1")
            self.assertIn(f"{option}: must be a number of at least 0, not '-1'", result.stderr)

    def test_an_error_with_json_is_one_object(self):
        result = self.run_sunder("info", "nowhere.obj", "--json")
        self.assertEqual(result.returncode, 2)
        error = json.loads(result.stdout)["error"]
        self.assertEqual(error["kind"], "missing")
        self.assertEqual(error["file"], "nowhere.obj")

    def test_settings_stand_before_or_after_the_verb(self):
        self.assertEqual(self.ok("--quiet", "shape", "box", "-o", "a.obj"), "")
        self.assertEqual(self.ok("shape", "box", "-o", "a.obj", "--quiet"), "")

    def test_full_disk_is_a_failed_job(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([BIN / "sunder", "describe", "shapes"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)

    def test_same_bytes_for_any_number_of_threads(self):
        outputs = set()
        for threads in (1, 2, 4):
            self.ok("shape", "icosphere", "--set", "frequency=40", "-o", "s.ply", "--threads", threads)
            outputs.add((self.folder / "s.ply").read_bytes() + self.ok("info", "s.ply", "--json", "--threads", threads).encode())
        self.assertEqual(len(outputs), 1)


class Completion(CommandTest):
    def complete(self, *words):
        script = self.ok("completion", "bash")
        array = " ".join(f"'{w}'" for w in words)
        result = subprocess.run(["bash", "-c", f'{script}\nCOMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _sunder; '
                                 'echo "${COMPREPLY[@]}"'], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def test_verbs_options_and_shapes(self):
        self.assertEqual(self.complete("sunder", "inf"), ["info"])
        self.assertEqual(self.complete("sunder", "shape", "wine"), ["wine-glass"])
        self.assertIn("--ascii", self.complete("sunder", "convert", "--a"))
        self.assertEqual(self.complete("sunder", "describe", "shapes", "tor"), ["torus", "torus-knot"])
        self.assertEqual(self.complete("sunder", "query", "a.obj", "in"), ["inside"])
        self.assertEqual(self.complete("sunder", "query", "a.obj", "ray", "--hi"), ["--hits"])


class Describe(CommandTest):
    def test_topics(self):
        self.assertIn("formats", self.ok("describe"))
        shapes = {s["name"] for s in self.json("describe", "shapes")["shapes"]}
        self.assertLessEqual({"box", "icosphere", "uv-sphere", "cylinder", "cone", "capsule", "torus", "plate", "bowl",
                              "wine-glass", "vase", "bottle", "letters", "brick-wall", "torus-knot"}, shapes)
        formats = {f["name"] for f in self.json("describe", "formats")["formats"]}
        self.assertLessEqual({"OBJ", "PLY", "STL", "OFF"}, formats)
        self.assertEqual(self.json("describe", "exit-codes")["exit_codes"]["write"], 1)

    def test_unknown_names_suggest_the_nearest(self):
        self.refused("describe", "shape", says=["shapes"])
        self.refused("describe", "shapes", "toros", says=["torus"])


if __name__ == "__main__":
    unittest.main()

"""Runs that are rewound and go on from an earlier checkpoint, also where they are killed or cut meanwhile."""
import json
import unittest

from harness import CommandTest

SCENE = {
    "world": {"frames": 20, "timeStep": "1/120 s"},
    "bodies": [
        {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
        {"id": "bar", "shape": {"box": {"size": [0.4, 0.04, 0.06]}}, "material": "oak", "position": [0, 0.2, 0],
         "velocity": [0, -4, 0], "fracture": {"model": "voronoi", "pieces": 5, "impulse": "0.1 N s", "edge": "4 cm"}}],
    "recording": {"checkpointFrames": 5, "keyEvery": 6},
}


class Branches(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "bar.json").write_text(json.dumps(SCENE))
        self.hash = self.json("run", "bar.json", "-o", "run")["hash"]
        self.file = self.folder / "run" / "run.sunder"
        self.whole = self.file.read_bytes()
        self.wanted = self.exports("run/run.sunder", ("csv",))

    def test_a_branch_gives_the_same_run_and_the_old_one_stays(self):
        told = self.json("run", "--resume", "run", "--from", "12")
        self.assertEqual((told["resumed"], told["hash"], told["frames"]), (10, self.hash, 20))
        self.assertEqual(self.file.read_bytes()[:len(self.whole)], self.whole, "no byte changes")
        self.assertEqual(self.exports("run/run.sunder", ("csv",)), self.wanted)
        branches = self.json("info", "run")["branches"]
        self.assertEqual([(b["epoch"], b["from"], b["last"]) for b in branches], [(0, 0, 20), (1, 10, 20)])
        self.assertIn("branch 1: from frame 10 to frame 20", self.ok("info", "run"))
        self.ok("repair", "run", "--branch", "0", "-o", "first.sunder")
        self.assertEqual(self.exports("first.sunder", ("csv",)), self.wanted)
        text = self.ok("run", "--resume", "run", "--from", "4")
        self.assertIn("branched off at frame 0, the last checkpoint at or before frame 4", text)
        self.assertEqual(self.exports("run/run.sunder", ("csv",)), self.wanted)

    def test_a_branch_that_is_cut_anywhere_is_resumed_whole(self):
        self.json("run", "--resume", "run", "--from", "6")
        branched = self.file.read_bytes()
        extra = len(branched) - len(self.whole)
        for share in (0.02, 0.3, 0.55, 0.8, 0.99):
            for tail in (b"", b"torn" * 50):
                with self.subTest(share):
                    self.file.write_bytes(branched[:len(self.whole) + int(share * extra)] + tail)
                    told = self.json("run", "--resume", "run")
                    self.assertEqual((told["hash"], told["frames"]), (self.hash, 20))
                    self.assertEqual(self.json("info", "run")["problems"], [])
                    self.assertEqual(self.exports("run/run.sunder", ("csv",)), self.wanted)

    def test_what_makes_no_sense_is_refused(self):
        self.refused("run", "bar.json", "-o", "run", "--from", "5", says=["--from needs --resume"])
        for frame in ("x", "", "-1", "1.5", "99999999999999999999"):
            self.refused("run", "--resume", "run", "--from", frame, says=["--from"])
            self.refused("repair", "run", "--branch", frame, "-o", "x.sunder", says=["--branch"])
        self.refused("repair", "run", "--branch", "7", "-o", "x.sunder", says=["there is no branch 7"])


if __name__ == "__main__":
    unittest.main()

"""`sunder run --inputs`: wrong ones are refused before anything is written, those of a killed run are not lost."""
import json
import unittest

from harness import CUBE_OBJ, CommandTest

SCENE = {
    "world": {"frames": 12, "timeStep": "1/120 s"},
    "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static"},
               {"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 0.1, 0]}],
    "recording": {"checkpointFrames": 4},
}
PUSH = {"time": 0.05, "part": "rigid", "what": "impulse", "body": "ball", "values": [2, 0, 0]}


class Inputs(CommandTest):
    def write(self, inputs, scene=SCENE):
        (self.folder / "ball.json").write_text(json.dumps(scene))
        (self.folder / "pushes.json").write_text(json.dumps(inputs))

    def test_what_cannot_act_is_refused_before_the_run(self):
        self.write([PUSH])
        self.ok("run", "ball.json", "-o", "run", "-q")
        before = (self.folder / "run/run.sunder").read_bytes()
        for key, value, says in (("values", [1, 2], "3 numbers"), ("values", 5, "another type"), ("values", {"a": 1}, "another type"),
                                 ("values", [1e300, 0, 0], "1e+300"), ("what", "soup", "knows no input"), ("part", "soup", "has not"),
                                 ("body", "bal", "did you mean")):
            self.write([PUSH, PUSH | {key: value, "time": 0.15}])
            self.refused("run", "ball.json", "-o", "run", "--force", "--inputs", "pushes.json", "-q", says=["pushes.json: input 1", says])
            self.assertEqual((self.folder / "run/run.sunder").read_bytes(), before)
        self.write([{k: v for k, v in PUSH.items() if k != "body"}])
        self.refused("run", "ball.json", "--inputs", "pushes.json", says=["input 0", "needs a body"])
        self.refused("run", "ball.json", "--inputs", "", says=["cannot read"])
        self.refused("run", "--resume", "run", "--inputs", "pushes.json", says=["has its inputs already"])

    def test_inputs_that_memory_has_no_room_for_are_refused(self):
        self.write([])
        with open(self.folder / "pushes.json", "wb") as file:
            file.truncate(1 << 30)
        self.refused("run", "ball.json", "--inputs", "pushes.json", "--memory", "1GB", says=["pushes.json", "1.0 GB"])

    def test_those_of_later_are_told(self):
        self.write([PUSH, PUSH | {"time": 77}])
        result = self.run_sunder("run", "ball.json", "-o", "run", "--inputs", "pushes.json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 of the inputs are for later than the end of the run, the first for 77 s", result.stderr)

    def test_a_recording_that_was_cut_anywhere_has_them_when_it_goes_on(self):
        self.write([PUSH, PUSH | {"time": 0.15}])
        wanted = self.json("run", "ball.json", "-o", "whole", "--inputs", "pushes.json")["hash"]
        exports = self.exports("whole/run.sunder", ("csv",))
        whole = (self.folder / "whole/run.sunder").read_bytes()
        (self.folder / "cut").mkdir()
        for share in (0.25, 0.3, 0.5, 0.8):
            (self.folder / "cut/run.sunder").write_bytes(whole[:int(share * len(whole))])
            self.assertEqual(self.json("run", "--resume", "cut")["hash"], wanted, share)
            self.assertEqual(self.exports("cut/run.sunder", ("csv",)), exports, share)
            self.ok("replay", "cut")
        # Nothing is there yet: the same words start the run.
        self.assertEqual(self.json("run", "ball.json", "-o", "new", "--resume", "--inputs", "pushes.json")["hash"], wanted)

    def test_they_act_on_the_body_they_name_where_another_is_cut(self):
        (self.folder / "cube.obj").write_text(CUBE_OBJ)
        cube = {"id": "cube", "shape": {"file": "cube.obj"}, "position": [5, 0, 0],
                "cut": [{"point": [0.5, 0.5, 0.5], "normal": [0, 1, 0]}]}
        self.write([PUSH], {"world": {"frames": 6, "gravity": [0, 0, 0]}, "bodies": [cube, SCENE["bodies"][1]]})
        self.ok("run", "ball.json", "-o", "run", "--inputs", "pushes.json", "-q")
        self.ok("export", "run", "--to", "csv", "-o", "table")
        moved = {row.split(",")[3] for row in (self.folder / "table/bodies.csv").read_text().splitlines()[1:]
                 if row.split(",")[0] == "6" and float(row.split(",")[11]) != 0}
        self.assertEqual(moved, {"ball"})


if __name__ == "__main__":
    unittest.main()

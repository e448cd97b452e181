"""The net under the command: whatever is thrown ends in one line and an exit code, never in a signal. Files that cannot be
read or written, JSON of the wrong types, streams that are closed, memory and threads that run out."""
import copy
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import threading
import time
import unittest

from harness import BIN, CUBE_OBJ, CommandTest

SHIM = BIN / "libfail_allocation.so"

SCENE = {"world": {"frames": 2, "gravity": [0, -9.81, 0], "frameRate": 60, "seed": 1, "sleep": True},
         "materials": {"clay": {"density": "1800 kg/m3", "friction": 0.5, "restitution": 0.1, "colour": [0.6, 0.4, 0.3]}},
         "shapes": {"b": {"box": {"size": [0.2, 0.2, 0.2]}}, "m": {"file": "cube.obj", "scale": 0.1},
                    "t": {"make": "torus", "with": {"radius": 0.2}}},
         "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static"},
                    {"id": "box", "shape": "b", "material": "clay", "position": [0, 0.5, 0], "velocity": [0, 0, 1],
                     "rotation": {"axis": [0, 1, 0], "angle": 0.3}, "mass": "1 kg"},
                    {"id": "cube", "shape": "m", "position": [1, 0.5, 0]}],
         "arrays": [{"id": "row", "position": [3, 1, 0], "body": {"shape": "b"}, "grid": {"count": [2, 1, 1], "spacing": [1, 1, 1]}}],
         "joints": [{"kind": "ball", "a": "box", "b": "cube", "anchor": [0.5, 0.5, 0]}],
         "forces": [{"gravity": {"acceleration": [0, -1, 0]}, "bodies": ["box"]}],
         "recording": {"keyEvery": 10, "checkpointFrames": 10}}

LIQUID = {"world": {"frames": 1},
          "fluid": {"radius": 0.1, "tank": {"lower": [0, 0, 0], "upper": [1, 1, 1]},
                    "liquids": [{"id": "water", "material": "water", "viscosity": 0.01,
                                 "blocks": [{"lower": [0, 0, 0], "upper": [0.5, 0.5, 0.5], "velocity": [0, 0, 0]}],
                                 "emitters": [{"position": [0.5, 0.9, 0.5], "direction": [0, -1, 0], "radius": 0.2, "speed": 1}]}]}}

SPLISH = {"Configuration": {"particleRadius": 0.05, "stopAt": 1, "gravitation": [0, -9.81, 0], "cflMethod": 1, "sim2D": False,
                            "simulationMethod": 4, "boundaryHandlingMethod": 2, "density0": 1000},
          "Materials": [{"id": "Fluid", "density0": 1000, "viscosity": 0.02, "viscosityMethod": 1, "surfaceTensionMethod": 0}],
          "FluidBlocks": [{"id": "Fluid", "start": [0, 0, 0], "end": [1, 1, 1], "translation": [0, 0, 0], "scale": [1, 1, 1],
                           "initialVelocity": [0, 0, 0], "denseMode": 0}],
          "RigidBodies": [{"geometryFile": "UnitBox.obj", "translation": [1, 1, 0.5], "scale": [2, 2, 1], "isWall": True,
                           "mapInvert": True, "rotationAngle": 0},
                          {"geometryFile": "cube.obj", "translation": [1, 1, 0.5], "scale": [0.2, 0.2, 0.2], "isWall": False,
                           "isDynamic": True, "isAnimated": False, "rotationAxis": [1, 0, 0], "rotationAngle": 0.5,
                           "color": [0.1, 0.2, 0.3, 1], "density": 500, "friction": 0.1, "velocity": [0, 0, 0], "mapThickness": 0}],
          "Emitters": [{"width": 5, "height": 4, "translation": [0, 1, 0], "rotationAxis": [0, 0, 1], "rotationAngle": 0.1,
                        "velocity": 2, "type": 0, "emitStartTime": 0, "emitEndTime": 1}]}

GLTF = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "translation": [1, 0, 0], "name": "n"}],
        "meshes": [{"name": "m", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 4, "material": 0}]}],
        "materials": [{"name": "red"}],
        "buffers": [{"byteLength": 42, "uri": "data:application/octet-stream;base64,"
                     "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
                      {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}]}

OTHER_VALUES = [None, True, 0, 1, -1, 0.5, 1e300, 10**18, "", "x", [], [1], [1, 2, 3], ["x", None, {}], {}, {"x": 1}]


def places(value, path=()):
    """The path of every value in a document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def replaced(document, path, value):
    if not path:
        return value
    made = copy.deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


class NetTest(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "cube.obj").write_text(CUBE_OBJ)

    def start(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace", **options}
        return subprocess.run([BIN / "sunder", *map(str, arguments)], cwd=self.folder, timeout=120, **options)

    def check_answer(self, result, what, codes=(0, 1, 2)):
        """One line and an exit code: no signal, no abort. Of a scene with several errors a line for each."""
        self.assertIn(result.returncode, codes, f"{what}: {result.stdout}{result.stderr}")
        lines = result.stderr.splitlines()
        errors = [line for line in lines if line.startswith("sunder: error: ")]
        of_one_scene = {line.split(": ")[2].split(":")[0] for line in errors if re.match(r"sunder: error: \w+\.json(:\d+)?: ", line)}
        expected = len(errors) if len(errors) > 1 and len(of_one_scene) == 1 else 1
        self.assertEqual(len(errors), 0 if result.returncode == 0 else expected, f"{what}: {result.stderr}")
        self.assertNotIn("internal error", result.stderr, what)
        return errors[0] if errors else ""

    def refused_with(self, *arguments, codes=(1, 2), says=(), **options):
        """Like refused(), for several codes and with options of subprocess.run."""
        before = sorted(self.folder.rglob("*"))
        line = self.check_answer(self.start(*arguments, **options), arguments, codes)
        for text in says:
            self.assertIn(text, line)
        self.assertEqual(sorted(self.folder.rglob("*")), before, f"{arguments}: something was written")
        return line

    def as_nobody(self):
        """The start of a command line that runs the rest without the rights of root; skips where that cannot be."""
        if os.geteuid() != 0:
            return []
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        os.chmod(self.folder, 0o777)
        try:
            tried = subprocess.run([*drop, BIN / "sunder", "--version"], capture_output=True, cwd=self.folder)
        except OSError:
            self.skipTest("no setpriv")
        if tried.returncode != 0:
            self.skipTest("the command cannot be run without the rights of root")
        return drop


def readers(path):
    """Every verb that reads, with `path` + ending as its input."""
    mesh, scene, run, field = f"{path}.obj", f"{path}.json", f"{path}.sunder", f"{path}.sdf"
    return [["info", mesh], ["convert", mesh, "o.ply"], ["clean", mesh, "-o", "o.ply"], ["collide", mesh, mesh],
            ["query", mesh, "closest", "--point", "0,0,0"], ["query", "cube.obj", "closest", "--points", f"{path}.csv"],
            ["sdf", mesh, "-o", "o.sdf"], ["sdf", field], ["surface", field, "-o", "o.obj"], ["voxelize", mesh, "-n", "8"],
            ["tet", mesh, "-o", "o.msh"], ["stress", mesh, "--fix", "x<0"], ["fracture", mesh], ["cut", mesh, "cube.obj", "-o", "o.obj"],
            ["slice", mesh, "-o", "o"], ["render", mesh, "-o", "o.png"], ["render", run, "-o", "o.png"],
            ["run", scene], ["check", scene], ["view", scene], ["view", run], ["import", scene, "-o", "o.json"],
            ["replay", run], ["export", run, "--to", "csv"], ["info", run], ["run", "--resume", run]]


def writers(path):
    """Every verb that writes one file, with `path` + ending as its output."""
    return [["shape", "box", "-o", f"{path}.obj"], ["convert", "cube.obj", f"{path}.ply"], ["sdf", "cube.obj", "-o", f"{path}.sdf"],
            ["query", "cube.obj", "closest", "--point", "0,0,0", "-o", f"{path}.csv"],
            ["render", "cube.obj", "--size", "8x8", "--samples", "1", "-o", f"{path}.png"],
            ["import", "splish.json", "-o", f"{path}.json"]]


class Inputs(NetTest):
    def test_files_that_cannot_be_read(self):
        for ending in ("obj", "json", "sunder", "sdf", "csv"):
            (self.folder / f"folder.{ending}").mkdir()
            (self.folder / f"loop.{ending}").symlink_to(f"loop.{ending}")
            (self.folder / f"empty.{ending}").touch()
            os.mkfifo(self.folder / f"pipe.{ending}")
        for name in ("missing", "folder", "loop", "empty", "pipe", "cube.obj/x", "n" * 300):
            for arguments in readers(name):
                if name == "empty" and arguments[:2] == ["run", "--resume"]:
                    continue  # a run that was killed before its first write
                self.refused_with(*arguments, codes=(2,))

    def test_files_and_folders_without_permission(self):
        drop = self.as_nobody()
        closed = self.folder / "closed"
        closed.mkdir()
        for ending in ("obj", "json", "sunder", "sdf", "csv"):
            (closed / f"x.{ending}").write_text(CUBE_OBJ)
            (self.folder / f"secret.{ending}").write_text(CUBE_OBJ)
            os.chmod(self.folder / f"secret.{ending}", 0)
        os.chmod(closed, 0)
        self.addCleanup(os.chmod, closed, 0o700)
        for name in ("closed/x", "secret"):
            for arguments in readers(name):
                result = subprocess.run([*drop, BIN / "sunder", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
                line = self.check_answer(result, arguments, codes=(2,))
                if arguments[0] not in ("run", "render", "view", "replay", "export", "info"):
                    self.assertIn("ermission", line, arguments)

    def test_an_empty_name_in_a_scene_is_refused(self):
        for shape in ({"file": ""}, {"file": "nowhere.obj"}, {"file": "n" * 300 + ".obj"}, {"file": "."}, {"file": "a\0b.obj"}):
            scene = {"world": {"frames": 1}, "shapes": {"x": shape}, "bodies": [{"id": "x", "shape": "x"}]}
            (self.folder / "scene.json").write_text(json.dumps(scene, indent=1))
            for verb in ("run", "check"):
                line = self.check_answer(self.start(verb, "scene.json"), shape, codes=(2,))
                self.assertIn("scene.json:", line)
        hostile = self.need_data("hostile/file_empty.json")
        self.refused_with("run", hostile, codes=(2,), says=["file_empty.json:1:", "the name of the file is empty"])

    def test_a_folder_that_is_gone(self):
        gone = self.folder / "gone"
        gone.mkdir()
        (self.folder / "scene.json").write_text(json.dumps(SCENE))
        for arguments in (["run", "x.json"], ["run", self.folder / "scene.json", "-o", self.folder / "out"], ["import", "x.json", "-o", "y.json"],
                          ["info", "x.obj"], ["shape", "box", "-o", "x.obj"]):
            process = subprocess.Popen(["bash", "-c", 'read; exec "$@"', "-", BIN / "sunder", *map(str, arguments)], cwd=gone,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(0.05)
            gone.rmdir()
            out, err = process.communicate("\n", timeout=60)
            self.check_answer(subprocess.CompletedProcess(arguments, process.returncode, out, err), arguments)
            gone.mkdir()

    def test_a_file_that_shrinks_while_it_is_read(self):
        """Another program writes and cuts the file all the time; a mapped file would end the reader by SIGBUS."""
        path = self.folder / "shrinks.obj"
        text = CUBE_OBJ.encode() + b"# filled\n" * 400_000
        path.write_bytes(text)
        stop = threading.Event()

        def rewrite():
            while not stop.is_set():
                os.truncate(path, 100)
                with open(path, "r+b") as file:
                    file.write(text)

        writer = threading.Thread(target=rewrite)
        writer.start()
        try:
            for _ in range(15):
                self.check_answer(self.start("info", path), "shrinks", codes=(0, 2))
        finally:
            stop.set()
            writer.join()

    def test_a_file_larger_than_memory(self):
        with open(self.folder / "huge.stl", "wb") as file:
            os.truncate(file.fileno(), 1 << 42)
        self.refused_with("info", "huge.stl", codes=(2,), says=["huge.stl", "too many for the memory"])

    def test_coordinates_that_no_picture_can_hold(self):
        for value in ("1e16", "1e18", "1e19", "-1e30", "1e37"):
            (self.folder / "far.obj").write_text(f"v 0 0 0\nv 1 0 0\nv 0 {value} 0\nf 1 2 3\n")
            self.refused_with("render", "far.obj", "--size", "8x8", "--samples", "1", "-o", "x.png", codes=(2,),
                              says=["far.obj", "vertex 2", "scale"])
        hostile = self.need_data("hostile/render_abort_min.obj")
        self.refused_with("render", hostile, "--size", "8x8", "--samples", "1", "-o", "x.png", codes=(2,))


class Outputs(NetTest):
    def setUp(self):
        super().setUp()
        (self.folder / "splish.json").write_text(json.dumps(SPLISH))

    def test_places_that_cannot_be_written(self):
        for arguments in writers(""):
            ending = arguments[-1]
            (self.folder / f"folder{ending}").mkdir()
            (self.folder / f"loop{ending}").symlink_to(f"loop{ending}")
            (self.folder / f"full{ending}").symlink_to("/dev/full")
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(self.folder / f"socket{ending}"))
        for name in ("folder", "loop", "full", "socket", "nowhere/x", "cube.obj/x", "n" * 300):
            for arguments in writers(name):
                line = self.refused_with(*arguments)
                self.assertIn(f"{name}", line)
                self.assertIn("cannot", line)

    def test_folders_without_permission(self):
        drop = self.as_nobody()
        (self.folder / "closed").mkdir()
        os.chmod(self.folder / "closed", 0o555)
        for arguments in [*writers("closed/x"), ["run", "scene.json", "-o", "closed/y"]]:
            (self.folder / "scene.json").write_text(json.dumps(SCENE))
            result = subprocess.run([*drop, BIN / "sunder", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertIn("ermission", self.check_answer(result, arguments, codes=(1, 2)))
        self.assertEqual(list((self.folder / "closed").iterdir()), [])

    def test_devices_and_pipes_are_written_to_and_never_replaced(self):
        for arguments in writers("null"):
            path = self.folder / arguments[-1]
            path.symlink_to("/dev/null")
            self.check_answer(self.start(*arguments), arguments, codes=(0,))
            self.assertTrue(path.is_symlink() and path.is_char_device(), arguments)
        for arguments in writers("pipe"):
            path = self.folder / arguments[-1]
            os.mkfifo(path)
            with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as reader:
                self.check_answer(self.start(*arguments), arguments, codes=(0,))
                content = reader.communicate(timeout=30)[0]
            self.assertTrue(path.is_fifo())
            self.start(*arguments[:-1], "plain" + path.suffix)
            self.assertEqual(content, (self.folder / ("plain" + path.suffix)).read_bytes(), arguments)

    def test_standard_output_as_the_file(self):
        (self.folder / "out.csv").symlink_to("/dev/stdout")
        call = ("query", "cube.obj", "closest", "--point", "0,0,0", "--quiet", "-o")
        self.start(*call, "plain.csv")
        wanted = (self.folder / "plain.csv").read_text()
        self.assertEqual(self.start(*call, "out.csv").stdout, wanted)
        with open(self.folder / "log.txt", "w") as log:
            log.write("before\n")
            log.flush()
            self.check_answer(self.start(*call, "out.csv", stdout=log), "redirected", codes=(0,))
            log.seek(0, os.SEEK_END)
            log.write("after\n")
        self.assertEqual((self.folder / "log.txt").read_text(), f"before\n{wanted}after\n")
        self.assertTrue((self.folder / "out.csv").is_symlink())

    def test_a_link_is_followed(self):
        (self.folder / "away").mkdir()
        for name in ("there", "not-yet"):
            if name == "there":
                (self.folder / "away/there.obj").write_text("old")
            (self.folder / f"{name}.obj").symlink_to(f"away/{name}.obj")
            self.ok("shape", "box", "-o", f"{name}.obj")
            self.assertTrue((self.folder / f"{name}.obj").is_symlink())
            self.assertIn("v ", (self.folder / f"away/{name}.obj").read_text())

    def test_names_as_long_as_names_can_be(self):
        for arguments in writers("n" * 250):
            name = arguments[-1][-255:]
            self.ok(*arguments[:-1], name)
            self.assertTrue((self.folder / name).exists())

    def test_a_killed_writer_leaves_nothing(self):
        before = set(self.folder.iterdir())
        process = subprocess.Popen([BIN / "sunder", "shape", "icosphere", "--set", "frequency=300", "-o", "ball.obj"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)
        time.sleep(0.3)
        process.kill()
        process.wait()
        self.assertLessEqual({p.name for p in set(self.folder.iterdir()) - before}, {"ball.obj"})


class Movies(NetTest):
    """With a stand-in for ffmpeg, which need not be installed."""

    def setUp(self):
        super().setUp()
        (self.folder / "scene.json").write_text(json.dumps({"world": {"frames": 3}, "bodies": [
            {"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]}]}))
        self.ok("run", "scene.json", "-o", "run", "--quiet")
        (self.folder / "bin").mkdir()
        (self.folder / "one.mp4").mkdir()

    def render(self, output, script, *more):
        (self.folder / "bin/ffmpeg").write_text("#!/bin/sh\nfor last; do :; done\n" + script)
        os.chmod(self.folder / "bin/ffmpeg", 0o755)
        environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        return self.start("render", "run", "--size", "16x16", "--samples", "1", "-o", output, *more, env=environment)

    WORKS = 'cat > "${last#file:}"\n'

    def left(self):
        return sorted(p.name for p in self.folder.iterdir())

    def test_a_movie_is_there_when_it_is_whole(self):
        self.check_answer(self.render("it's a movie.mp4", self.WORKS), "movie", codes=(0,))
        self.assertEqual((self.folder / "it's a movie.mp4").stat().st_size, 4 * 16 * 16 * 3)
        self.assertEqual([n for n in self.left() if "part" in n], [])

    def test_a_movie_that_fails_leaves_nothing(self):
        before = self.left()
        for script in ("echo one >&2; echo no such codec >&2; exit 1\n", "exec cat >/dev/null; \n" + "kill -9 $$\n", "kill -9 $$\n",
                       "cat >/dev/null; echo two >&2; exit 3\n"):
            line = self.check_answer(self.render("film.mp4", script), script, codes=(0, 1) if "exec" in script else (1,))
            if "codec" in script:
                self.assertIn("no such codec", line)
            for name in set(self.left()) - set(before):
                self.assertEqual(name, "film.mp4")
                (self.folder / name).unlink()

    def test_names_that_cannot_be_a_movie(self):
        os.mkfifo(self.folder / "pipe.mp4")
        (self.folder / "null.mp4").symlink_to("/dev/null")
        (self.folder / "loop.mp4").symlink_to("loop.mp4")
        before = self.left()
        for name in ("one.mp4", "pipe.mp4", "null.mp4", "nowhere/x.mp4", "cube.obj/x.mp4", "n" * 300 + ".mp4"):
            line = self.check_answer(self.render(name, self.WORKS), name, codes=(2,))
            self.assertIn(name, line)
        self.assertEqual(self.left(), before)

    def test_an_interrupted_movie_leaves_nothing(self):
        (self.folder / "bin/ffmpeg").write_text("#!/bin/sh\nfor last; do :; done\n" + self.WORKS)
        os.chmod(self.folder / "bin/ffmpeg", 0o755)
        environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        before = self.left()
        process = subprocess.Popen([BIN / "sunder", "render", "run", "--samples", "64", "-o", "film.mp4"], cwd=self.folder,
                                   env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while not any("part" in n for n in self.left()):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (143, -signal.SIGTERM))
        self.assertEqual([n for n in self.left() if n not in before and not n.startswith(".sunder")], [])


class Streams(NetTest):
    def test_closed_standard_streams(self):
        """No file of ours takes the number of a stream that the caller closed."""
        (self.folder / "scene.json").write_text(json.dumps(SCENE))
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            for arguments in ("shape box -o closed.obj", "shape box -o closed.obj -q", "describe shapes", "--help", "--version",
                              "run scene.json -o out --force", "collide cube.obj cube.obj -v"):
                result = subprocess.run(["bash", "-c", f'"$0" {arguments} {closed}', BIN / "sunder"], cwd=self.folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertIn(result.returncode, (0, 1), (closed, arguments, result.stderr))
                lost = ">&-" in closed.replace("2>&-", "") and "-q" not in arguments
                self.assertEqual(result.returncode, 1 if lost else 0, (closed, arguments))
            self.ok("shape", "box", "-o", "open.obj")
            self.assertEqual((self.folder / "closed.obj").read_bytes(), (self.folder / "open.obj").read_bytes(), closed)
            (self.folder / "closed.obj").unlink()

    def test_a_reader_that_goes_away_is_no_failure(self):
        for arguments in ("describe scene", "describe shapes --json", "--help", "completion bash"):
            result = subprocess.run(["bash", "-c", f'set -o pipefail; "$0" {arguments} | true', BIN / "sunder"], cwd=self.folder,
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)

    def test_a_full_disk_behind_standard_output(self):
        for arguments in (["describe", "shapes"], ["describe", "scene"], ["--help"], ["--version"], ["info", "cube.obj"],
                          ["info", "cube.obj", "--json"], ["completion", "bash"]):
            with open("/dev/full", "w") as full:
                self.check_answer(self.start(*arguments, stdout=full), arguments, codes=(1,))

    def test_points_from_standard_input(self):
        call = ("query", "cube.obj", "closest", "--points", "-")
        self.check_answer(self.start(*call, input="0,0,2\n"), call, codes=(0,))
        for text in ("", "1,2\n", "a b c\nd e f\n", "\0\0\0", "nan nan nan\n"):
            self.check_answer(self.start(*call, input=text), repr(text), codes=(2,))

    def test_an_error_is_one_line_whatever_the_name(self):
        for name in ("two\nlines.obj", "bell\a.obj", "\udcff\udcfe.obj"):
            line = self.refused_with("info", name, codes=(2,))
            self.assertIn("cannot read", line)
            result = self.start("info", name, "--json")
            self.assertEqual(json.loads(result.stdout)["error"]["kind"], "missing")


class Interrupts(NetTest):
    def test_a_stopped_run_says_so_in_its_code(self):
        scene = {"world": {"frames": 1000000, "sleep": False}, "bodies": [
            {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
            {"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]}]}
        (self.folder / "scene.json").write_text(json.dumps(scene))
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen([BIN / "sunder", "run", "scene.json", "-o", f"out{code}"], cwd=self.folder, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while not (self.folder / f"out{code}/run.sunder").exists():
                time.sleep(0.01)
            time.sleep(0.2)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, code, err)
            self.assertIn("--resume", out)
            self.assertEqual(self.json("info", f"out{code}")["state"], "stopped")


class JsonTypes(NetTest):
    """Every value of a valid document in turn becomes one of another type."""

    STEP = 97  # every so many of the changes; 1 in the full tier

    def fuzz(self, document, name, *arguments):
        path = self.folder / name
        path.write_text(json.dumps(document))
        self.check_answer(self.start(*arguments), arguments, codes=(0,))
        changes = [(place, value) for place in places(document) for value in OTHER_VALUES]
        for place, value in changes[::self.STEP]:
            path.write_text(json.dumps(replaced(document, place, value)))
            result = self.start(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
            line = self.check_answer(result, (place, value))
            self.assertNotIn("out of memory", line, (place, value))  # refused before, or small
            if result.returncode == 2 and value != "x":
                self.assertTrue(name in line or "--set" in line, f"{place} {value}: {line}")
                self.assertNotIn("json.exception", line, (place, value))

    def test_scenes_to_import(self):
        self.fuzz(SPLISH, "splish.json", "import", "splish.json", "-o", "made.json")

    def test_scenes(self):
        self.fuzz(SCENE, "scene.json", "run", "scene.json", "--frames", "1", "--force", "--quiet", "-o", "out")

    def test_scenes_with_liquids(self):
        self.fuzz(LIQUID, "liquid.json", "run", "liquid.json", "--frames", "1", "--force", "--quiet", "-o", "out")

    def test_meshes(self):
        # A buffer in a file that is not there is named by that file.
        self.fuzz(GLTF, "mesh.gltf", "info", "mesh.gltf")

    def test_numbers_and_nesting_that_no_document_should_have(self):
        for text in ("", "{", "[]", "null", "1e999", '{"Configuration": 1e999}', "[" * 100000, '{"a":' * 100000, '{"a": 1, "a": 2}',
                     '{"Configuration": {"particleRadius": 1e999}}', "\xff", '"\\ud800"', '{"Configuration": {}, "FluidBlocks": [1]}'):
            (self.folder / "x.json").write_text(text, encoding="latin-1")
            for arguments in (["import", "x.json", "-o", "y.json"], ["check", "x.json"], ["run", "x.json"]):
                self.refused_with(*arguments, codes=(2,), says=["x.json"])

    def test_values_set_on_the_command_line(self):
        (self.folder / "scene.json").write_text(json.dumps(SCENE))
        for key in ("world", "bodies", "bodies.box.shape", "bodies.1.position", "shapes.m.file", "include", "", ".", "bodies.99.id"):
            for value in ("", "1", "null", "[]", "{}", "1e999"):
                self.check_answer(self.start("run", "scene.json", "--frames", "0", "--force", "-q", "-o", "out", "--set", f"{key}={value}"),
                                  (key, value), codes=(0, 2))


@unittest.skipUnless(SHIM.exists(), "the shim is not built")
class Allocations(NetTest):
    """Each allocation in turn fails, alone or with all after it."""

    SAMPLES = 12

    CALLS = [["--version"], ["describe", "shapes"], ["shape", "torus", "-o", "o.obj"], ["info", "cube.obj", "--json"],
             ["info", "missing.obj"], ["check", "scene.json"]]

    def setUp(self):
        super().setUp()
        (self.folder / "scene.json").write_text(json.dumps(SCENE))
        (self.folder / "splish.json").write_text(json.dumps(SPLISH))
        (self.folder / "moved.obj").write_text(CUBE_OBJ.replace("v 1", "v 1.5").replace("v 0", "v 0.5"))

    def count(self, arguments):
        """How many allocations a call makes, and how many lines it says."""
        result = self.start(*arguments, env=dict(os.environ, LD_PRELOAD=str(SHIM), SUNDER_COUNT_TO=str(self.folder / "count")))
        return int((self.folder / "count").read_text()), len(result.stderr.splitlines())

    def chosen(self, arguments, total):
        # Geometric from the end: the first allocations are those of libraries, the last ones of the verb.
        return {1} | {max(1, total - round(total ** (i / self.SAMPLES))) for i in range(self.SAMPLES + 1)}

    def sweep(self, arguments):
        total, lines = self.count(arguments)
        wrong = []
        for number in sorted(self.chosen(arguments, total)):
            for on in ({}, {"SUNDER_FAIL_ON": "1"}):
                result = self.start(*arguments, env=dict(os.environ, LD_PRELOAD=str(SHIM), SUNDER_FAIL_AT=str(number), **on))
                left = [p.name for p in self.folder.iterdir() if "part" in p.name]
                if result.returncode not in (0, 1, 2) or len(result.stderr.splitlines()) > max(1, lines) or left:
                    wrong.append((f"allocation {number}{' and all after it' if on else ''}", result.returncode, result.stderr[:300], left))
        self.assertEqual(wrong[:5], [], f"{len(wrong)} in all")

    def test_every_allocation_may_fail(self):
        for arguments in self.CALLS:
            with self.subTest(" ".join(arguments)):
                self.sweep(arguments)


class Memory(NetTest):
    """Limits of the address space. Below some 40 MB the system cannot load the program, which is not ours to answer."""

    CALLS = [["--help"], ["shape", "icosphere", "--set", "frequency=200", "-o", "o.ply"], ["run", "scene.json", "-o", "out", "--force"]]
    LIMITS = [80, 120, 200, 400]

    def setUp(self):
        super().setUp()
        (self.folder / "scene.json").write_text(json.dumps(SCENE))

    def limited(self, megabytes, *arguments):
        size = megabytes << 20
        return self.start(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))

    def test_every_verb_under_a_limit(self):
        for megabytes in self.LIMITS:
            for arguments in self.CALLS:
                result = self.limited(megabytes, *arguments)
                if result.returncode == 127:
                    continue  # not even loaded
                self.check_answer(result, (megabytes, arguments))

    def test_the_least_memory_that_loads_the_program(self):
        for kilobytes in range(52 << 10, 70 << 10, 256):
            size = kilobytes << 10
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (size, size))
            result = self.start("describe", "materials", preexec_fn=limit)
            if result.returncode == -signal.SIGSEGV:
                # Within 16 kB below the least memory glibc's loader crashes by itself (init_tls does not look whether it got
                # any): also where it only lists the libraries and runs nothing of ours.
                loader = self.start("describe", "materials", preexec_fn=limit, env=os.environ | {"LD_TRACE_LOADED_OBJECTS": "1"})
                if loader.returncode == -signal.SIGSEGV:
                    continue
            if result.returncode != 127:
                self.check_answer(result, kilobytes)

    def test_stacks_of_any_size(self):
        def stack(soft, hard):
            return self.start("run", "scene.json", "-o", "out", "--force", "-q",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (soft << 10, hard << 10)))
        for kilobytes in (64, 150, 512, 1024, 1200):
            result = stack(kilobytes, kilobytes)
            self.check_answer(result, kilobytes)
            self.assertEqual(result.returncode, 2, kilobytes)
            self.assertIn(f"the stack is limited to {kilobytes} kB", result.stderr)
        for soft, hard in ((2048, 2048), (64, 8192), (1024, 65536)):
            self.assertEqual(stack(soft, hard).returncode, 0, (soft, hard))

    def test_more_threads_than_there_is_memory_for(self):
        wanted = None
        for megabytes in (150, 300, 600, 1000, 3000):
            result = self.limited(megabytes, "shape", "icosphere", "--set", "frequency=60", "-o", "o.ply", "--threads", 1024)
            self.check_answer(result, megabytes)
            if result.returncode == 0:
                content = (self.folder / "o.ply").read_bytes()
                self.assertEqual(content, wanted or content)
                wanted = content
        self.assertIsNotNone(wanted)

    def test_no_more_processes(self):
        drop = self.as_nobody()
        result = subprocess.run(["bash", "-c", 'ulimit -u 1; exec "$@"', "-", *drop, BIN / "sunder", "shape", "icosphere", "--set", "frequency=60",
                                 "-o", "o.ply", "--threads", "64"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.check_answer(result, "processes")


if __name__ == "__main__":
    unittest.main()

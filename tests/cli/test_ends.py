#!/usr/bin/env python3
"""Every verb ends: at its target, at a budget that is the same everywhere, or within a second after Ctrl-C; and says on
a terminal what it is doing meanwhile."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from harness import BIN, CommandTest


def cpu_seconds(pid):
    """Of all threads of a process, so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class EndTest(CommandTest):
    def start(self, *arguments, **options):
        return subprocess.Popen([BIN / "sunder", *map(str, arguments)], cwd=self.folder, text=True, **options)

    def interrupted(self, *arguments, after=0.6, number=signal.SIGINT, code=130, leaves=(), **options):
        """Starts a command that takes long, sends a signal, and expects the exit code within a second (of the clock or,
        on a machine that is busy with other things, of its own work) and no file but those in `leaves`."""
        before = set(self.folder.rglob("*"))
        process = self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        time.sleep(after)
        if process.poll() is not None:
            self.fail(f"{arguments}: ended before the signal: {process.communicate()}")
        used = cpu_seconds(process.pid)
        sent = time.monotonic()
        process.send_signal(number)
        worked = used
        while process.poll() is None and time.monotonic() - sent < 60:
            try:
                worked = cpu_seconds(process.pid)
            except (FileNotFoundError, IndexError):
                pass
            time.sleep(0.005)
        waited = time.monotonic() - sent
        if process.poll() is None:
            process.kill()
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, f"{arguments}: {out}{err}")
        self.assertLess(min(waited, worked - used), 1.0, arguments)
        names = {str(p.relative_to(self.folder)) for p in set(self.folder.rglob("*")) - before}
        self.assertEqual(names, set(leaves), arguments)
        return out, err

    def terminal(self, *arguments, timeout=60):
        """Runs a command whose standard error is a terminal; returns exit code and everything drawn there."""
        ours, theirs = pty.openpty()
        process = self.start(*arguments, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text, end = b"", time.monotonic() + timeout
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
        os.close(ours)
        self.assertIsNotNone(process.wait(timeout=timeout))
        return process.returncode, text.decode(errors="replace")

    def open_mesh(self):
        """The half of a ball: its field jumps across the opening, so that no error below some is ever reached."""
        self.json("shape", "icosphere", "--set", "frequency=24", "-o", "ball.obj")
        lines = (self.folder / "ball.obj").read_text().splitlines()
        height = [float(line.split()[2]) for line in lines if line.startswith("v ")]
        kept = [line for line in lines if not line.startswith("f ") or
                all(height[int(word.split("/")[0]) - 1] < 0.3 for word in line.split()[1:])]
        (self.folder / "open.obj").write_text("\n".join(kept) + "\n")


class Fields(EndTest):
    def test_a_field_out_of_reach_ends_at_its_budget(self):
        self.open_mesh()
        made = self.json("sdf", "open.obj", "--error", "1e-7", "--budget", "1e5", "-o", "a.sdf")
        self.assertEqual(made["end"], "budget")
        self.assertIs(made["met"], False)
        self.assertGreater(made["measured_error"], 1e-7)
        self.assertLess(made["samples"], 2.5e5)
        said = self.run_sunder("sdf", "open.obj", "--error", "1e-7", "--budget", "1e5", "-o", "b.sdf", "--threads", 1)
        self.assertEqual(said.returncode, 0)
        self.assertRegex(said.stderr, r"target 1e-07 not met: error \S+ after \d+ cells, ended by the budget \(--budget\)")
        self.assertNotIn("target met", said.stderr + said.stdout)
        self.assertEqual((self.folder / "a.sdf").read_bytes(), (self.folder / "b.sdf").read_bytes(), "threads")

    def test_a_target_is_met_or_not_said_to_be(self):
        self.json("shape", "icosphere", "--set", "frequency=8", "-o", "ball.obj")
        for error in ("2e-2", "5e-3", "2e-3"):
            made = self.json("sdf", "ball.obj", "--error", error, "-o", "ball.sdf")
            self.assertEqual(made["end"], "target met")
            self.assertIs(made["met"], True)
            self.assertLessEqual(made["measured_error"], float(error))

    def test_a_vertex_at_1e30_is_told(self):
        path = self.need_data("hostile/sdf_hang_3584dd1a_in.off")
        result = self.run_sunder("sdf", path, "-o", "x.sdf")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"vertex 54 makes the mesh 1e\+30 m large, while nine tenths of it lie within \S+ m")
        self.assertFalse((self.folder / "x.sdf").exists())
        made = self.json("sdf", path, "--error", "0.01", "--domain", -2, -2, -2, 2, 2, 2, "--budget", "2e5", "-o", "x.sdf")
        self.assertEqual(made["met"], made["measured_error"] <= 0.01)

    def test_an_interrupt_keeps_the_field_so_far(self):
        self.open_mesh()
        out, err = self.interrupted("sdf", "open.obj", "--error", "1e-9", "--json", "-o", "x.sdf", after=2, leaves=["x.sdf"])
        made = json.loads(out)
        self.assertEqual(made["end"], "interrupt")
        self.assertIs(made["met"], False)
        self.assertIn("not met", err)
        told = self.json("sdf", "x.sdf")
        self.assertEqual(told["measured_error"], made["measured_error"])


class Interrupts(EndTest):
    def test_an_interrupt_ends_other_verbs_and_leaves_nothing(self):
        self.json("shape", "icosphere", "--set", "frequency=64", "-o", "ball.obj")
        hard = (("surface", "ball.obj", "--edge", "0.004", "-o", "x.ply"),
                ("tet", "ball.obj", "--edge", "0.012", "-o", "x.msh"),
                ("fracture", "ball.obj", "--edge", "0.03", "--speed", "20", "-o", "pieces"),
                ("stress", "ball.obj", "--edge", "0.03", "--fix", "y<-0.9", "--force", "0,1,0,0,-1e6,0", "-o", "x.vtu"),
                ("voxelize", "ball.obj", "-n", "700", "--exact", "-o", "x.csv"),
                ("query", "ball.obj", "within", "--points", "ball.obj", "--distance", "3", "-o", "x.csv"),
                ("slice", "ball.obj", "--count", "1000", "-o", "slices"),
                ("render", "ball.obj", "--samples", "4096", "-o", "x.png"))
        for arguments in hard:
            with self.subTest(verb=arguments[0]):
                out, err = self.interrupted(*arguments)
                self.assertIn("interrupted", err)
        self.interrupted(*hard[0], number=signal.SIGTERM, code=143)


class Signals(EndTest):
    def caught(self, process):
        """Whether the process has a handler for SIGINT by now: not while the system still loads it."""
        with open(f"/proc/{process.pid}/status") as file:
            return any(line.startswith("SigCgt") and int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1 for line in file)

    def test_signals_in_the_first_milliseconds(self):
        handled = 0
        for k in range(41):
            number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[k % 2]
            process = self.start("shape", "icosphere", "--set", "frequency=500", "-o", "x.ply", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(k / 2000)  # 0 to 20 ms
            ours = self.caught(process)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            handled += ours
            if ours or process.returncode != -number:
                self.assertEqual((process.returncode, out, err), (code, "", "sunder: interrupted\n"), f"after {k / 2} ms")
            self.assertEqual(list(self.folder.iterdir()), [])
        self.assertGreater(handled, 20)

    def test_signals_twice_in_a_row_end_as_one_does(self):
        self.json("shape", "icosphere", "--set", "frequency=64", "-o", "ball.obj")
        for verb in (("fracture", "ball.obj", "--edge", "0.03", "--speed", "20", "-o", "pieces"),
                     ("export", "run", "--to", "vtk", "-o", "vtk"),
                     ("render", "ball.obj", "--samples", "4096", "-o", "x.png")):
            if verb[0] == "export":
                scene = {"world": {"frames": 400}, "bodies": [{"id": "ball", "shape": {"file": "ball.obj"}, "position": [0, 1, 0]}]}
                (self.folder / "scene.json").write_text(json.dumps(scene))
                self.ok("run", "scene.json", "-o", "run", "-q")
            before = set(self.folder.rglob("*"))
            process = self.start(*verb, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.2)
            for _ in range(4):
                process.send_signal(signal.SIGINT)
                time.sleep(0.005)
            err = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 130, f"{verb}: {err}")
            self.assertEqual(set(self.folder.rglob("*")), before, verb)


class Waits(EndTest):
    def test_waits_for_others_end_with_a_signal(self):
        """For somebody who types, for the reader of a pipe, and for an encoder that does not finish."""
        self.json("shape", "icosphere", "--set", "frequency=16", "-o", "ball.obj")
        self.interrupted("query", "ball.obj", "closest", "--points", "-", after=0.2, stdin=subprocess.PIPE)
        os.mkfifo(self.folder / "pipe.csv")
        call = ("query", "ball.obj", "closest", "--points", "ball.obj", "-o", "pipe.csv")
        self.interrupted(*call, after=0.3)  # nobody reads
        with open(os.open(self.folder / "pipe.csv", os.O_RDONLY | os.O_NONBLOCK)):
            self.interrupted(*call, after=0.5)  # somebody does, but takes nothing
        (self.folder / "pipe.csv").unlink()
        (self.folder / "scene.json").write_text(json.dumps({"world": {"frames": 3}, "bodies": [
            {"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]}]}))
        self.ok("run", "scene.json", "-o", "run", "--quiet")
        (self.folder / "bin").mkdir()
        environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        for script in ("cat >/dev/null\nexec sleep 100\n", "exec sleep 100\n"):
            (self.folder / "bin/ffmpeg").write_text("#!/bin/sh\n" + script)
            os.chmod(self.folder / "bin/ffmpeg", 0o755)
            self.interrupted("render", "run", "--size", "160x120", "--samples", "1", "-o", "film.mp4", after=0.8, env=environment)


class Recordings(EndTest):
    def test_an_interrupt_ends_info_and_repair_of_large_recordings(self):
        made = subprocess.run([BIN / "particle_run", "big", "200000", "80"], cwd=self.folder, timeout=60)
        self.assertEqual(made.returncode, 0)
        path = self.folder / "big/run.sunder"
        size = path.stat().st_size
        self.assertGreater(size, 6e7)
        with open(path, "r+b") as file:  # one bit in the middle
            file.seek(size // 2)
            byte = file.read(1)[0]
            file.seek(size // 2)
            file.write(bytes([byte ^ 1]))
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for arguments, after in ((("info", "big"), 0.1), (("info", "big", "--json"), 0.1),
                                     (("repair", "big", "-o", "saved.sunder"), 0.3)):
                out, err = self.interrupted(*arguments, after=after, number=number, code=code)
                self.assertEqual(err, "sunder: interrupted\n", arguments)
                if "--json" in arguments:
                    self.assertEqual(json.loads(out)["error"]["kind"], "interrupted")
                else:
                    self.assertEqual(out, "", arguments)
        self.assertEqual(path.stat().st_size, size)


class Progress(EndTest):
    def test_progress_of_work_that_grows_claims_no_end(self):
        self.open_mesh()
        code, text = self.terminal("sdf", "open.obj", "--error", "1e-7", "--budget", "2e5", "-o", "x.sdf")
        self.assertEqual(code, 0, text)
        lines = re.findall(r"fitting  \d+ cells  \S+ cells/s  error \S+, target 1e-07", text)
        self.assertGreater(len(lines), 1, text)
        self.assertNotIn("%", text)
        # The counts grow: the line is alive.
        counts = [int(line.split()[1]) for line in lines]
        self.assertLess(counts[0], counts[-1])

    def test_progress_of_work_with_an_end(self):
        self.json("shape", "icosphere", "--set", "frequency=64", "-o", "ball.obj")
        code, text = self.terminal("surface", "ball.obj", "--edge", "0.02", "-o", "x.ply")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"sampling  \d+%  \d+/\d+ blocks")
        for arguments in (("--quiet",), ("--json", "-q")):
            code, text = self.terminal("surface", "ball.obj", "--edge", "0.05", "-o", "x.ply", *arguments)
            self.assertEqual((code, text), (0, ""))


class Budgets(EndTest):
    def test_what_no_budget_pays_is_refused_with_what_would_do(self):
        self.json("shape", "icosphere", "--set", "frequency=16", "-o", "ball.obj")
        for verb, budget, option, first, says in (
                ("surface", "2e5", "--edge", "0.01", r"an edge of (\S+) m would do"),
                ("tet", "2e4", "--edge", "0.01", r"an edge of (\S+) m would do"),
                ("voxelize", "1e5", "-n", "300", r"-n (\d+) would do")):
            with self.subTest(verb=verb):
                output = ("-o", {"surface": "x.ply", "tet": "x.msh", "voxelize": "x.csv"}[verb])
                line = self.refused(verb, "ball.obj", option, first, "--budget", budget, *output,
                                    says=["ball.obj", "allowed by the budget and the memory there is"])
                self.ok(verb, "ball.obj", option, re.search(says, line)[1], "--budget", budget, *output)

    def test_pairs_beyond_the_budget_are_refused_with_what_would_do(self):
        self.json("shape", "icosphere", "--set", "frequency=16", "-o", "ball.obj")
        self.json("shape", "icosphere", "--set", "frequency=12", "--set", "radius=0.99", "-o", "tool.obj")
        for checked in ((), ("--no-check",), ("--resolve",)):
            call = ("cut", "ball.obj", "tool.obj", *checked, "--op", "difference", "-o", "x.ply")
            line = self.refused(*call, "--budget", 100, says=["ball.obj", "pairs of faces", "100 are allowed by the budget"])
            budget = re.search(r"a budget of (\d+) would do", line)[1]
            self.refused(*call, "--budget", int(budget) - 1, says=["a budget of"])
        self.ok(*call, "--budget", 10 * int(budget))
        line = self.refused("slice", "ball.obj", "--count", 90, "--budget", 1e5, "-o", "slices", says=["90 slices", "1e+05 are allowed"])
        self.ok("slice", "ball.obj", "--count", re.search(r"--count (\d+) would do", line)[1], "--budget", 1e5, "-o", "slices")
        for option in ("--budget", "--max-pairs"):
            self.refused("collide", "ball.obj", "tool.obj", option, 100, says=["pairs of boxes overlap", "100 are allowed", "--budget"])

    def test_queries_end_at_their_budget(self):
        self.json("shape", "icosphere", "--set", "frequency=16", "-o", "ball.obj")
        near = ("query", "ball.obj", "within", "--points", "ball.obj", "--distance", 1)
        part = self.json(*near, "--budget", 5e4, "-o", "a.csv")
        self.assertIs(part["complete"], False)
        self.assertLess(part["points"], 2562)
        self.assertGreater(part["rows"], 5e4 - part["points"])
        said = self.run_sunder(*near, "--budget", 5e4, "-o", "b.csv", "--threads", 1)
        self.assertEqual(said.returncode, 0)
        self.assertIn(f"ended by the budget (--budget) after {part['points']} of 2562 points", said.stderr)
        self.assertEqual((self.folder / "a.csv").read_bytes(), (self.folder / "b.csv").read_bytes(), "threads")
        exact = self.json("query", "ball.obj", "inside", "--exact", "--points", "ball.obj", "--budget", 1e6, "-o", "c.csv")
        self.assertLess(exact["points"], 1 + 1e6 / exact["triangles"])
        self.assertIs(self.json("query", "ball.obj", "closest", "--points", "ball.obj", "-o", "d.csv")["complete"], True)

    def test_iterations_end_at_their_budget_with_the_best_so_far(self):
        self.json("shape", "box", "--set", "width=1", "--set", "height=0.2", "--set", "depth=0.2", "-o", "beam.obj")
        beam = ("stress", "beam.obj", "--edge", "0.05", "--fix", "x<-0.45", "--gravity", "0,-9.81,0", "--solver", "pcg")
        whole = self.json(*beam)
        self.assertIs(whole["converged"], True)
        self.assertLess(whole["residual"], 1e-8)
        energies = []
        for budget in (2, 8, whole["iterations"] // 2):
            part = self.json(*beam, "--budget", budget)
            self.assertEqual((part["converged"], part["iterations"]), (False, budget))
            self.assertGreater(part["residual"], 1e-8)
            energies.append(part["elastic_energy"])
        # Conjugate gradients approach the energy from below, step by step.
        self.assertEqual(energies, sorted(energies))
        self.assertLess(energies[-1], whole["elastic_energy"])
        said = self.run_sunder(*beam, "--budget", 8)
        self.assertEqual(said.returncode, 0)
        self.assertRegex(said.stderr, r"ended by the budget \(--budget\) after 8 iterations: forces of \S+ of those that act")

    def test_memory_that_is_not_there_is_refused_before_it_is_taken(self):
        self.json("shape", "icosphere", "--set", "frequency=16", "-o", "ball.obj")
        for arguments in (("surface", "ball.obj", "--edge", "0.0017", "-o", "x.ply"),
                          ("tet", "ball.obj", "--edge", "0.005", "-o", "x.msh"),
                          ("voxelize", "ball.obj", "-n", "700", "-o", "x.csv")):
            with self.subTest(verb=arguments[0]):
                result = subprocess.run(["bash", "-c", 'ulimit -v 1000000; exec "$@"', "-", BIN / "sunder", *arguments],
                                        cwd=self.folder, capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, r"^sunder: error: ball.obj: .* allowed by .* the memory there is \(.* would do\)\n$")


class Blows(EndTest):
    def test_a_blow_ends_at_its_budget(self):
        self.json("shape", "box", "-o", "box.obj")
        blow = ("fracture", "box.obj", "--material", "plaster", "--edge", "0.33", "--speed", "40", "--ball", "0.3")
        whole = self.json(*blow)
        self.assertIs(whole["complete"], True)
        self.assertEqual(whole["steps"], 20)
        part = self.json(*blow, "--budget", whole["tets"] * 25)
        self.assertIs(part["complete"], False)
        self.assertLess(part["steps"], 20)
        self.assertLess(part["work"], whole["work"])
        said = self.run_sunder(*blow, "--budget", whole["tets"] * 25)
        self.assertEqual(said.returncode, 0)
        self.assertRegex(said.stderr, r"ended by its budget \(--budget\) after \d+ of 20 steps: cracks may be missing")

    def test_a_bowl_that_loses_its_wall_is_refused(self):
        self.json("shape", "bowl", "-o", "bowl.obj")
        line = self.refused("fracture", "bowl.obj", "--material", "porcelain", "--edge", "0.01", "-o", "pieces",
                            says=["bowl.obj", "lose 77 % of the body", "m^3", "would do"])
        edge = re.search(r"an edge of (\S+) m would do", line)[1]
        self.assertLess(abs(self.json("tet", "bowl.obj", "--sharp", "--edge", edge, "-o", "b.msh")["volume_error"]), 0.02)
        warned = self.run_sunder("tet", "bowl.obj", "--sharp", "--edge", "0.01", "-o", "b.msh")
        self.assertEqual(warned.returncode, 0)
        self.assertIn("lose 77 % of the volume", warned.stderr)


if __name__ == "__main__":
    unittest.main()

"""What `sunder check` says a scene costs, against what it takes: peak memory, and the scenes that once took all of it.
SUNDER_TIER=full looks at more scenes, SUNDER_SCENES="walls letters" of those that come along only at these."""
import json
import math
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
QUICK = {"primitives": None, "plates": None}  # frames; None: the whole run


GROUND = {"id": "g", "shape": {"plane": {}}, "kind": "static", "material": "concrete"}


def falling(shape, fracture=None, **more):
    body = {"id": "x", "shape": shape, "position": [0, 1.5, 0], "velocity": [0, -8, 0], "material": "glass", **more}
    if fracture is not None:
        body["fracture"] = fracture
    return {"world": {"frames": 30}, "bodies": [GROUND, body]}


def wet(frames=2, bodies=(), world=None, **fluid):
    return {"world": {"frames": frames, **(world or {})}, "bodies": [GROUND, *bodies], "fluid": fluid}


def box(lower, upper):
    return {"lower": lower, "upper": upper}


JET = {"id": "w", "emitters": [{"position": [0, 0.6, 0], "direction": [0, -1, 0], "radius": 0.06, "speed": 2}]}
# Small scenes of other kinds than those that come along. Constants were adjusted with these and their like in view: they
# guard the estimate, they do not measure how well it does on scenes nobody has seen.
VARIED = {
    "a star": falling({"make": "extrusion", "with": {"outline": "star"}}, {}),
    "a solid of small error": falling({"make": "cone", "solid": {"error": 0.0003}}),
    "many balls": {"world": {"frames": 3}, "bodies": [GROUND], "arrays": [
        {"id": "m", "body": {"shape": {"sphere": {"radius": 0.1}}}, "position": [0, 0.2, 0],
         "grid": {"count": [20, 8, 20], "spacing": [0.25, 0.25, 0.25]}}]},
    "a tank": wet(radius=0.02, tank=box([0, 0, 0], [1.5, 1, 0.7]), liquids=[{"id": "w", "blocks": [box([0, 0, 0], [0.5, 0.8, 0.7])]}]),
    "a ring cut twice": falling({"make": "torus", "with": {"radius": 0.5, "tube": 0.2}}, position=[0, 3, 0],
                                cut=[{"normal": [1, 0.03, 0.02]}, {"point": [0, 0, 0.1], "normal": [0, 0.1, 1]}]),
    "a ball in slices": falling({"make": "icosphere", "with": {"frequency": 40}}, position=[0, 3, 0],
                                cut=[{"point": [0, y, 0], "normal": [0, 1, 0]} for y in (-0.5, 0.01, 0.5)]),
    "a knot in parts": falling({"make": "trefoil"}, position=[0, 3, 0],
                               cut=[{"point": [0.01, 0.02, 0.03], "normal": [1, 0.3, 0.2]}, {"point": [0.04, 0.02, 0.03], "normal": [0, 0.3, 1.2]}]),
    "a jet into a sink": wet(frames=90, radius=0.01, liquids=[JET], sinks=[box([-1, -0.2, -1], [1, 0.1, 1])]),
}
VARIED_FULL = {
    "a fine ball": falling({"make": "icosphere", "with": {"radius": 0.5, "frequency": 60}}),
    "a thin ring": falling({"make": "torus", "with": {"radius": 0.3, "tube": 0.02}}, {"edge": 0.012}),
    "a bottle": falling({"make": "bottle"}, {}),
    "a knot": falling({"make": "torus-knot"}, {}),
    "a rippled ball": falling({"make": "rippled-sphere", "with": {"n": 60}}, {}, position=[0, 3, 0]),
    "a vase": falling({"make": "vase"}, {}),
    "a shell of a field": falling({"field": {"shell": {"of": {"sphere": {"radius": 0.3}}, "thickness": 0.04}}}),
    "a noisy ball": falling({"field": {"noise": {"of": {"sphere": {"radius": 0.3}}, "amplitude": 0.05, "wavelength": 0.05, "octaves": 4}}}),
    "a ball of many octaves": falling({"field": {"noise": {"of": {"sphere": {"radius": 0.3}}, "amplitude": 0.02, "wavelength": 0.1, "octaves": 12}}}),
    "steps that lie far apart, under water": wet(bodies=[{"id": "steps", "kind": "static", "shape": {"field": {"union": [
        {"box": {"centre": [0.2, 0.2, 0], "size": [0.9, 1.2, 1]}}, {"box": {"centre": [35, 0.1, 0], "size": [0.9, 1, 1]}}]}}}],
        radius=0.02, liquids=[{"id": "w", "blocks": [box([-0.2, 0.9, -0.3], [0.3, 1.2, 0.3])]}]),
    "a slab under water": wet(bodies=[{"id": "slab", "shape": {"box": {"size": [4, 0.1, 4]}}, "kind": "static", "position": [0, 0.5, 0]}],
                              radius=0.02, liquids=[{"id": "w", "blocks": [box([-0.3, 0.6, -0.3], [0.3, 1.0, 0.3])]}]),
    "balls in a tank": {**wet(radius=0.015, tank=box([-0.7, 0, -0.7], [0.7, 1.5, 0.7]), liquids=[{"id": "w", "blocks": [box([-0.7, 0, -0.7], [0.7, 0.5, 0.7])]}]),
                        "arrays": [{"id": "m", "body": {"shape": {"sphere": {"radius": 0.06}}}, "position": [0, 0.9, 0],
                                    "grid": {"count": [6, 2, 6], "spacing": [0.2, 0.2, 0.2]}}]},
}


def mesh(name, **more):
    return {"file": str(DATA / "meshes" / f"{name}.obj"), **more}


def standing(shape, fracture, height, **more):
    return {"id": "x", "shape": shape, "position": [0, height, 0], "material": "glass", "fracture": fracture, **more}


def world(frames, *bodies, **more):
    return {"world": {"frames": frames}, "bodies": [GROUND, *bodies], **more}


def water(radius, *blocks, **more):
    return {"radius": radius, "liquids": [{"id": "w", "blocks": list(blocks)}], **more}


# Written before the estimate was run on them. Five of the first run's misses were then mended, with these scenes in view: they
# guard the estimate now, as those above do.
HELD_OUT = {
    "a glass block that stands": world(60, standing({"box": {"size": [0.4, 0.4, 0.4]}}, {"edge": 0.025}, 0.2)),
    "a glass block thrown down": world(60, standing({"box": {"size": [0.4, 0.4, 0.4]}}, {"edge": 0.025}, 1.5, velocity=[0, -12, 0], rotation={"degrees": [20, 10, 30]})),
    "a spot of porcelain dropped": world(40, standing(mesh("spot", scale=0.3), {"edge": 0.03}, 2.0, material="porcelain", velocity=[0, -10, 0])),
    "a spot of granite set down": world(40, standing(mesh("spot", scale=0.3), {"edge": 0.03}, 0.24, material="granite")),
    "thin bowls in a row": world(40, arrays=[{"id": "b", "body": {"shape": {"make": "bowl"}, "material": "porcelain", "fracture": {}},
                                  "position": [0, 1.0, 0], "grid": {"count": [5, 1, 2], "spacing": [0.6, 1, 0.6]}}]),
    "voronoi bricks": world(60, arrays=[{"id": "b", "body": {"shape": {"box": {"size": [0.3, 0.2, 0.2]}}, "material": "brick",
                                  "fracture": {"model": "voronoi", "pieces": 20, "edge": 0.05}}, "position": [0, 0.8, 0],
                                  "grid": {"count": [4, 3, 1], "spacing": [0.5, 0.5, 0.5]}}]),
    "a rocker arm of steel": world(60, {"id": "x", "shape": mesh("rocker-arm"), "material": "steel", "position": [0, 0.5, 0]}),
    "four figures that are not brittle": world(60, *[{"id": n, "shape": mesh(n, scale=s), "position": [2.0 * i, 1.5, 0]}
                                  for i, (n, s) in enumerate([("cow", 0.1), ("cheburashka", 1), ("fandisk", 0.1), ("spot", 0.5)])]),
    "coarse water": world(30, fluid=water(0.04, box([0, 0, 0], [1, 1, 1]), tank=box([0, 0, 0], [2, 2, 1]))),
    "fine water in a small tank": world(5, fluid=water(0.006, box([0, 0, 0], [0.2, 0.3, 0.2]), tank=box([0, 0, 0], [0.4, 0.4, 0.2]))),
    "a jet on a bunny": world(60, {"id": "x", "shape": mesh("stanford-bunny", scale=4), "kind": "static", "position": [0, -0.1, 0]},
                                  fluid={"radius": 0.012, "liquids": [{"id": "w", "emitters": [{"position": [0, 1, 0], "direction": [0, -1, 0], "radius": 0.05, "speed": 3}]}]}),
    "a chain of boxes": world(120, {"id": "top", "shape": {"box": {"size": [0.2, 0.2, 0.2]}}, "kind": "static", "position": [0, 10, 0]},
                                  arrays=[{"id": "c", "body": {"shape": {"box": {"size": [0.1, 0.1, 0.1]}}}, "position": [0, 1, 0], "grid": {"count": [30, 20, 10], "spacing": [0.3, 0.3, 0.3]}}],
                                  joints=[{"kind": "ball", "b": "c[*]", "anchor": [0, 0.1, 0], "relative": True}]),
    "solids as trees of spheres": world(30, arrays=[{"id": "t", "body": {"shape": {"make": "torus", "with": {"radius": 0.2, "tube": 0.06}, "solid": {"points": 2000, "insidePoints": 300}}},
                                  "position": [0, 0.5, 0], "grid": {"count": [4, 4, 4], "spacing": [0.6, 0.3, 0.6]}}]),
    "a long recording": world(20000, {"id": "x", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]}),
    "many static bodies": world(10, {"id": "x", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 30, 0]},
                                  arrays=[{"id": "s", "body": {"shape": {"box": {"size": [0.1, 0.1, 0.1]}}, "kind": "static"}, "position": [0, 0.1, 0],
                                           "grid": {"count": [50, 20, 20], "spacing": [0.15, 0.15, 0.15]}}]),
    "a thin shell of a field in water": world(3, {"id": "x", "shape": {"field": {"shell": {"of": {"sphere": {"radius": 0.4}}, "thickness": 0.02}}}, "position": [0, 0.5, 0]},
                                  fluid=water(0.02, box([-0.6, 0, -0.6], [0.6, 0.4, 0.6]), tank=box([-0.6, 0, -0.6], [0.6, 1.2, 0.6]))),
    "a pile of balls": world(180, arrays=[{"id": "m", "body": {"shape": {"sphere": {"radius": 0.05}}}, "fill": {"count": 1500, "spacing": 0.12, "box": box([-0.6, 0.1, -0.6], [0.6, 3, 0.6])}}]),
    "glass balls under a hammer": world(60, {"id": "h", "shape": {"box": {"size": [0.6, 0.2, 0.6]}}, "material": "steel", "position": [0, 1, 0], "velocity": [0, -15, 0]},
                                  standing({"make": "icosphere", "with": {"radius": 0.15}}, {}, 0.15)),
}


class CostTest(CommandTest):
    def processor_seconds(self, args):
        """Of a run of the command, on all cores; the program says nothing of other processes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run_sunder(*args)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content, indent=1))

    def look_at(self, name, scene):
        """What is wrong with the estimate for a scene."""
        self.write("scene.json", scene)
        checked = self.run_sunder("check", "scene.json", "--json")
        self.assertIn(checked.returncode, (0, 2), checked.stderr)  # 2: with a finding, such as a mesh that is open
        told = json.loads(checked.stdout)
        peak = self.peak(["run", "scene.json", "-o", "out", "--force", "--quiet"], timeout=600, code=0)
        build = self.processor_seconds(["run", "scene.json", "-o", "out", "--force", "--quiet", "--frames", 0])
        memory, seconds = told["memory_bytes"] / peak, told["build_seconds"] / build
        print(f"{name}: memory {peak / 1e6:.0f} MB, estimated {memory:.2f} of it; building {build:.2f} s, estimated {seconds:.2f} of it", file=sys.stderr)
        # Processor time of a short run is mostly that of starting: a twentieth of a second does not count.
        wrong = [] if 0.5 <= memory <= 2 else [("memory", memory)]
        if not (told["build_seconds"] <= 3 * build + 0.05 and build <= 3 * told["build_seconds"] + 0.05):
            wrong.append(("building", seconds))
        return wrong


class Estimates(CostTest):
    def test_small_scenes_of_many_kinds(self):
        scenes = {**VARIED, **VARIED_FULL} if FULL else VARIED
        wrong = {name: self.look_at(name, scene) for name, scene in scenes.items()}
        self.assertEqual({name: what for name, what in wrong.items() if what}, {})

    def test_the_range_of_memory_holds_what_breaks_and_what_does_not(self):
        block = {"box": {"size": [0.4, 0.4, 0.4]}}
        self.write("still.json", world(10, standing(block, {"edge": 0.04}, 0.2)))
        still = self.json("check", "still.json")
        self.assertEqual(still["memory_range"], [still["memory_bytes"]] * 2)
        self.write("thrown.json", world(10, standing(block, {"edge": 0.04}, 0.5, velocity=[0, -12, 0])))
        thrown = self.json("check", "thrown.json")
        self.assertAlmostEqual(thrown["memory_range"][0], still["memory_bytes"], delta=1e5)
        self.assertGreater(thrown["memory_bytes"], 1.5 * still["memory_bytes"])
        self.assertLessEqual(thrown["memory_bytes"], thrown["memory_range"][1])
        # The limit is compared with the upper end, and the message says so.
        limit = 0.5 * sum(thrown["memory_range"]) / 1e6
        self.refused("check", "thrown.json", "--memory", f"{limit:.0f}MB", says=("if all breaks that can", "if nothing does"))
        self.ok("check", "still.json", "--memory", f"{limit:.0f}MB")

    def test_a_sink_bounds_what_an_emitter_lets_in(self):
        particles = []
        for frames in (300, 30000):
            self.write("jet.json", wet(frames=frames, radius=0.01, liquids=[JET], sinks=[box([-1, -0.2, -1], [1, 0.1, 1])]))
            particles.append(self.json("check", "jet.json")["particles_later"])
        self.assertEqual(*particles)
        self.write("jet.json", wet(frames=30000, radius=0.01, liquids=[JET]))
        self.assertGreater(self.json("check", "jet.json")["particles_later"], 50 * particles[0])


@unittest.skipUnless(FULL, "the full tier")
class HeldOut(CostTest):
    def test_scenes_that_were_held_out(self):
        self.need_data("meshes/spot.obj")
        wrong = {name: self.look_at(name, scene) for name, scene in HELD_OUT.items()}
        self.assertEqual({name: what for name, what in wrong.items() if what}, {})


class Shipped(CostTest):
    """The scenes that come along."""

    def compare(self, name, frames):
        """The peak of a run of so many frames, or of the whole run, against the estimate for it."""
        scene = SCENES / f"{name}.json"
        length = ["--set", f"world.duration={frames / self.rate(scene)}"] if frames else []
        told = self.json("check", scene, *length)
        peak = self.peak(["run", scene, *(["--frames", frames] if frames else []), "-o", "out", "--force", "--quiet"], timeout=3000, code=0)
        ratio = told["memory_bytes"] / peak
        print(f"{name}: {peak / 1e6:.0f} MB, estimated {told['memory_bytes'] / 1e6:.0f} MB, ratio {ratio:.2f}", file=sys.stderr)
        return ratio

    def rate(self, scene):
        text = "\n".join(line for line in scene.read_text().splitlines() if not line.lstrip().startswith("//"))
        return json.loads(text)["world"].get("frameRate", 60)

    @unittest.skipIf(FULL, "the full tier looks at all scenes")
    def test_memory_of_two_scenes_is_within_a_factor_of_two(self):
        for name, frames in QUICK.items():
            ratio = self.compare(name, frames)
            self.assertTrue(0.5 <= ratio <= 2, f"{name}: {ratio}")

    @unittest.skipUnless(FULL, "the full tier")
    def test_memory_of_every_scene_is_within_a_factor_of_two(self):
        wrong = {}
        for scene in sorted(SCENES.glob("*.json")):
            if scene.stem not in os.environ.get("SUNDER_SCENES", scene.stem).split():
                continue
            # Liquids take their memory at the start, bodies that break at the end.
            wet = '"fluid"' in scene.read_text()
            ratio = self.compare(scene.stem, None if not wet else 2 if scene.stem == "temple" else 20)
            if not 0.5 <= ratio <= 2:
                wrong[scene.stem] = ratio
        self.assertEqual(wrong, {})


class Looks(CostTest):
    """What `check` itself takes, and what it refuses."""

    def test_a_million_bodies_are_looked_at_in_a_second_and_100_megabytes(self):
        self.write("many.json", {"world": {"frames": 3}, "bodies": [GROUND], "arrays": [
            {"id": "m", "body": {"shape": {"box": {"size": [0.1, 0.1, 0.1]}}}, "position": [0, 1, 0],
             "grid": {"count": [100, 100, 100], "spacing": [0.2, 0.2, 0.2]}}],
            "joints": [{"kind": "ball", "b": "m[*]"}], "forces": [{"gravity": {"acceleration": [0, -1, 0]}}] * 100})
        arguments = ["check", "many.json", "--memory", "200GB"]
        self.assertLess(self.peak(arguments), 100e6)
        told = self.json(*arguments)
        self.assertEqual((told["bodies"], told["dynamic"], told["joints"]), (1000001, 1000000, 1000000))
        self.assertLess(self.processor_seconds(arguments), 5)  # a second where the machine is free

    def test_scenes_that_were_slow_to_look_at_are_not(self):
        points = [[0.3 * x, 0.3 * y, 0.3 * z] for x, y, z in ((math.sin(i) * math.sin(0.001 * i), math.cos(0.001 * i),
                   math.cos(i) * math.sin(0.001 * i)) for i in range(3, 3100))] * 4
        slow = {
            "emitters in one place": wet(radius=0.05, liquids=[{"id": "w", "emitters": [{"position": [0, 1, 0], "direction": [0, -1, 0], "radius": 0.1, "speed": 1}] * 2000}]),
            "many different fine balls": {"bodies": [GROUND] + [{"id": f"b{i}", "shape": {"make": "icosphere", "with": {"radius": 0.1 + 1e-6 * i, "frequency": 30}},
                                          "position": [i, 1, 0]} for i in range(1000)]},
            "a hull of many points": world(3, {"id": "x", "shape": {"hull": {"points": points}}, "position": [0, 1, 0]}),
        }
        for name, scene in slow.items():
            self.write("slow.json", scene)
            arguments = ["check", "slow.json", "--memory", "2GB"]
            self.assertLess(self.processor_seconds(arguments), 3, name)
            self.assertLess(self.peak(arguments), 100e6, name)

    def test_large_meshes_are_not_cut_to_be_counted(self):
        self.ok("shape", "icosphere", "--set", "frequency=123", "-o", "ball.ply")  # 302,580 triangles
        self.write("cut.json", world(3, *({"id": f"b{i}", "shape": {"file": "ball.ply", "scale": 1 + 0.1 * i}, "position": [4 * i, 3, 0],
                                           "cut": [{"point": [0.01, 0.02, 0.013], "normal": [1, 0.03, 0.02]}]} for i in range(2))))
        arguments = ["check", "cut.json", "--memory", "2GB"]
        self.assertLess(self.processor_seconds(arguments), 3)  # a second where the machine is free
        self.assertLess(self.peak(arguments), 100e6)
        self.assertEqual(self.json(*arguments)["bodies"], 5)
        # A run that has not the memory is refused before it cuts.
        small = ["run", "cut.json", "-o", "out", "--memory", "120MB"]
        self.refused(*small, says=("ball.ply", "pieces"))
        self.assertLess(self.peak(small), 60e6)

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

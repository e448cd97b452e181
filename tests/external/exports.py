#!/usr/bin/env python3
"""Exports of runs, opened by programs that are not ours: VTK, Blender, Khronos' glTF validator, tinyusdz.
`exports.py SOURCE_FOLDER CACHE_FOLDER`, with SUNDER_BIN naming the folder of the programs. A program that is not there is
named and passed over; with none at all the exit code is 77, which ctest takes for skipped."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE, CACHE = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
SUNDER = pathlib.Path(os.environ["SUNDER_BIN"]) / "sunder"
PACKAGES = ["gltf-validator@2.0.0-dev.3.10", "tinyusdz@0.9.0-rc10"]

GLASS = """{"world": {"frames": 20},
 "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
            {"id": "ball", "shape": {"sphere": {"radius": 0.25}}, "material": "glass", "position": [0, 0.5, 0]},
            {"id": "box", "shape": {"box": {"size": [0.3, 0.3, 0.3]}}, "material": "oak", "position": [0.6, 0.4, 0]}]}"""

# Blender's Python takes its modules from beside the first python3 on the path: that must be the system's.
SYSTEM = dict(os.environ, PATH="/usr/local/bin:/usr/bin:/bin")

failures, checked, absent = [], [], []


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600, **options)


def sunder(*arguments):
    result = run(SUNDER, *arguments)
    if result.returncode != 0:
        sys.exit(f"sunder {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stdout


def expect(condition, what):
    checked.append(what)
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def close(a, b, tolerance):
    return len(a) == len(b) and all(abs(x - y) <= tolerance for x, y in zip(a, b))


class Run:
    """A recording, its exports, and what they must hold."""

    def __init__(self, folder, scene, frames):
        self.folder, self.frames = folder, frames
        sunder("run", scene, "-o", folder, "--frames", frames, "--quiet")
        for to in ("vtk", "glb", "usda", "obj", "ply", "csv"):
            answer = json.loads(sunder("export", folder, "--to", to, "--json"))
            setattr(self, to, pathlib.Path(answer["open"]))
        # Of the OBJ: a face a line.
        self.triangles = sum(line.startswith("f ") for line in self.obj.read_text().splitlines())
        with open(self.csv.parent / "bodies.csv", newline="") as file:
            self.rows = [row for row in csv.DictReader(file)]

    def bodies(self, frame):
        return {row["name"]: row for row in self.rows if int(row["frame"]) == frame}

    def ply_of(self, frame):
        return self.ply.parent / f"frame_{frame:04}.ply"


def python_with_vtk():
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and run(python, "-c", "import vtk").returncode == 0:
            return python
    return None


def check_vtk(runs):
    python = python_with_vtk()
    if not python:
        absent.append("VTK (Debian: python3-vtk9)")
        return
    for r in runs:
        result = run(python, HERE / "vtk_read.py", r.vtk, r.ply_of(r.frames))
        expect(result.returncode == 0, f"VTK opens {r.vtk.name}: {result.stderr[-500:]}")
        if result.returncode != 0:
            continue
        found = json.loads(result.stdout)
        last = found["frames"][-1]
        print(f"VTK {found['vtk']}: {r.vtk.name} has {len(found['frames'])} times from {found['frames'][0]['time']} to "
              f"{last['time']}, {last['cells']} cells of {last['bodies']} bodies, arrays {', '.join(found['cell_arrays'])}")
        expect(len(found["frames"]) == r.frames + 1, "a time a frame")
        expect(all(f["time"] == f["stamp"] for f in found["frames"]), "times in the files are those of the PVD")
        for name, size in (("body", 1), ("parent", 1), ("material", 1), ("speed", 1), ("velocity", 3)):
            expect(found["cell_arrays"].get(name) == size, f"cell data {name}")
        expect(last["bodies"] == len(r.bodies(r.frames)), "as many bodies as in the table")
        expect(found["ply"]["points"] == last["points"] and found["ply"]["cells"] == last["cells"], "PLY and VTP agree")
        expect(close(found["ply"]["bounds"], last["bounds"], 1e-6), "PLY and VTP have the same bounds")
        expect("RGB" in found["ply"]["point_arrays"], "VTK sees the colours of the PLY")


def check_npm(runs):
    npm, node = shutil.which("npm"), shutil.which("node")
    if not npm or not node:
        absent.append("npm and node (Debian: nodejs npm)")
        return
    if not all((CACHE / "node_modules" / p.split("@")[0]).is_dir() for p in PACKAGES):
        CACHE.mkdir(parents=True, exist_ok=True)
        if run(npm, "install", "--no-audit", "--no-fund", "--prefix", CACHE, *PACKAGES, cwd=CACHE).returncode != 0:
            absent.append("gltf-validator and tinyusdz (npm could not fetch them)")
            return
    result = run(node, HERE / "glb_validate.mjs", CACHE, *[r.glb for r in runs])
    expect(result.returncode == 0, f"the glTF validator runs: {result.stderr[-500:]}")
    if result.returncode == 0:
        for r, found in zip(runs, json.loads(result.stdout)):
            print(f"gltf-validator {found['version']}: {r.glb.name} has {found['numErrors']} errors, "
                  f"{found['numWarnings']} warnings, {found['numInfos']} infos, {found['drawCallCount']} draw calls, "
                  f"{found['totalTriangleCount']} triangles {found['messages'] or ''}")
            expect(found["numErrors"] == 0, f"no error in {r.glb.name}")
            expect(found["numWarnings"] == 0, f"no warning in {r.glb.name}")
            expect(found["animationCount"] == 1, f"an animation in {r.glb.name}")
    for r in runs:
        result = run(node, HERE / "usd_read.mjs", CACHE, r.usda)
        expect(result.returncode == 0, f"tinyusdz reads {r.usda.name}: {result.stdout[-500:]}{result.stderr[-500:]}")
        if result.returncode == 0:
            found = json.loads(result.stdout)
            print(f"tinyusdz: {r.usda.name} has {found['meshes']} meshes, {found['materials']} materials, "
                  f"{found['triangles']} triangles")
            expect(found["meshes"] == len(r.bodies(0)), "a mesh a body in USD")
            expect(found["triangles"] == r.triangles, "triangles of USD are those of the bodies")
            expect(not found["unbound"], "every mesh in USD has a material")


def turned(row, v, back=False):
    """The vector turned by the body's rotation, or back."""
    x, y, z, w = (float(row[k]) for k in ("qx", "qy", "qz", "qw"))
    if back:
        x, y, z = -x, -y, -z
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0]]


def check_blender(runs):
    blender = shutil.which("blender")
    if not blender:
        absent.append("Blender (Debian: blender)")
        return
    for r in runs:
        ends = [0, r.frames]
        result = run(blender, "-b", "--factory-startup", "--python", HERE / "blender_import.py", "--", r.glb, r.ply_of(r.frames),
                     r.obj, r.usda, "--frames", ",".join(map(str, ends)), env=SYSTEM)
        line = next((l for l in result.stdout.splitlines() if l.startswith("RESULT ")), None)
        expect(line is not None, f"Blender imports the exports: {result.stdout[-800:]}{result.stderr[-800:]}")
        if line is None:
            continue
        answer = json.loads(line[7:])
        glb, ply, obj, usd = answer["files"]
        bodies = r.bodies(r.frames)
        for found in answer["files"]:
            if "skipped" in found:
                print(f"Blender {answer['blender']}: {pathlib.Path(found['file']).name}: {found['skipped']}")
                absent.append(f"USD in Blender ({found['skipped']})")
                continue
            print(f"Blender {answer['blender']}: {pathlib.Path(found['file']).name} has {found['objects']} objects, "
                  f"{found['meshes']} meshes, {found['frames'][str(ends[-1])]['triangles']} triangles, "
                  f"materials {', '.join(found['materials']) or 'none'}")
        expect(glb["objects"] == len(bodies), "an object a body in GLB")
        expect(obj["objects"] == len(bodies), "an object a body in OBJ")
        expect(ply["objects"] == 1, "one object in PLY")
        expect(glb["parents"] == len(bodies), "parents arrive as custom properties")
        count = glb["frames"][str(ends[-1])]["triangles"]
        expect(count == ply["frames"][str(ends[-1])]["triangles"] == obj["frames"]["0"]["triangles"], "triangles agree")
        if "skipped" not in usd:
            expect(usd["objects"] == len(bodies), "an object a body in USD")
            expect(usd["frames"][str(ends[-1])]["triangles"] == count, "triangles of USD agree")
        worst = 0
        first, last = r.bodies(ends[0]), r.bodies(ends[-1])
        places = [glb["frames"][str(frame)]["places"] for frame in ends]
        expect(all(name in places[0] and name in places[1] for name in first), "bodies keep their names in Blender")
        for name, row in first.items():
            if name not in places[0] or name not in places[1]:
                continue
            # Origin and a vertex of the mesh: turned back in the first frame and forth in the last.
            start, end = ([float(o[k]) for k in "xyz"] for o in (row, last[name]))
            vertex = turned(row, [a - b for a, b in zip(places[0][name][3:], start)], back=True)
            expected = [a + b for a, b in zip(turned(last[name], vertex), end)]
            wrong = [abs(a - b) for a, b in zip(places[0][name][:3] + places[1][name], start + end + expected)]
            worst = max(worst, max(wrong) / (1 + max(map(abs, vertex))))
        print(f"Blender's animation is within {worst:.2g} of the recording")
        expect(worst < 1e-5, "Blender moves and turns the bodies as they were recorded")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "glass.json").write_text(GLASS)
        runs = [Run(folder / "dominoes", SOURCE / "scenes/dominoes.json", 40), Run(folder / "glass", folder / "glass.json", 20)]
        check_vtk(runs)
        check_npm(runs)
        check_blender(runs)
    for what in dict.fromkeys(absent):
        print("NOT CHECKED, absent:", what)
    print(f"{len(checked)} checks, {len(failures)} failed")
    sys.exit(1 if failures else 0 if checked else 77)


main()

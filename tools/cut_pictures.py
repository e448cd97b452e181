#!/usr/bin/env python3
"""Makes the pictures of docs/cutting.md: meshes from `sunder shape`, cut by `sunder cut` and `sunder slice`, moved apart
and drawn by `sunder render`.

Usage:  tools/cut_pictures.py [--sunder build/bin/sunder] [--out docs/images] [--size 480x300] [--samples 128] [NAME ...]

Names: cubes, figure, rabbit, comb, spiral; all when none is given.
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Studio:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.count = arguments, folder, 0

    def sunder(self, *words):
        command = [self.arguments.sunder, *map(str, words), "--json"]
        return json.loads(subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.PIPE).stdout or "{}")

    def file(self, ending):
        self.count += 1
        return self.folder / f"{self.count:03}{ending}"

    def write(self, vertices, faces):
        path = self.file(".obj")
        lines = ["v " + " ".join(f"{x:.17g}" for x in v) for v in vertices]
        lines += ["f " + " ".join(str(i + 1) for i in f) for f in faces]
        path.write_text("\n".join(lines) + "\n")
        return path

    def read(self, path):
        if path.suffix != ".obj":
            as_obj = self.file(".obj")
            self.sunder("convert", path, as_obj)
            path = as_obj
        vertices, faces = [], []
        for line in path.read_text().splitlines():
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append([float(w) for w in words[1:4]])
            elif words[:1] == ["f"]:
                faces.append([int(w.split("/")[0]) - 1 for w in words[1:]])
        return vertices, faces

    def shape(self, name, *settings):
        path = self.file(".obj")
        self.sunder("shape", name, *(w for s in settings for w in ("--set", s)), "-o", path)
        return path

    def changed(self, path, change):
        vertices, faces = self.read(path)
        return self.write([change(v) for v in vertices], faces)

    def moved(self, path, by):
        return self.changed(path, lambda v: [a + b for a, b in zip(v, by)])

    def cut(self, *words):
        """The pieces, lowest first."""
        folder = self.file("")
        self.sunder("cut", *words, "-o", folder)
        pieces = sorted(folder.glob("*.ply"), key=lambda p: centre(self.read(p)[0])[1])
        return pieces

    def one(self, *words):
        path = self.file(".obj")
        self.sunder("cut", *words, "-o", path)
        return path

    def apart(self, pieces, along, step):
        return [self.moved(p, [i * step * a for a in along]) for i, p in enumerate(pieces)]

    def render(self, name, meshes, camera, *options):
        self.sunder("render", *meshes, "--in-place", "--size", self.arguments.size, "--samples", self.arguments.samples,
                    "--camera", camera, *options, "-o", self.arguments.out / f"cut-{name}.png")


def centre(vertices):
    return [(min(c) + max(c)) / 2 for c in zip(*vertices)]


def ball(studio, at, radii, turn=0.0):
    """An ellipsoid, turned about z."""
    cos, sin = math.cos(turn), math.sin(turn)

    def place(v):
        x, y, z = (a * r for a, r in zip(v, radii))
        return [cos * x - sin * y + at[0], sin * x + cos * y + at[1], z + at[2]]

    return studio.changed(studio.shape("icosphere", "radius=1", "frequency=24"), place)


def together(studio, parts):
    return studio.one(*parts, "--op", "union")


def box(studio, lower, upper):
    corners = [[(upper if i >> k & 1 else lower)[k] for k in range(3)] for i in range(8)]
    faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return studio.write(corners, faces)


def prism(studio, outline, depth):
    n = len(outline)
    vertices = [[x, y, z] for z in (0, depth) for x, y in outline]
    faces = [list(range(n))[::-1], list(range(n, 2 * n))]
    faces += [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return studio.write(vertices, faces)


def cubes(studio):
    """The unit cube: by a plane, by a sheet, less a corner, less a bar, into eight."""
    cube = box(studio, [0, 0, 0], [1, 1, 1])
    shown = studio.apart(studio.cut(cube, "--plane", "0.5,0.333333,0.5,0,1,0"), [0, 1, 0], 0.25)
    sheet = studio.apart(studio.cut(cube, "--sheet", "0.5,0.5,0.5,0.3,1,0.2", "--amplitude", "0.12"), [0, 1, 0], 0.25)
    shown += [studio.moved(p, [1.6, 0, 0]) for p in sheet]
    corner = studio.one(cube, box(studio, [0.5, 0.5, 0.5], [1.5, 1.5, 1.5]), "--op", "difference")
    shown.append(studio.moved(corner, [3.2, 0, 0]))
    bar = studio.one(cube, box(studio, [0.25, 0.25, -1], [0.75, 0.75, 2]), "--op", "difference")
    shown.append(studio.moved(bar, [4.8, 0, 0]))
    planes = [w for n in ("1,0,0", "0,1,0", "0,0,1") for w in ("--plane", "0.5,0.5,0.5," + n)]
    for piece in studio.cut(cube, *planes):
        away = [0.12 * (1 if c > 0.5 else -1) for c in centre(studio.read(piece)[0])]
        shown.append(studio.moved(piece, [6.5 + away[0], 0.12 + away[1], away[2]]))
    studio.render("cubes", shown, "eye 5.2 3.4 9 target 3.7 0.5 0.5 fov 38")


def figure(studio):
    """A figure of balls, split by a wavy sheet."""
    parts = [ball(studio, [0, 1.15, 0], [0.34, 0.46, 0.28]), ball(studio, [0, 1.78, 0.06], [0.24, 0.25, 0.25]),
             ball(studio, [0, 1.7, 0.3], [0.1, 0.09, 0.14])]
    for side in (-1, 1):
        parts += [ball(studio, [0.17 * side, 2.08, 0], [0.08, 0.2, 0.05], -0.4 * side),
                  ball(studio, [0.47 * side, 1.4, 0.02], [0.34, 0.12, 0.12], 0.5 * side),
                  ball(studio, [0.75 * side, 1.63, 0.06], [0.13, 0.12, 0.11]),
                  ball(studio, [0.21 * side, 0.52, 0], [0.16, 0.5, 0.17], 0.12 * side),
                  ball(studio, [0.27 * side, 0.09, 0.1], [0.15, 0.09, 0.26])]
    parts.append(ball(studio, [0, 0.72, -0.42], [0.1, 0.12, 0.46]))
    body = together(studio, parts)
    pieces = studio.cut(body, "--sheet", "0,1.02,0,0.15,1,0.1", "--amplitude", "0.06", "--frequency", "5", "--cells", "96")
    shown = studio.apart(pieces, [0.1, 1, 0], 0.35)
    studio.render("figure", shown, "eye 1.9 2.2 5.6 target 0 1.32 0 fov 33")


def rabbit(studio):
    """A rabbit of balls, in slices."""
    parts = [ball(studio, [0, 0.55, 0], [0.75, 0.55, 0.45]), ball(studio, [0.72, 1.05, 0], [0.34, 0.3, 0.28]),
             ball(studio, [-0.74, 0.55, 0], [0.16, 0.16, 0.16]), ball(studio, [0.62, 0.75, 0], [0.3, 0.32, 0.26])]
    for side in (-1, 1):
        parts += [ball(studio, [0.52, 1.52, 0.13 * side], [0.1, 0.36, 0.06], 0.25),
                  ball(studio, [-0.35, 0.36, 0.34 * side], [0.36, 0.34, 0.18]),
                  ball(studio, [0.42, 0.1, 0.24 * side], [0.26, 0.1, 0.11])]
    body = together(studio, parts)
    folder = studio.file("")
    studio.sunder("slice", body, "--count", "14", "--axis", "x", "-o", folder)
    shown = studio.apart(sorted(folder.glob("*.ply")), [1, 0, 0], 0.09)
    studio.render("rabbit", shown, "eye 1.4 2.1 5 target 0.55 0.75 0 fov 36")


def comb(studio):
    """The comb of the tests, cut by two planes, and a plate with a hundred slots."""
    outline = [(0, 0), (6, 0), (6, 5), (5, 5), (5, 1), (4, 1), (4, 5), (3, 5), (3, 1), (2, 1), (2, 5), (1, 5), (1, 1), (0, 1)]
    body = prism(studio, outline, 2)
    pieces = studio.cut(body, "--plane", "0,3,0,0,1,0", "--plane", "0,1,0,0,1,0")
    shown = [studio.moved(p, [0, 0.7 * (centre(studio.read(p)[0])[1] // 1.5), 0]) for p in pieces]
    plate = box(studio, [7.5, 0, 0], [13.5, 4, 0.6])
    corners, faces = [], []
    for i in range(10):
        for j in range(10):
            v, f = studio.read(box(studio, [7.7 + 0.58 * i, 0.2 + 0.37 * j, -1], [8.1 + 0.58 * i, 0.36 + 0.37 * j, 2]))
            faces += [[k + len(corners) for k in ring] for ring in f]
            corners += v
    shown.append(studio.one(plate, studio.write(corners, faces), "--op", "difference"))
    studio.render("comb", shown, "eye 9 6.5 19 target 6.6 2.6 0.5 fov 36", "--crease", "20")


def spiral(studio):
    """A disc less a spiral wall, and the coil that comes out of it."""
    disc = studio.shape("cylinder", "radius=2", "height=0.6", "segments=96")
    steps, inner, outer = 400, [], []
    for i in range(steps + 1):
        a = 6 * 2 * math.pi * i / steps
        r = 0.15 + 0.28 * a / (2 * math.pi)
        inner.append((r * math.cos(a), r * math.sin(a)))
        outer.append(((r + 0.1) * math.cos(a), (r + 0.1) * math.sin(a)))
    wall = prism(studio, outer + inner[::-1], 2)
    wall = studio.changed(wall, lambda v: [v[0], v[2] - 1, -v[1]])
    groove = studio.one(disc, wall, "--op", "difference")
    coil = studio.moved(studio.one(disc, wall, "--op", "intersection"), [4.4, 0, 0])
    studio.render("spiral", [groove, coil], "eye 2.2 5.2 6.4 target 2.2 0 0 fov 40")


def main():
    pictures = {f.__name__: f for f in (cubes, figure, rabbit, comb, spiral)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*pictures, []])
    parser.add_argument("--sunder", default=str(ROOT / "build/bin/sunder"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/images")
    parser.add_argument("--size", default="480x300")
    parser.add_argument("--samples", type=int, default=128)
    arguments = parser.parse_args()
    arguments.sunder = str(pathlib.Path(arguments.sunder).resolve())
    arguments.out = arguments.out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.names or pictures:
            print(name)
            pictures[name](Studio(arguments, pathlib.Path(folder)))


main()

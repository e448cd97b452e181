#!/usr/bin/python3
"""Measures how the error of distance fields falls with their coefficients, draws it and writes the tables of docs/sdf.md.

Usage:  tools/sdf_experiments.py [--sunder build/bin/sunder] [--save FILE | --from FILE]

Runs `sunder bench sdf --case hp/torus` and its likes for a box, a rippled sphere and the public mesh `spot` (left out where
that is not there), about two minutes on two quiet cores. Errors do not depend on the machine, times do. Plots go to
docs/images/sdf-*.png; in the page, what stands between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced. --save
keeps the measurements, --from draws and writes again without measuring.

Needs Debian's python3-matplotlib (and so /usr/bin/python3).
"""

import json
import math
import re
import subprocess
import sys

from experiments import measurements, plt, replace_sections, save, table

METHODS = [("hp", "hp-adaptive", "#2f6f9f", "o"), ("h2", "octree, degree 2", "#d9822b", "s"),
           ("h1", "octree, degree 1", "#4f9d5d", "^"), ("uniform", "uniform grid, degree 3", "#b8453c", "D")]
SHAPES = [("torus", "torus"), ("box", "box"), ("rippled", "rippled sphere, 50,000 triangles"),
          ("spot", "mesh spot, 5,856 triangles")]
# Errors at which coefficients are compared: two or three a shape that all of hp and h2 reach.
LEVELS = {"torus": [1e-3, 3e-4, 1e-4, 3e-5], "box": [3e-3, 1e-3, 3e-4], "rippled": [5e-3, 3e-3], "spot": [1e-2, 3e-3, 1e-3]}


def measure(sunder, seconds):
    rows = []
    for shape, _ in SHAPES:
        print("sunder bench sdf --case hp/" + shape, file=sys.stderr)
        out = subprocess.run([sunder, "bench", "sdf", "--json", "--seconds", str(seconds), "--case",
                              f"hp/{shape}/"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        rows += json.loads(out)["results"]
    return {"rows": rows}


class Curves:
    """Per shape and method: (coefficients, error, largest error near the surface, seconds), by coefficients."""

    def __init__(self, rows):
        points = {}
        for r in rows:
            match = re.fullmatch(r"hp/(\w+)/(\w+)/(error|near|seconds)", r["case"])
            if match:
                points.setdefault((match[1], match[2]), {}).setdefault(r["size"], {})[match[3]] = r["value"]
        self.curves = {key: [(size, p["error"], p["near"], p["seconds"]) for size, p in sorted(sizes.items())]
                       for key, sizes in points.items()}

    def of(self, shape, method):
        return self.curves.get((shape, method), [])

    def has(self, shape):
        return bool(self.of(shape, "hp"))

    def needed(self, shape, method, error):
        """Coefficients for an error, by interpolating logarithms; None beyond the ends."""
        curve = self.of(shape, method)
        for (c0, e0, *_), (c1, e1, *_) in zip(curve, curve[1:]):
            if e0 >= error >= e1 and e1 < e0:
                return math.exp(math.log(c0) + math.log(c1 / c0) * math.log(e0 / error) / math.log(e0 / e1))
        return None


def count(x):
    """Three significant digits, with commas."""
    if x is None:
        return ""
    digits = max(0, len(str(int(x))) - 3)
    return f"{int(round(x, -digits)):,}"


def compared_section(curves):
    lines = []
    for shape, label in SHAPES:
        if not curves.has(shape):
            continue
        for error in LEVELS[shape]:
            cells = [label, f"{error:.0e}".replace("e-0", "e-")]
            numbers = [curves.needed(shape, method, error) for method, *_ in METHODS]
            cells += [count(n) for n in numbers]
            cells.append(f"{numbers[1] / numbers[0]:.1f}" if numbers[0] and numbers[1] else "")
            lines.append(cells)
    return ("![Error against coefficients: torus, box and a mesh](images/sdf-convergence.png)\n\n" +
            table(["shape", "error"] + [label for _, label, *_ in METHODS] + ["h2 : hp"], lines))


def runs_section(curves):
    lines = []
    for shape, label in SHAPES:
        for method, name, *_ in METHODS:
            for coefficients, error, near, seconds in curves.of(shape, method):
                lines.append([label, name, f"{coefficients:,}", f"{error:.2e}", f"{near:.1e}", f"{seconds:.2g}"])
    return table(["shape", "method", "coefficients", "error", "largest near the surface", "seconds"], lines)


def claim_section(curves):
    """The bar: a third of the coefficients of h2 at equal true error on smooth shapes; about the same on a box."""
    text = ""
    for shape, squared in (("torus", 1e-7), ("box", 2e-6)):
        error = math.sqrt(squared / 2.2 ** 3)
        hp, h2 = curves.needed(shape, "hp", error), curves.needed(shape, "h2", error)
        if hp is None or h2 is None:
            continue
        text += (f"On the {shape} at a squared error of {squared:.0e} over the domain (root mean square {error:.2g}) hp "
                 f"needs {count(hp)} coefficients and h2 {count(h2)}: {hp / h2:.2f} of them, ")
        if shape == "torus":
            text += "bar 0.33, " + ("met.\n" if hp <= h2 / 3 else "**missed**.\n")
        else:
            text += "kinks rule.\n"
    print(text, file=sys.stderr)
    return text


def plots(curves):
    shapes = [(s, label) for s, label in SHAPES if s != "rippled" and curves.has(s)]
    figure, axes = plt.subplots(1, len(shapes), figsize=(3.3 * len(shapes), 3.3), squeeze=False)
    for axis, (shape, label) in zip(axes[0], shapes):
        for method, name, colour, marker in METHODS:
            curve = curves.of(shape, method)
            axis.loglog([p[0] for p in curve], [p[1] for p in curve], "-" + marker, color=colour, markersize=3.5,
                        linewidth=1.1, label=name)
        axis.set_title(label, fontsize=9)
        axis.set_xlabel("coefficients")
    axes[0][0].set_ylabel("true error, root mean square (m)")
    axes[0][0].legend(fontsize=7.5, loc="lower left")
    figure.tight_layout()
    save(figure, "sdf-convergence")


def main():
    curves = Curves(measurements(__doc__, measure)["rows"])
    plots(curves)
    replace_sections("sdf.md", {"compared": compared_section(curves), "claim": claim_section(curves),
                                "runs": runs_section(curves)})


main()

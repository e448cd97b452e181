#!/usr/bin/python3
"""Compares boundaries by maps and by particles, draws docs/images/fluid-boundaries.png and writes a table of docs/fluids.md.

Usage:  tools/fluid_experiments.py [--sunder build/bin/sunder] [--save FILE | --from FILE]

Runs `sunder bench fluid --case boundary/slide` and its likes (grid, flow, plane), some ten seconds. None of the figures depends
on the machine. In the page, what stands between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced.

Needs Debian's python3-matplotlib (and so /usr/bin/python3).
"""

import json
import statistics
import subprocess
import sys

from experiments import BLUE, GREEN, ORANGE, RED, measurements, plt, replace_sections, save, table

METHODS = [("map", "map", BLUE), ("particles-1", "particles, a diameter apart", RED),
           ("particles-2", "half a diameter", ORANGE), ("particles-4", "a quarter", GREEN)]


def measure(sunder, _seconds):
    rows = []
    for case in ("slide", "grid", "flow", "plane"):
        print("sunder bench fluid --case boundary/" + case, file=sys.stderr)
        out = subprocess.run([sunder, "bench", "fluid", "--json", "--case", f"boundary/{case}/"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        rows += json.loads(out)["results"]
    return {"rows": rows}


def series(rows, name):
    points = sorted((r["size"], r["value"]) for r in rows if r["case"] == name)
    return [p[0] for p in points], [p[1] for p in points]


def draw(rows):
    figure, axes = plt.subplots(2, 2, figsize=(9, 6))
    for method, label, colour in METHODS:
        x, y = series(rows, f"boundary/slide/{method}/height")
        axes[0][0].plot(x, y, color=colour, label=label, linewidth=1.2, zorder=3 if method == "map" else 2)
        x, y = series(rows, f"boundary/slide/{method}/force")
        axes[0][1].plot(x, y, color=colour, linewidth=1, zorder=3 if method == "map" else 2)
        x, y = series(rows, f"boundary/plane/{method}")
        axes[1][0].plot([0.05 * k for k in x], y, color=colour, linewidth=1.2)
        _, along = series(rows, f"boundary/grid/{method}/along")
        _, across = series(rows, f"boundary/grid/{method}/across")
        axes[1][1].plot(along, across, "o", color=colour, markersize=3, zorder=3 if method == "map" else 2)
    axes[0][0].set(title="A lone particle down a slope: height", xlabel="ms", ylabel="diameters", ylim=(0, 1.6))
    axes[0][0].legend()
    axes[0][1].set(title="Force of the slope", xlabel="ms", ylabel="weights across the slope", ylim=(-0.5, 12))
    axes[1][0].set(title="Boundary density half a diameter above a plane", xlabel="diameters along it",
                   ylabel="rest densities", ylim=(0, 1))
    axes[1][1].set(title="36 particles after 0.7 s: off their places", xlabel="diameters downhill", ylabel="diameters across",
                   xlim=(-12, 12), ylim=(-8, 8))
    figure.tight_layout()
    save(figure, "fluid-boundaries")


def write(rows):
    lines = []
    for method, label, _ in METHODS:
        _, height = series(rows, f"boundary/slide/{method}/height")
        _, force = series(rows, f"boundary/slide/{method}/force")
        height, force = height[25:], force[25:]
        _, along = series(rows, f"boundary/grid/{method}/along")
        _, across = series(rows, f"boundary/grid/{method}/across")
        _, plane = series(rows, f"boundary/plane/{method}")
        _, flow = series(rows, f"boundary/flow/{method}")
        off = max((a * a + b * b) ** 0.5 for a, b in zip(along, across))
        lines.append([label, f"{min(height):.2f} to {max(height):.2f}", f"{max(force):.1f}",
                      f"{100 * sum(f < 0.01 for f in force) / len(force):.0f} %",
                      f"{off:.2g}", f"{100 * statistics.pstdev(plane) / statistics.mean(plane):.2g} %", f"{flow[0]:.3f}"])
    head = ["boundary", "height of a lone particle, diameters", "largest force, weights", "in the air",
            "worst of the grid, diameters off", "spread of the density along a plane", "way of a sheet of water"]
    replace_sections("fluids.md", {"boundaries": table(head, lines)})


if __name__ == "__main__":
    data = measurements(__doc__, measure)
    draw(data["rows"])
    write(data["rows"])

#!/usr/bin/python3
"""Measures the collision experiments, draws their plots and writes the tables of docs/collision.md.

Usage:  tools/collision_experiments.py [--sunder build/bin/sunder] [--seconds 0.2] [--save FILE | --from FILE]

Runs `sunder bench experiments` and the parts of `sunder bench spatial` that the page shows, about four minutes on two
quiet cores. Plots go to docs/images/collision-*.png; in the page, what stands between `<!-- begin NAME -->` and
`<!-- end NAME -->` is replaced. --save keeps the measurements, --from draws and writes again without measuring.

Needs Debian's python3-matplotlib (and so /usr/bin/python3).
"""

import json
import os
import re
import subprocess
import sys

from experiments import BLUE, CYCLE, GREEN, GREY, ORANGE, PURPLE, RED, measurements, plt, replace_sections, save, table
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

SCENES = ["cloth-ball", "funnel", "n-body", "flamenco", "andy", "bridson", "bridson-3"]
# The source's GPU (GTX 1080), broad and narrow phase: ms a frame, its deviation, MB; and the method it compares with.
SOURCE = {"cloth-ball": (1.9, 0.34, 85, 2.3, 145.46), "funnel": (0.6, 0.06, 8.53, 0.6, 58.6),
          "n-body": (3.62, 0.07, 15.1, 4.3, 296.85), "flamenco": (2.0, 0.1, 24.2, 2.59, 130.37),
          "andy": (2.65, 0.02, 41.16, 121.58, 498.5), "bridson": (0.5, 0.02, 6.62, 17.93, 456.25),
          "bridson-3": (4.02, 0.17, 85.4, 392.97, 534.75)}
VARIANTS = [("pop-mu2", "breadth-first, source's order, mu 2"), ("push-mu1", "breadth-first, test on push, mu 1"),
            ("depth-first", "depth-first"), ("leaf-versus-tree", "leaf against tree"),
            ("front-next", "front tracking, next frame"), ("sweep-and-prune", "sweep and prune"),
            ("lbvh", "linear BVH, depth-first"), ("production", "ours, Morton order"),
            ("production-selection", "ours, selection order")]


def measure(sunder, seconds):
    """All rows as {"machine": ..., "rows": [...]}. The filters name what the page shows."""
    runs = [["experiments"], ["spatial", "--case", "bar/"], ["spatial", "--case", "treeBuild", "--largest", "600000"],
            ["spatial", "--case", "pairs"]]
    rows, machine, load = [], None, [os.getloadavg()[0]]
    for run in runs:
        print("sunder bench", *run, file=sys.stderr)
        out = subprocess.run([sunder, "bench", *run, "--json", "--seconds", str(seconds)], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        result = json.loads(out)
        machine = result["machine"]
        rows += result["results"]
        load.append(os.getloadavg()[0])
    return {"machine": machine, "load": load, "rows": rows}


class Rows:
    def __init__(self, rows):
        self.rows = rows
        self.by_key = {(r["case"], r["threads"]): r for r in rows}

    def row(self, case, threads=1):
        return self.by_key[case, threads]

    def value(self, case, threads=1):
        return self.by_key[case, threads]["value"]

    def has(self, case, threads=1):
        return (case, threads) in self.by_key

    def matching(self, pattern):
        return [(re.fullmatch(pattern, r["case"]), r) for r in self.rows if re.fullmatch(pattern, r["case"])]


def short(x):
    """Three significant digits with M and k."""
    for limit, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(x) >= limit:
            return f"{x / limit:.3g}{suffix}"
    return f"{x:.3g}"


def number(x):
    """Three significant digits, but no exponents."""
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}"


def plain_log(axis, ticks):
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


# --- sections of the page ---

def machine_section(data):
    m = data["machine"]
    text = f"{m['cpu']}, {m['cores']} cores, {m['simd']}; {m['compiler']}, `{m['flags']}`. "
    # The benchmarks themselves are a load of one to all cores.
    text += f"Load average before the first run {data['load'][0]:.1f}, at most {max(data['load']):.1f} after one."
    if data["load"][0] > 0.5 or max(data["load"]) > m["cores"] + 0.5:
        text += " The machine was not quiet: read times, two threads above all, as upper bounds."
    return text + "\n"


def bars_section(rows):
    lines = []
    for r in rows.rows:
        if "bar" in r:
            lines.append([f"`{r['case']}`", r["threads"], f"{short(r['value'])} {r['unit']}",
                          ("at least " if r["metric"] == "rate" else "at most ") + f"{short(r['bar'])}",
                          "yes" if r["met"] else "**no**"])
    return table(["case", "threads", "measured", "bar", "met"], lines)


def peers_section(rows):
    lines = []
    names = ["build/500k", "build/500k/bullet-gimpact", "build/500k/bullet-optimized", "refit/500k"]
    for base in ("pairs/714k", "pairs/39k", "self/scroll"):
        names += [base, base + "/morton", base + "/bullet-gimpact", base + "/bullet-dbvt"]
    for name in names:
        for threads in (1, 2):
            if rows.has(name, threads) and "peer" in rows.row(name, threads):
                r = rows.row(name, threads)
                lines.append([f"`{name}`", threads, f"{short(r['value'])} {r['unit']}", r["peer"],
                              f"{short(r['peer_value'])}", f"{r['ratio']:.2g}"])
    return table(["case", "threads", "ours", "peer", "its", "ratio"], lines)


def growth_section(rows):
    lines = []
    for kind, what in (("build", "triangle"), ("pairs", "triangle + pair"), ("curve", "")):
        for threads in (1, 2):
            if not rows.has(f"growth/{kind}/exponent", threads):
                continue
            c = f"{rows.value(f'growth/{kind}/coefficient', threads):.3g} ns a {what}" if what else ""
            lines.append([f"`growth/{kind}`", threads, f"{rows.value(f'growth/{kind}/exponent', threads):.2f}", c])
    return table(["case", "threads", "exponent", "coefficient"], lines)


def growth_plot(rows):
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.3))
    for kind, label, colour in (("build", "build", BLUE), ("pairs", "search, surfaces near each other", ORANGE),
                                ("curve", "search, surfaces meet along a curve", GREEN)):
        for threads, style in ((1, "-o"), (2, "--s")):
            points = sorted((r["size"], r["value"]) for _, r in rows.matching(rf"growth/{kind}/2\^\d+")
                            if r["threads"] == threads)
            if not points:
                continue
            x, y = zip(*points)
            axes[0].loglog(x, y, style, color=colour, markersize=3, linewidth=1,
                           label=label if threads == 1 else None)
            if kind != "curve":
                axes[1].semilogx(x, [1e6 * b / a for a, b in points], style, color=colour, markersize=3, linewidth=1,
                                 label=f"{kind}, {threads} thread" + ("s" if threads > 1 else ""))
    axes[0].set_xlabel("triangles (build), triangles + pairs (search)")
    axes[0].set_ylabel("ms; dashed: two threads")
    axes[0].legend(fontsize=8)
    axes[1].set_xlabel("triangles (build), triangles + pairs (search)")
    axes[1].set_ylabel("ns for each")
    axes[1].set_ylim(bottom=0)
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    save(figure, "collision-growth")


def frames_section(rows):
    lines = []
    for scene in SCENES:
        base = f"scene/{scene}"
        cells = [scene, f"{rows.row(base + '/build')['size'] / 1000:.0f}k", short(rows.value(base + "/pairs"))]
        threads = 2 if rows.has(base + "/frame", 2) else 1
        for stage in ("refit", "build", "top-level", "traversal"):
            cells.append(number(rows.value(f"{base}/{stage}", threads)))
        frame = rows.row(base + "/frame", threads)
        cells.append(f"{number(frame['value'])} ({number(frame['sd'])})")
        cells.append(f"{rows.value(base + '/bytes', threads) / 1e6:.1f}")
        s = SOURCE[scene]
        cells += [f"{s[0]} ({s[1]})", s[2], s[3], s[4]]
        lines.append(cells)
    return table(["scene", "triangles", "pairs", "refit", "build", "top level", "search", "frame (sd)", "MB",
                  "source (sd)", "source MB", "its rival", "rival MB"], lines)


def frames_plot(rows):
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    threads = 2 if rows.has("scene/funnel/frame", 2) else 1
    x = range(len(SCENES))
    for axis, n in ((axes[0], 1), (axes[1], threads)):
        bottom = [0.0] * len(SCENES)
        for stage, label, colour in (("build", "build", BLUE), ("top-level", "top-level tree", GREEN),
                                     ("traversal", "search", ORANGE)):
            values = [rows.value(f"scene/{s}/{stage}", n) for s in SCENES]
            axis.bar(x, values, bottom=bottom, label=label, color=colour, width=0.62)
            bottom = [a + b for a, b in zip(bottom, values)]
        axis.errorbar(x, bottom, yerr=[rows.row(f"scene/{s}/frame", n)["sd"] for s in SCENES], fmt="none",
                      ecolor="#333333", capsize=3, linewidth=1, label="deviation over frames")
        axis.set_xticks(list(x), SCENES, rotation=30, ha="right")
        axis.set_title(f"{n} thread" + ("s" if n > 1 else ""), fontsize=9)
        axis.set_ylabel("ms a frame, mean")
        axis.grid(axis="x", visible=False)
    top = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, top)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    save(figure, "collision-frames")


def steps_section(rows):
    lines = []
    for scene in SCENES:
        for order, label in (("pop", "pop"), ("push", "push")):
            base = f"experiment/{scene}/{order}-mu"
            pick = lambda what: " / ".join(short(rows.value(f"{base}{mu}{what}")) for mu in (1, 2, 3, 4))
            lines.append([scene, label, pick("/tests"), pick("/passes"), pick("/frontier"), pick("")])
    return table(["scene", "test on", "box tests, mu 1 / 2 / 3 / 4", "passes", "peak frontier", "ms"], lines)


def steps_plot(rows):
    figure, axes = plt.subplots(1, 3, figsize=(9.4, 3.1))
    mus = (1, 2, 3, 4)
    for scene, colour in zip(SCENES, CYCLE):
        base = f"experiment/{scene}/pop-mu"
        for axis, what in zip(axes, ("/tests", "/frontier", "")):
            values = [rows.value(f"{base}{mu}{what}") for mu in mus]
            axis.plot(mus, [v / values[0] for v in values], "-o", color=colour, markersize=3, linewidth=1, label=scene)
            if what == "":
                pushed = [rows.value(f"experiment/{scene}/push-mu{mu}") for mu in mus]
                axis.plot(mus, [v / values[0] for v in pushed], ":", color=colour, linewidth=1.2)
    for axis, title in zip(axes, ("box tests", "peak frontier", "time (dotted: test on push)")):
        axis.set_title(title + ", mu 1 = 1", fontsize=9)
        axis.set_xlabel("depth-step mu")
        axis.set_xticks(mus)
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    save(figure, "collision-steps")


def variants_section(rows):
    head = ["search, ms (millions of box tests)"] + SCENES
    lines = []
    for variant, label in VARIANTS:
        cells = [label]
        for scene in SCENES:
            base = f"experiment/{scene}/{variant}"
            cells.append(f"{number(rows.value(base))} ({number(rows.value(base + '/tests') / 1e6)})")
        lines.append(cells)
    text = table(head, lines)
    lines = []
    for case, label in (("build", "binary tree, Morton"), ("refit", "the same, refit"), ("lbvh-build", "linear BVH"),
                        ("production-build", "ours, Morton"), ("production-selection-build", "ours, selection")):
        lines.append([label] + [number(rows.value(f"experiment/{scene}/{case}")) for scene in SCENES])
    return text + "\n" + table(["build, ms"] + SCENES, lines)


def variants_plot(rows):
    figure, axis = plt.subplots(figsize=(9.0, 3.8))
    colours = [GREY, "#b0b0b0", "#8c6d46", PURPLE, RED, "#3aa6a6", GREEN, ORANGE, BLUE]
    markers = ["o", "o", "v", "^", "D", "P", "X", "s", "s"]
    for i, ((variant, label), colour, marker) in enumerate(zip(VARIANTS, colours, markers)):
        values = [rows.value(f"experiment/{scene}/{variant}") for scene in SCENES]
        axis.plot([x + (i - 4) * 0.08 for x in range(len(SCENES))], values, marker, label=label, color=colour,
                  markersize=5.5)
    axis.set_yscale("log")
    plain_log(axis.yaxis, [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000])
    axis.set_ylabel("ms, one thread (logarithmic)")
    axis.set_xticks(range(len(SCENES)), SCENES)
    for x in range(1, len(SCENES)):
        axis.axvline(x - 0.5, color="#e4e4e4", linewidth=0.8)
    axis.grid(axis="x", visible=False)
    axis.legend(fontsize=7.5, ncol=3, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    save(figure, "collision-variants")


def entry_section(rows):
    lines = []
    for scene in SCENES:
        base = f"experiment/{scene}/pop-mu2"
        cells = [scene]
        for entry in range(6):
            case = base if entry == 0 else f"{base}-entry{entry}"
            cells.append(f"{number(rows.value(case))} ({rows.value(case + '/passes'):.0f})")
        cells.append(f"{number(rows.value(base + '-all-pairs'))}")
        lines.append(cells)
    head = ["scene", "entry level 0: ms (passes)", "1", "2", "3", "4", "5", "level 0, all pairs of bodies"]
    return table(head, lines)


def memory_section(rows):
    lines = []
    for scene in SCENES:
        base = f"experiment/{scene}"
        mega = lambda case: f"{rows.value(base + case) / 1e6:.3g}"
        frontier = lambda v: f"{8 * rows.value(f'{base}/{v}/frontier') / 1e6:.3g}"
        ours = rows.value(base + "/production/frontier") * 16 / 1e6 if rows.has(base + "/production/frontier") else 0
        lines.append([scene, short(rows.value(base + "/pairs")), mega("/node-bytes"), mega("/pair-bytes"),
                      frontier("pop-mu1"), frontier("pop-mu4"), frontier("push-mu1"), f"{ours:.2g}",
                      f"{16 * rows.value(base + '/front-next/front') / 1e6:.3g}", SOURCE[scene][2]])
    return table(["scene, MB", "pairs", "nodes, 24 bytes each", "pairs, 8 bytes each", "frontier: pop, mu 1",
                  "pop, mu 4", "push, mu 1", "ours", "tracked front", "source, all"], lines)


QUALITY = [("sphere-871k", "2.60 (Dragon)"), ("sphere-1089k", "2.66 (Happy Buddha)"),
           ("sphere-2880k", "1.67 (Hairball)")]


def quality_section(rows):
    lines = []
    for name, source in QUALITY + [(scene, "") for scene in SCENES]:
        morton, selection = rows.row(f"quality/{name}/morton"), rows.row(f"quality/{name}/selection")
        lines.append([name, short(morton["size"]), number(morton["peer_value"]),
                      f"{morton['value'] / morton['peer_value']:.2f}",
                      f"{selection['value'] / selection['peer_value']:.2f}", source])
    return table(["mesh", "triangles", "linear BVH", "Morton : linear", "selection : linear",
                  "source, Morton : linear"], lines)


def outlier_values(rows, direction, order):
    found = [(float(m[1]), r["value"] / r["peer_value"])
             for m, r in rows.matching(rf"outlier/{direction}/([\d.]+)/{order}")]
    return sorted(found)


def outlier_section(rows):
    lines = []
    for order in ("morton", "selection"):
        for direction in ("axis", "corner"):
            values = dict(outlier_values(rows, direction, order))
            lines.append([f"{order}, along {'an axis' if direction == 'axis' else 'the diagonal'}"] +
                         [f"{values[d]:.2f}" for d in (0, 1, 2, 5, 10)])
    return table(["ratio to the linear BVH, moved by", "0 diagonals", "1", "2", "5", "10"], lines)


def quality_plot(rows):
    figure, axes = plt.subplots(1, 2, figsize=(8.8, 3.3), gridspec_kw={"width_ratios": [1.5, 1]})
    names = [name for name, _ in QUALITY] + SCENES
    for offset, order, colour in ((-0.2, "morton", ORANGE), (0.2, "selection", BLUE)):
        values = [rows.row(f"quality/{n}/{order}") for n in names]
        axes[0].bar([i + offset for i in range(len(names))], [r["value"] / r["peer_value"] for r in values], 0.36,
                    label=f"{order} order", color=colour)
    axes[0].plot(range(3), [2.60, 2.66, 1.67], "k_", markersize=16, label="source, its three models")
    axes[0].axhline(1, color="#444444", linewidth=0.8)
    axes[0].set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes[0].set_ylabel("surface area cost / linear BVH")
    axes[0].grid(axis="x", visible=False)
    axes[0].set_ylim(0, 3.6)
    axes[0].legend(fontsize=7.5, ncol=3, loc="upper center")
    for order, colour in (("morton", ORANGE), ("selection", BLUE)):
        for direction, style in (("axis", "-o"), ("corner", "--s")):
            x, y = zip(*outlier_values(rows, direction, order))
            axes[1].plot(x, y, style, color=colour, markersize=3, linewidth=1,
                         label=f"{order}, {'axis' if direction == 'axis' else 'diagonal'}")
    axes[1].set_yscale("log")
    plain_log(axes[1].yaxis, [1, 2, 3, 5, 10])
    axes[1].set_xlabel("one triangle moved, diagonals of the mesh")
    axes[1].set_ylabel("cost / linear BVH (logarithmic)")
    axes[1].legend(fontsize=7, loc="upper left")
    figure.tight_layout()
    save(figure, "collision-quality")


def decay_series(rows, scene, what):
    return sorted((int(m[1]), r["value"]) for m, r in rows.matching(rf"decay/{scene}/(\d+)/{what}"))


DECAY = ["cloth-ball", "flamenco", "bridson"]


def decay_section(rows):
    lines = []
    for scene in DECAY:
        series = {what: [v for _, v in decay_series(rows, scene, what)]
                  for what in ("refit", "refit-search", "refit-tests", "rebuild", "rebuild-search", "rebuild-tests")}
        mean = lambda what: sum(series[what]) / len(series[what])
        lines.append([scene, number(mean("refit")), number(mean("refit-search")), number(mean("rebuild")),
                      number(mean("rebuild-search")),
                      f"{series['refit-tests'][-1] / series['rebuild-tests'][-1]:.2f}",
                      f"{max(a / b for a, b in zip(series['refit-tests'], series['rebuild-tests'])):.2f}",
                      f"{(mean('refit') + mean('refit-search')) / (mean('rebuild') + mean('rebuild-search')):.2f}"])
    return table(["scene, means over frames", "refit ms", "its search ms", "rebuild ms", "its search ms",
                  "tests refit : rebuild, last frame", "worst frame", "time refit : rebuild"], lines)


def decay_plot(rows):
    figure, axes = plt.subplots(1, 3, figsize=(9.4, 3.0))
    for axis, scene in zip(axes, DECAY):
        for kind, colour in (("refit", RED), ("rebuild", BLUE)):
            make, search = decay_series(rows, scene, kind), decay_series(rows, scene, kind + "-search")
            frames = [f for f, _ in make]
            axis.plot(frames, [a + b for (_, a), (_, b) in zip(make, search)], "-o", color=colour, markersize=3,
                      linewidth=1, label=f"{kind} + search")
            axis.plot(frames, [a for _, a in make], ":", color=colour, linewidth=1.2, label=f"{kind} alone")
        axis.set_title(scene, fontsize=9)
        axis.set_xlabel("frame")
        axis.set_ylim(bottom=0)
    axes[0].set_ylabel("ms, one thread")
    axes[0].legend(fontsize=7.5)
    figure.tight_layout()
    save(figure, "collision-refit")


def main():
    data = measurements(__doc__, measure)
    rows = Rows(data["rows"])
    for plot in (growth_plot, frames_plot, steps_plot, variants_plot, quality_plot, decay_plot):
        plot(rows)
    sections = {"machine": machine_section(data)}
    for name, section in (("bars", bars_section), ("peers", peers_section), ("growth", growth_section),
                          ("frames", frames_section), ("steps", steps_section), ("variants", variants_section),
                          ("entry", entry_section), ("memory", memory_section), ("quality", quality_section),
                          ("outlier", outlier_section), ("decay", decay_section)):
        sections[name] = section(rows)
    replace_sections("collision.md", sections)


main()

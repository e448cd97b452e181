"""What the scripts share that measure with `sunder bench`, draw plots and write the tables of a page.

Needs Debian's python3-matplotlib (and so /usr/bin/python3).
"""

import argparse
import json
import pathlib
import re
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("install python3-matplotlib, and run with /usr/bin/python3")

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#2f6f9f", "#d9822b", "#4f9d5d", "#b8453c", "#7b5ea7", "#7f7f7f"
CYCLE = [BLUE, ORANGE, GREEN, RED, PURPLE, "#8c6d46", "#3aa6a6"]

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                     "grid.color": "#e4e4e4", "axes.axisbelow": True, "legend.frameon": False,
                     "axes.prop_cycle": matplotlib.cycler(color=CYCLE), "figure.dpi": 100})


def table(head, lines):
    text = "| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n"
    return text + "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def save(figure, name):
    """docs/images/NAME.png; says so where the file is larger than pages should load."""
    path = ROOT / "docs" / "images" / f"{name}.png"
    figure.savefig(path, bbox_inches="tight", pad_inches=0.08, metadata={"Software": None})
    plt.close(figure)
    if path.stat().st_size > 100_000:
        print(f"{path.name}: {path.stat().st_size} bytes", file=sys.stderr)


def measurements(description, measure):
    """Of measure(arguments), or of the file that --from names; kept in the file that --save names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sunder", default=str(ROOT / "build/bin/sunder"))
    parser.add_argument("--seconds", type=float, default=0.2, help="how long one measurement is repeated at most")
    parser.add_argument("--save", type=pathlib.Path, help="keep the measurements in this file")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="take the measurements from this file")
    arguments = parser.parse_args()
    if arguments.source:
        data = json.loads(arguments.source.read_text())
    else:
        data = measure(arguments.sunder, arguments.seconds)
    if arguments.save:
        arguments.save.write_text(json.dumps(data))
    return data


def replace_sections(page_name, sections):
    """Writes texts by name between `<!-- begin NAME -->` and `<!-- end NAME -->` of a page in docs."""
    path = ROOT / "docs" / page_name
    page = path.read_text()
    for name, text in sections.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.S)
        if not pattern.search(page):
            sys.exit(f"docs/{page_name} has no section {name}")
        page = pattern.sub(lambda m, text=text: m[1] + text + m[2], page)
    path.write_text(page)

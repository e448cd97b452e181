#!/usr/bin/env python3
"""Materials as the command shows them: the presets, the page of their sources, the table of a recording, inner faces."""
import json
import pathlib
import unittest

from harness import CommandTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUES = {"name", "density", "friction", "restitution", "rolling_friction", "young", "poisson", "strength", "toughness",
          "surface_energy", "viscosity", "surface_tension", "colour", "roughness", "metallic", "transparency", "refraction",
          "inside"}


class Materials(CommandTest):
    def test_describe_lists_every_value_of_every_preset(self):
        answer = self.json("describe", "materials")
        self.assertGreaterEqual(len(answer["materials"]), 18)
        for m in answer["materials"]:
            self.assertEqual(set(m), VALUES, m["name"])
        self.assertEqual(answer["units"]["toughness"], "Pa m^0.5")
        glass = self.json("describe", "materials", "glass")
        self.assertEqual((glass["young"], glass["viscosity"], glass["inside"]), (7e10, None, "glass"))
        text = self.ok("describe", "materials")
        for m in answer["materials"]:
            self.assertIn(m["name"], text)
        self.assertIn("not known", self.ok("describe", "materials", "steel"))
        self.refused("describe", "materials", "glas", says=["glass"])

    def test_the_page_of_sources_states_the_values(self):
        rows = {}
        for line in (ROOT / "docs/materials.md").read_text().splitlines():
            cells = [c.strip() for c in line.strip("|").split("|")]
            if line.startswith("| `") and len(cells) == 8:
                rows[cells[0].strip("`")] = cells[1:]
        for m in self.json("describe", "materials")["materials"]:
            cells = rows.pop(m["name"])
            wanted = [m["density"], *((m[k] and m[k] / unit) for k, unit in (("young", 1e9), ("poisson", 1), ("strength", 1e6),
                      ("surface_energy", 1), ("toughness", 1e6)))]
            for cell, value in zip(cells, wanted):
                if value is None:
                    self.assertEqual(cell, "-", m["name"])
                else:
                    self.assertAlmostEqual(float(cell) / value, 1, delta=0.04 if cell == cells[5] else 1e-9, msg=m["name"])
            self.assertTrue(cells[6], m["name"])
        self.assertFalse(rows, "the page has materials that are none")

    def test_a_recording_has_the_table_of_what_it_uses(self):
        scene = {"materials": {"shell": {"like": "porcelain", "strength": "20 MPa", "inside": "brick"}, "unused": {"density": 3}},
                 "world": {"frames": 2},
                 "bodies": [{"id": "a", "shape": {"sphere": {"radius": 0.1}}, "material": "shell"}]}
        (self.folder / "s.json").write_text(json.dumps(scene))
        self.ok("run", "s.json", "-o", "out")
        table = {m["name"]: m for m in self.json("info", "out")["materials"]}
        self.assertEqual(set(table), {"shell", "brick"})
        self.assertEqual(set(table["shell"]), VALUES)
        self.assertEqual((table["shell"]["strength"], table["shell"]["young"], table["shell"]["inside"]), (2e7, 6e10, "brick"))
        self.assertIn("materials: brick, shell", self.ok("info", "out"))


if __name__ == "__main__":
    unittest.main()

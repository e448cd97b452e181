// Block letters of our own design: capitals, digits and some punctuation, drawn with straight strokes and cut
// corners on a grid of 15 units cap height, extruded. Lower case is set in capitals. Every letter is a
// separate closed piece ("!",
// "?", ":", ";", "=", "%" and quotes are two or three), standing on y = 0, the line centred in x, the depth
// in z.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/shapes/extrude.h"

#include <string>
#include <vector>

namespace sunder::shapes {

struct LettersShape {
  std::string text = "SUNDER";
  double height = 1;  // of a capital
  double depth = 0.25;
  double spacing = 0.14;  // between letters, as a fraction of the height
  int layers = 1;         // along the depth
};
geometry::TriMesh makeLetters(const LettersShape& = {});

// One glyph in grid units (cap height 15, from x = 0), empty for a space. Throws Error (Usage) for a
// character there is no glyph for; the message lists those there are.
struct Glyph {
  std::vector<Outline> parts;
  double width;
};
Glyph glyph(char character);

// All characters that have one, without the space.
const char* glyphCharacters();

}  // namespace sunder::shapes

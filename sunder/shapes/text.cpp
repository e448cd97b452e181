#include "sunder/shapes/text.h"

#include "sunder/base/error.h"
#include "sunder/shapes/fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

// A contour is written as pairs of base-36 digits, x then y: "00 30 3f 0f" is the upright of the I. Strokes
// are 3 wide, capitals 15 high and mostly 10 wide; corners are cut by 3 outside and 1 inside, which keeps the
// stroke's width.
// '/' starts the next part of a glyph, '-' a hole in the part before it.
struct GlyphDrawing {
  char character;
  std::string_view contours;
};

constexpr std::array kDrawings{
    GlyphDrawing{'A', "00 30 34 74 70 a0 ac 7f 3f 0c - 37 77 7b 6c 4c 3b"},
    GlyphDrawing{'B', "00 70 a3 a6 97 98 a9 ac 7f 0f - 33 63 74 75 66 36 - 39 69 7a 7b 6c 3c"},
    GlyphDrawing{'C', "30 70 a3 a5 75 74 63 43 34 3b 4c 6c 7b 7a aa ac 7f 3f 0c 03"},
    GlyphDrawing{'D', "00 70 a3 ac 7f 0f - 33 63 74 7b 6c 3c"},
    GlyphDrawing{'E', "00 90 93 33 36 86 89 39 3c 9c 9f 0f"},
    GlyphDrawing{'F', "00 30 36 86 89 39 3c 9c 9f 0f"},
    GlyphDrawing{'G', "30 70 a3 a8 58 55 75 74 63 43 34 3b 4c 6c 7b 7a aa ac 7f 3f 0c 03"},
    GlyphDrawing{'H', "00 30 36 76 70 a0 af 7f 79 39 3f 0f"},
    GlyphDrawing{'I', "00 30 3f 0f"},
    GlyphDrawing{'J', "30 60 93 9f 6f 64 53 43 34 35 05 03"},
    GlyphDrawing{'K', "00 30 35 45 70 a0 67 68 af 7f 4a 3a 3f 0f"},
    GlyphDrawing{'L', "00 90 93 33 3f 0f"},
    GlyphDrawing{'M', "00 30 39 64 99 90 c0 cf 9f 6a 3f 0f"},
    GlyphDrawing{'N', "00 30 38 70 a0 af 7f 77 3f 0f"},
    GlyphDrawing{'O', "30 70 a3 ac 7f 3f 0c 03 - 43 63 74 7b 6c 4c 3b 34"},
    GlyphDrawing{'P', "00 30 36 76 a9 ac 7f 0f - 39 69 7a 7b 6c 3c"},
    GlyphDrawing{'Q', "30 60 71 80 c0 93 a4 ac 7f 3f 0c 03 - 43 53 75 7b 6c 4c 3b 34"},
    GlyphDrawing{'R', "00 30 36 46 70 a0 76 86 a8 ac 7f 0f - 39 69 7a 7b 6c 3c"},
    GlyphDrawing{'S', "30 70 a3 a6 79 49 3a 3b 4c 6c 7b 7a aa ac 7f 3f 0c 09 36 66 75 74 63 43 34 35 05 03"},
    GlyphDrawing{'T', "40 70 7c bc bf 0f 0c 4c"},
    GlyphDrawing{'U', "30 70 a3 af 7f 74 63 43 34 3f 0f 03"},
    GlyphDrawing{'V', "30 70 af 7f 55 3f 0f"},
    GlyphDrawing{'W', "30 70 85 90 d0 gf df b5 9f 7f 55 3f 0f"},
    GlyphDrawing{'X', "00 30 55 70 a0 77 78 af 7f 5a 3f 0f 38 37"},
    GlyphDrawing{'Y', "40 70 76 bf 8f 69 59 3f 0f 46"},
    GlyphDrawing{'Z', "00 a0 a3 43 ac af 0f 0c 6c 03"},
    GlyphDrawing{'0', "30 60 93 9c 6f 3f 0c 03 - 43 53 64 6b 5c 4c 3b 34"},
    GlyphDrawing{'1', "00 90 93 63 6f 4f 0c 09 3b 33 03"},
    GlyphDrawing{'2', "00 a0 a3 53 a8 ac 7f 3f 0c 0a 3a 3b 4c 6c 7b 79 02"},
    GlyphDrawing{'3', "30 70 a3 a6 97 98 a9 ac 7f 3f 0c 0b 3b 4c 6c 7b 7a 69 49 46 66 75 74 63 43 34 04 03"},
    GlyphDrawing{'4', "60 90 93 b3 b6 96 9f 5f 06 03 63 - 36 66 6b"},
    GlyphDrawing{'5', "30 70 a3 a6 79 39 3c ac af 0f 06 66 75 74 63 43 34 04 03"},
    GlyphDrawing{'6', "30 70 a3 a6 79 39 3b 4c 6c 7b ab ac 7f 3f 0c 03 - 43 63 74 75 66 36 34"},
    GlyphDrawing{'7', "20 50 ac af 0f 0c 7c"},
    GlyphDrawing{'8',
                 "30 70 a3 a6 97 98 a9 ac 7f 3f 0c 09 18 17 06 03 - 43 63 74 75 66 46 35 34 - 49 69 7a 7b 6c "
                 "4c 3b 3a"},
    GlyphDrawing{'9', "7f 3f 0c 09 36 76 74 63 43 34 04 03 30 70 a3 ac - 6c 4c 3b 3a 49 79 7b"},
    GlyphDrawing{'.', "00 30 33 03"},
    GlyphDrawing{',', "00 10 32 35 05"},
    GlyphDrawing{':', "03 33 36 06 / 09 39 3c 0c"},
    GlyphDrawing{';', "00 10 32 35 05 / 09 39 3c 0c"},
    GlyphDrawing{'!', "00 30 33 03 / 05 35 3f 0f"},
    GlyphDrawing{'?', "30 60 63 33 / 35 65 66 99 9c 6f 3f 0c 0a 3a 3b 4c 5c 6b 6a 37"},
    GlyphDrawing{'-', "06 66 69 09"},
    GlyphDrawing{'_', "00 a0 a2 02"},
    GlyphDrawing{'+', "33 63 66 96 99 69 6c 3c 39 09 06 36"},
    GlyphDrawing{'=', "03 93 96 06 / 09 99 9c 0c"},
    GlyphDrawing{'/', "00 30 9f 6f"},
    GlyphDrawing{'%', "00 30 cf 9f / 80 c0 c5 85 / 0a 4a 4f 0f"},
    GlyphDrawing{'(', "30 60 33 3c 6f 3f 0c 03"},
    GlyphDrawing{')', "00 30 63 6c 3f 0f 3c 33"},
    GlyphDrawing{'\'', "0a 3a 3f 0f"},
    GlyphDrawing{'"', "0a 2a 2f 0f / 4a 6a 6f 4f"},
    GlyphDrawing{
        '#',
        "10 30 34 64 60 80 84 a4 a6 86 89 a9 ab 8b 8f 6f 6b 3b 3f 1f 1b 0b 09 19 16 06 04 14 - 36 66 69 39"},
};

constexpr double kCapHeight = 15, kSpace = 6;

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

}  // namespace

const char* glyphCharacters() {
  static const std::string all = [] {
    std::string characters;
    for (const GlyphDrawing& d : kDrawings) characters += d.character;
    return characters;
  }();
  return all.c_str();
}

Glyph glyph(char character) {
  if (character == ' ') return {{}, kSpace};
  const char wanted =
      character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character;
  const auto drawing = std::ranges::find(kDrawings, wanted, &GlyphDrawing::character);
  if (drawing == kDrawings.end()) {
    const unsigned code = static_cast<unsigned char>(character);
    const bool printable = code >= 33 && code < 127;
    throw Error(ErrorKind::Usage, printable
                                      ? fmt::format("letters: there is no glyph for \"{}\"", character)
                                      : fmt::format("letters: there is no glyph for the byte {:#04x}", code))
        .hint(fmt::format("there are {} and the space", glyphCharacters()));
  }
  Glyph result{{Outline{}}, 0};
  std::vector<Vec2>* contour = &result.parts[0].outer;
  const std::string_view text = drawing->contours;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '/')
      contour = &result.parts.emplace_back().outer;
    else if (text[i] == '-')
      contour = &result.parts.back().holes.emplace_back();
    else {
      contour->emplace_back(digit(text[i]), digit(text[i + 1]));
      result.width = std::max(result.width, contour->back().x());
      ++i;
    }
  }
  return result;
}

geometry::TriMesh makeLetters(const LettersShape& shape) {
  checkFields("letters", shape);
  const double scale = shape.height / kCapHeight, spacing = shape.spacing * kCapHeight;
  double width = -spacing;
  size_t parts = 0;
  for (char c : shape.text) {
    const Glyph g = glyph(c);
    width += g.width + spacing;
    parts += g.parts.size();
  }
  if (parts == 0) throw Error(ErrorKind::Usage, "letters: text has nothing but spaces");
  geometry::TriMesh mesh;
  double left = -0.5 * width;
  for (char c : shape.text) {
    const Glyph g = glyph(c);
    for (const Outline& part : g.parts) {
      // Triangulated in grid units, where straight lines are exactly straight, then put in place.
      const geometry::TriMesh solid = extrude(part, shape.depth, shape.layers);
      const uint32_t base = static_cast<uint32_t>(mesh.positions.size());
      for (const Vec3& p : solid.positions)
        mesh.positions.emplace_back(scale * (p.x() + left), scale * p.y(), p.z());
      for (const geometry::Triangle& t : solid.triangles)
        mesh.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
    }
    left += g.width + spacing;
  }
  return mesh;
}

void describe(ShapeFields& fields, LettersShape& s) {
  fields.text("text", s.text, "capitals, digits and punctuation; lower case is set in capitals");
  fields.length("height", s.height, "of a capital");
  fields.length("depth", s.depth, "thickness, along z");
  fields.number("spacing", s.spacing, 0.01, 10, "", "between letters, as a fraction of the height");
  fields.integer("layers", s.layers, 1, kMostSegments, "segments along the depth");
}

}  // namespace sunder::shapes

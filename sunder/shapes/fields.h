// How a shape's settings struct tells its parameters: one function `describe(fields, shape)` per struct names
// every member with limits, unit and text. The catalogue, the reader of text values and the range check of
// the C++ functions all go through it, so a parameter is written down once and its default is the struct's.
// Private to the room.
#pragma once

#include "sunder/shapes/catalogue.h"

#include <string>

namespace sunder::shapes {

inline constexpr double kShortest = 1e-6, kLongest = 1e6;  // lengths a shape may have, metres
inline constexpr int kMostSegments = 4096;                 // around or along anything

class ShapeFields {
 public:
  virtual ~ShapeFields() = default;
  virtual void number(const char* name, double& value, double lower, double upper, const char* unit,
                      const char* text) = 0;
  virtual void integer(const char* name, int& value, int lower, int upper, const char* text) = 0;
  virtual void flag(const char* name, bool& value, const char* text) = 0;
  virtual void choice(const char* name, std::string& value, const char* choices, const char* text) = 0;
  virtual void text(const char* name, std::string& value, const char* text) = 0;

  void length(const char* name, double& value, const char* text) {
    number(name, value, kShortest, kLongest, "m", text);
  }
};

void describe(ShapeFields&, BoxShape&);
void describe(ShapeFields&, TetrahedronShape&);
void describe(ShapeFields&, OctahedronShape&);
void describe(ShapeFields&, IcosphereShape&);
void describe(ShapeFields&, RippledSphereShape&);
void describe(ShapeFields&, UvSphereShape&);
void describe(ShapeFields&, CylinderShape&);
void describe(ShapeFields&, ConeShape&);
void describe(ShapeFields&, CapsuleShape&);
void describe(ShapeFields&, TorusShape&);
void describe(ShapeFields&, PlateShape&);
void describe(ShapeFields&, BowlShape&);
void describe(ShapeFields&, WineGlassShape&);
void describe(ShapeFields&, VaseShape&);
void describe(ShapeFields&, BottleShape&);
void describe(ShapeFields&, ExtrusionShape&);
void describe(ShapeFields&, LettersShape&);
void describe(ShapeFields&, BrickWallShape&);
void describe(ShapeFields&, TorusKnotShape&);
void describe(ShapeFields&, KnotShape&);
void describe(ShapeFields&, RopeShape&);
void describe(ShapeFields&, NoisySheetShape&);
void describe(ShapeFields&, ClothShape&);
void describe(ShapeFields&, ScrollShape&);

// Compares each field with its limits; throws Error (Usage) that names the shape, the field and the range.
class ShapeFieldCheck final : public ShapeFields {
 public:
  explicit ShapeFieldCheck(const char* shape) : shape_(shape) {}
  void number(const char*, double&, double, double, const char*, const char*) override;
  void integer(const char*, int&, int, int, const char*) override;
  void flag(const char*, bool&, const char*) override {}
  void choice(const char*, std::string&, const char*, const char*) override;
  void text(const char*, std::string&, const char*) override {}

 private:
  const char* shape_;
};

template <class Shape>
void checkFields(const char* name, const Shape& shape) {
  Shape copy = shape;
  ShapeFieldCheck check(name);
  describe(check, copy);
}

}  // namespace sunder::shapes

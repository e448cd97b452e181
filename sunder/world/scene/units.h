// Quantities as people write them: "20 cm", "45 deg", "7.8 g/cm3", "1/240 s", "3000 rpm". A number, or a
// fraction, then a product and quotient of units with powers, also half ones ("MPa m^0.5"); the result is in
// SI units (rad for angles) and must have the dimension that is asked for.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace sunder::world {

// Powers of metre, kilogram, second, radian.
struct Dimension {
  std::array<int, 4> powers{};
  const char* example;  // "0.2 or \"20 cm\""
  int halfMetres = 0;   // half powers of the metre besides: 1 for toughness, Pa m^0.5
};

inline constexpr Dimension kPlain{{0, 0, 0, 0}, "0.5"};
inline constexpr Dimension kLength{{1, 0, 0, 0}, "0.2 or \"20 cm\""};
inline constexpr Dimension kMass{{0, 1, 0, 0}, "0.5 or \"500 g\""};
inline constexpr Dimension kTime{{0, 0, 1, 0}, "0.01 or \"10 ms\""};
inline constexpr Dimension kAngle{{0, 0, 0, 1}, "0.785 or \"45 deg\""};
inline constexpr Dimension kSpeed{{1, 0, -1, 0}, "5 or \"18 km/h\""};
inline constexpr Dimension kAngularSpeed{{0, 0, -1, 1}, "10 or \"95 rpm\""};
inline constexpr Dimension kAcceleration{{1, 0, -2, 0}, "-9.81 or \"-9.81 m/s2\""};
inline constexpr Dimension kDensity{{-3, 1, 0, 0}, "7800 or \"7.8 g/cm3\""};
inline constexpr Dimension kForce{{1, 1, -2, 0}, "100 or \"0.1 kN\""};
inline constexpr Dimension kTorque{{2, 1, -2, 0}, "5 or \"5 N m\""};
inline constexpr Dimension kImpulse{{1, 1, -1, 0}, "2 or \"2 N s\""};
inline constexpr Dimension kPressure{{-1, 1, -2, 0}, "4e7 or \"40 MPa\""};
inline constexpr Dimension kSurfaceEnergy{{0, 1, -2, 0}, "8 or \"8 J/m2\""};
inline constexpr Dimension kToughness{{-1, 1, -2, 0}, "7e5 or \"0.7 MPa m^0.5\"", 1};
inline constexpr Dimension kViscosity{{2, 0, -1, 0}, "1e-6 or \"1 mm2/s\""};
inline constexpr Dimension kSurfaceTension{{0, 1, -2, 0}, "0.073 or \"73 mN/m\""};
inline constexpr Dimension kRate{{0, 0, -1, 0}, "30 or \"30 Hz\""};

// Throws Error (Format) that says what was expected.
double parseQuantity(std::string_view text, const Dimension& dimension);

}  // namespace sunder::world

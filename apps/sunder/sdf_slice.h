// A picture of a slice through an hp-adaptive field: on the left the distance with contour lines, on the
// right the cells, coloured by degree with the degree written in.
#pragma once

#include "sunder/base/image.h"
#include "sunder/sdf/hp/hp_field.h"

#include <string>

namespace sunder::cli {

struct Slice {
  int axis = 2;
  double position = 0;
};

// "z=0.25". Throws Error (Usage).
Slice parseSlice(const std::string& text);

Image drawSlice(const sdf::HpField& field, const Slice& slice, size_t height);

}  // namespace sunder::cli

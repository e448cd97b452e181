#include "sdf_slice.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

// Digits of three by five points, a row each, the left point in the highest bit.
constexpr uint8_t kDigits[10][5] = {{7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 3, 1, 7},
                                    {5, 5, 7, 1, 1}, {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 2, 2},
                                    {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}};

void drawNumber(Image& image, int64_t x, int64_t y, unsigned number, unsigned scale, Rgb colour) {
  const std::string text = std::to_string(number);
  for (size_t c = 0; c < text.size(); ++c)
    for (int64_t row = 0; row < 5; ++row)
      for (int64_t column = 0; column < 3; ++column) {
        if (!(kDigits[text[c] - '0'][row] >> (2 - column) & 1)) continue;
        for (int64_t dy = 0; dy < scale; ++dy)
          for (int64_t dx = 0; dx < scale; ++dx) {
            const int64_t px = x + (int64_t(c) * 4 + column) * scale + dx, py = y + row * scale + dy;
            if (px >= 0 && py >= 0 && px < int64_t(image.width) && py < int64_t(image.height))
              image.at(size_t(px), size_t(py)) = colour;
          }
      }
}

Rgb mix(const Rgb& a, const Rgb& b, double t) {
  Rgb c;
  for (size_t i = 0; i < 3; ++i)
    c[i] = static_cast<uint8_t>(std::lround(a[i] + (b[i] - a[i]) * std::clamp(t, 0.0, 1.0)));
  return c;
}

// Blue inside, orange outside, paler towards the surface.
Rgb distanceColour(double distance, double range) {
  const double t = std::sqrt(std::min(1.0, std::abs(distance) / range));
  return distance < 0 ? mix({214, 230, 244}, {8, 64, 129}, t) : mix({254, 237, 215}, {166, 80, 10}, t);
}

Rgb degreeColour(int degree) {
  static constexpr Rgb kStops[] = {
      {247, 252, 240}, {204, 235, 197}, {123, 204, 196}, {43, 140, 190}, {8, 64, 129}};
  const double at = std::clamp((degree - 1) / 7.0, 0.0, 1.0) * 4;
  const auto below = static_cast<size_t>(std::min(at, 3.0));
  return mix(kStops[below], kStops[below + 1], at - double(below));
}

}  // namespace

Slice parseSlice(const std::string& text) {
  Slice slice;
  size_t used = 0;
  if (text.size() > 2 && text[1] == '=' && text[0] >= 'x' && text[0] <= 'z') {
    slice.axis = text[0] - 'x';
    try {
      slice.position = std::stod(text.substr(2), &used);
    } catch (const std::exception&) {
      used = 0;
    }
  }
  if (used == 0 || used + 2 != text.size() || !std::isfinite(slice.position))
    throw Error(ErrorKind::Usage, fmt::format("a slice is written as z=0.25, not '{}'", text))
        .hint("x, y or z, and where the plane cuts that axis");
  return slice;
}

Image drawSlice(const sdf::HpField& field, const Slice& slice, size_t height) {
  const Box3& box = field.domain();
  if (slice.position < box.lower[slice.axis] || slice.position > box.upper[slice.axis])
    throw Error(ErrorKind::Usage,
                fmt::format("the field reaches from {} to {} along {}, the slice lies at {}",
                            box.lower[slice.axis], box.upper[slice.axis], "xyz"[slice.axis], slice.position));
  const int across = slice.axis == 0 ? 2 : 0, up = slice.axis == 1 ? 2 : 1;
  const double pixel = (box.upper[up] - box.lower[up]) / double(height);
  const auto width = static_cast<size_t>(
      std::clamp(std::round((box.upper[across] - box.lower[across]) / pixel), 1.0, 16384.0));
  const auto pointAt = [&](double x, double y) {
    Vec3 p;
    p[slice.axis] = slice.position;
    p[across] = box.lower[across] + x * pixel;
    p[up] = box.upper[up] - y * pixel;
    return p;
  };
  std::vector<Vec3> points;
  points.reserve(width * height);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) points.push_back(pointAt(double(x) + 0.5, double(y) + 0.5));
  std::vector<double> values(points.size());
  sdf::valuesOf(field, points, values);
  double range = 1e-300;
  for (const double v : values) range = std::max(range, std::abs(v));
  const double step = std::pow(10, std::floor(std::log10(range / 4)));
  const double spacing = range / step > 20 ? 5 * step : range / step > 8 ? 2 * step : step;

  const size_t gap = 8;
  Image image(2 * width + gap, height);
  const sdf::HpForest& cells = field.cells();
  std::vector<uint32_t> leaf(points.size());
  for (size_t i = 0; i < points.size(); ++i) leaf[i] = locate(cells, points[i]).leaf;
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      const size_t i = y * width + x;
      const size_t right = y * width + std::min(x + 1, width - 1),
                   below = std::min(y + 1, height - 1) * width + x;
      Rgb colour = distanceColour(values[i], range);
      const auto crosses = [&](double every, size_t other) {
        return std::floor(values[i] / every) != std::floor(values[other] / every);
      };
      if (crosses(spacing, right) || crosses(spacing, below)) colour = mix(colour, {0, 0, 0}, 0.35);
      if ((values[i] < 0) != (values[right] < 0) || (values[i] < 0) != (values[below] < 0))
        colour = {0, 0, 0};
      image.at(x, y) = colour;
      const bool border = leaf[i] != leaf[right] || leaf[i] != leaf[below];
      Rgb cell = degreeColour(cells.degree[leaf[i]]);
      if (border) cell = mix(cell, {0, 0, 0}, 0.5);
      if ((values[i] < 0) != (values[right] < 0) || (values[i] < 0) != (values[below] < 0))
        cell = {220, 30, 30};
      image.at(width + gap + x, y) = cell;
    }
  // The degree of each cell that the slice shows large enough, once.
  const std::vector<sdf::HpCell> places = sdf::leafCells(cells);
  for (size_t l = 0; l < places.size(); ++l) {
    const Box3 cell = sdf::cellBox(cells, places[l]);
    if (slice.position < cell.lower[slice.axis] || slice.position >= cell.upper[slice.axis]) continue;
    const double size = std::min(cell.extent()[across], cell.extent()[up]) / pixel;
    if (size < 14) continue;
    const unsigned scale = size > 60 ? 3 : size > 28 ? 2 : 1;
    const int degree = cells.degree[l];
    const auto x = static_cast<int64_t>((cell.center()[across] - box.lower[across]) / pixel);
    const auto y = static_cast<int64_t>((box.upper[up] - cell.center()[up]) / pixel);
    drawNumber(image, int64_t(width + gap) + x - int64_t(degree > 9 ? 4 : 2) * scale, y - 2 * int64_t(scale),
               static_cast<unsigned>(degree), scale, degree > 4 ? Rgb{255, 255, 255} : Rgb{20, 20, 20});
  }
  return image;
}

}  // namespace sunder::cli

#include <cmath>
#include <cstdio>

#include <sunder/base/parallel.h>
#include <sunder/geometry/mass_properties.h>
#include <sunder/shapes/catalogue.h>

int main() {
  const sunder::geometry::TriMesh box = sunder::shapes::makeShape("box", {{"width", "2"}});
  const double volume = sunder::geometry::massProperties(box).volume;
  std::printf("a box of %zu triangles, volume %.3f, %u threads\n", box.triangles.size(), volume,
              sunder::threadCount());
  return std::abs(volume - 2.0) < 1e-12 ? 0 : 1;
}

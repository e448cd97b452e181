#include "sunder/geometry/mass_properties.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/tet_mesh.h"

namespace sunder::geometry {

namespace {

// Integrals over a solid, with the origin in the middle of its box.
struct Moments {
  double volume = 0;
  Vec3 first = Vec3::Zero();   // of x
  Mat3 second = Mat3::Zero();  // of x x^T

  Moments& operator+=(const Moments& o) {
    volume += o.volume;
    first += o.first;
    second += o.second;
    return *this;
  }
  // The tetrahedron a, b, c and the origin. With s the sum of the corners, the integral of x x^T is
  // volume / 20 * (s s^T + sum of corner corner^T).
  void addCone(const Vec3& a, const Vec3& b, const Vec3& c) {
    const double v = a.cross(b).dot(c) / 6;
    const Vec3 sum = a + b + c;
    volume += v;
    first += v / 4 * sum;
    second += v / 20 * (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  }
  void addTet(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const double v = signedVolume(a, b, c, d);
    const Vec3 sum = a + b + c + d;
    volume += v;
    first += v / 4 * sum;
    second += v / 20 *
              (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose() +
               d * d.transpose());
  }
};

template <class Add>
Moments sumMoments(size_t count, Add&& add) {
  return parallelReduce(
      count, Moments{},
      [&](size_t begin, size_t end) {
        Moments m;
        for (size_t i = begin; i < end; ++i) add(i, m);
        return m;
      },
      [](Moments a, const Moments& b) {
        a += b;
        return a;
      },
      1024);
}

Mat3 inertiaOf(const Mat3& second) { return second.trace() * Mat3::Identity() - second; }

// Inertia of a point mass at `offset`.
Mat3 pointInertia(double mass, const Vec3& offset) { return mass * inertiaOf(offset * offset.transpose()); }

MassProperties finish(const Moments& m, const Vec3& middle, double density) {
  MassProperties result;
  result.volume = m.volume;
  result.mass = density * m.volume;
  // Nothing has its centre in the middle of its box, which keeps numbers finite.
  const Vec3 offset = m.volume != 0 ? Vec3(m.first / m.volume) : Vec3(Vec3::Zero());
  result.centre = middle + offset;
  result.inertia = density * inertiaOf(m.second - m.volume * offset * offset.transpose());
  return result;
}

Vec3 middleOf(std::span<const Vec3> positions) {
  const Box3 box = bounds(positions);
  return box.empty() ? Vec3(Vec3::Zero()) : box.center();
}

}  // namespace

MassProperties massProperties(const MeshView& mesh, double density) {
  requireValid(mesh);
  const Vec3 middle = middleOf(mesh.positions);
  const Moments m = sumMoments(mesh.faceCount(), [&](size_t f, Moments& sum) {
    const uint32_t begin = mesh.begin(f), end = mesh.end(f);
    if (end - begin < 3) return;
    const Vec3 a = mesh.at(begin) - middle;
    Vec3 b = mesh.at(begin + 1) - middle;
    for (uint32_t c = begin + 2; c < end; ++c) {
      const Vec3 next = mesh.at(c) - middle;
      sum.addCone(a, b, next);
      b = next;
    }
  });
  return finish(m, middle, density);
}

MassProperties massProperties(const TetMesh& mesh, double density) {
  requireValid(mesh);
  const Vec3 middle = middleOf(mesh.positions);
  const Moments m = sumMoments(mesh.tets.size(), [&](size_t i, Moments& sum) {
    const Tetrahedron& t = mesh.tets[i];
    sum.addTet(mesh.positions[t[0]] - middle, mesh.positions[t[1]] - middle, mesh.positions[t[2]] - middle,
               mesh.positions[t[3]] - middle);
  });
  return finish(m, middle, density);
}

MassProperties withDensity(MassProperties body, double density) {
  const double mass = density * body.volume;
  body.inertia *= body.mass != 0 ? mass / body.mass : 0.0;
  body.mass = mass;
  return body;
}

Mat3 inertiaAbout(const MassProperties& body, const Vec3& point) {
  return body.inertia + pointInertia(body.mass, body.centre - point);
}

MassProperties combine(const MassProperties& a, const MassProperties& b) {
  MassProperties result;
  result.volume = a.volume + b.volume;
  result.mass = a.mass + b.mass;
  result.centre = result.mass != 0 ? Vec3(a.centre + b.mass / result.mass * (b.centre - a.centre)) : a.centre;
  result.inertia = inertiaAbout(a, result.centre) + inertiaAbout(b, result.centre);
  return result;
}

MassProperties subtract(const MassProperties& a, const MassProperties& b) {
  return combine(a, {-b.volume, -b.mass, b.centre, -b.inertia});
}

MassProperties transformed(const MassProperties& body, const Mat3& rotation, const Vec3& translation) {
  return {body.volume, body.mass, rotation * body.centre + translation,
          rotation * body.inertia * rotation.transpose()};
}

}  // namespace sunder::geometry

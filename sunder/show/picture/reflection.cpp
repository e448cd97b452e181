#include "sunder/show/picture/reflection.h"

#include <algorithm>
#include <cmath>

namespace sunder::show {

namespace {

constexpr float kInversePi = float(1 / kPi);

float alphaOf(const Look& look) { return std::max(look.roughness * look.roughness, 0.002f); }

float schlick(float cosine) {
  const float c = std::clamp(1 - cosine, 0.0f, 1.0f), c2 = c * c;
  return c2 * c2 * c;
}

Vec3f headOn(const Look& look) {
  const float r = (look.refraction - 1) / (look.refraction + 1);
  return Vec3f::Constant(r * r) * (1 - look.metallic) + look.colour * look.metallic;
}

float facets(float cosine, float alpha) {
  const float a2 = alpha * alpha, t = cosine * cosine * (a2 - 1) + 1;
  return a2 * kInversePi / (t * t);
}

// Smith's masking, height-correlated form's ingredient.
float lambda(float cosine, float alpha) {
  const float c2 = cosine * cosine, tan2 = std::max(0.0f, 1 - c2) / std::max(c2, 1e-12f);
  return (std::sqrt(1 + alpha * alpha * tan2) - 1) / 2;
}

float specularShare(const Look& look, const Vec3f& out) {
  const Vec3f f0 = headOn(look);
  const float mean = f0.mean() + (1 - f0.mean()) * schlick(out.z());
  const float matt = (1 - look.metallic) * look.colour.mean();
  if (matt <= 0) return 1;
  return std::clamp(mean / (mean + matt), 0.1f, 0.9f);
}

float density(const Look& look, const Vec3f& out, const Vec3f& in, float share) {
  const Vec3f half = (out + in).normalized();
  const float alpha = alphaOf(look);
  const float visible =
      facets(half.z(), alpha) / (1 + lambda(out.z(), alpha)) / (4 * std::max(out.z(), 1e-6f));
  return share * visible + (1 - share) * in.z() * kInversePi;
}

}  // namespace

float fresnel(float cosine, float ratio) {
  const float sin2 = ratio * ratio * (1 - cosine * cosine);
  if (sin2 >= 1) return 1;
  const float beyond = std::sqrt(1 - sin2);
  const float s = (ratio * cosine - beyond) / (ratio * cosine + beyond);
  const float p = (cosine - ratio * beyond) / (cosine + ratio * beyond);
  return (s * s + p * p) / 2;
}

void orthonormalFrame(const Vec3f& n, Vec3f& tangent, Vec3f& bitangent) {
  const float sign = std::copysign(1.0f, n.z()), a = -1 / (sign + n.z()), b = n.x() * n.y() * a;
  tangent = {1 + sign * n.x() * n.x() * a, sign * b, -sign * n.x()};
  bitangent = {b, sign + n.y() * n.y() * a, -n.y()};
}

Vec3f visibleFacet(const Vec3f& out, float alpha, const Vec2f& u) {
  const Vec3f stretched = Vec3f(alpha * out.x(), alpha * out.y(), out.z()).normalized();
  const float length2 = stretched.x() * stretched.x() + stretched.y() * stretched.y();
  const Vec3f t1 =
      length2 > 0 ? Vec3f(Vec3f(-stretched.y(), stretched.x(), 0) / std::sqrt(length2)) : Vec3f(1, 0, 0);
  const Vec3f t2 = stretched.cross(t1);
  const float r = std::sqrt(u.x()), phi = 2 * float(kPi) * u.y();
  const float p1 = r * std::cos(phi), s = (1 + stretched.z()) / 2;
  const float p2 = (1 - s) * std::sqrt(std::max(0.0f, 1 - p1 * p1)) + s * r * std::sin(phi);
  const Vec3f facet = t1 * p1 + t2 * p2 + stretched * std::sqrt(std::max(0.0f, 1 - p1 * p1 - p2 * p2));
  return Vec3f(alpha * facet.x(), alpha * facet.y(), std::max(0.0f, facet.z())).normalized();
}

Vec3f reflected(const Look& look, const Vec3f& out, const Vec3f& in) {
  if (out.z() <= 0 || in.z() <= 0) return Vec3f::Zero();
  const Vec3f half = (out + in).normalized();
  const float alpha = alphaOf(look);
  const Vec3f f0 = headOn(look);
  const Vec3f coat = f0 + (Vec3f::Ones() - f0) * schlick(half.dot(out));
  const float shape =
      facets(half.z(), alpha) / (1 + lambda(out.z(), alpha) + lambda(in.z(), alpha)) / (4 * out.z());
  const float f0mean = (look.refraction - 1) / (look.refraction + 1), base = 1 - f0mean * f0mean;
  const float passed = base * (1 - schlick(out.z())) * (1 - schlick(in.z()));
  return coat * shape + look.colour * ((1 - look.metallic) * passed * kInversePi * in.z());
}

ReflectedSample sampleReflected(const Look& look, const Vec3f& out, const Vec2f& u, float choice) {
  ReflectedSample sample;
  if (out.z() <= 0) return sample;
  const float share = specularShare(look, out);
  if (choice < share) {
    const Vec3f facet = visibleFacet(out, alphaOf(look), u);
    sample.in = 2 * out.dot(facet) * facet - out;
  } else {
    const float r = std::sqrt(u.x()), phi = 2 * float(kPi) * u.y();
    sample.in = {r * std::cos(phi), r * std::sin(phi), std::sqrt(std::max(0.0f, 1 - u.x()))};
  }
  if (sample.in.z() <= 1e-6f) return sample;
  const float p = density(look, out, sample.in, share);
  if (p > 0) sample.weight = reflected(look, out, sample.in) / p;
  return sample;
}

}  // namespace sunder::show

// The vector and matrix types of the whole project, on Eigen. Simulation and geometry compute in double;
// float appears in bounding boxes, pictures and files. Lengths are metres, y is up, frames are right-handed.
#pragma once

#include <cstdint>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace sunder {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Vec2f = Eigen::Vector2f;
using Vec3f = Eigen::Vector3f;
using Vec4f = Eigen::Vector4f;
using Mat2 = Eigen::Matrix2d;
using Mat3 = Eigen::Matrix3d;
using Mat4 = Eigen::Matrix4d;
using Quat = Eigen::Quaterniond;

inline constexpr double kPi = 3.14159265358979323846;

}  // namespace sunder

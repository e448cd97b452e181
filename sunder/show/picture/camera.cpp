#include "sunder/show/picture/camera.h"

#include "sunder/base/error.h"
#include "sunder/base/text.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace sunder::show {

CameraFrame cameraFrame(const Camera& camera, double aspect) {
  CameraFrame frame;
  frame.forward = (camera.target - camera.eye).normalized();
  Vec3 right = frame.forward.cross(camera.up);
  if (right.squaredNorm() < 1e-20) right = frame.forward.cross(Vec3::UnitZ());
  if (right.squaredNorm() < 1e-20) right = frame.forward.cross(Vec3::UnitX());
  right.normalize();
  const double reach = std::tan(camera.fieldOfView * kPi / 360);
  frame.up = right.cross(frame.forward) * reach;
  frame.right = right * (reach * aspect);
  return frame;
}

Camera frameBox(const Box3& given, double aspect, const Vec3& direction, double fieldOfView) {
  const Box3 box = !given.empty() ? given : Box3{Vec3(-0.5, -0.5, -0.5), Vec3(0.5, 0.5, 0.5)};
  Camera camera;
  camera.fieldOfView = fieldOfView;
  camera.target = (box.lower + box.upper) / 2;
  camera.eye = camera.target - direction.normalized();
  const CameraFrame frame = cameraFrame(camera, aspect);
  const double reachUp = frame.up.norm() * 0.9, reachRight = frame.right.norm() * 0.9;
  const Vec3 up = frame.up.normalized(), right = frame.right.normalized();
  // At distance d a corner at depth z along the view is inside when |x| <= reach * (d + z).
  double distance = 1e-6;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 p((corner & 1 ? box.upper : box.lower).x(), (corner & 2 ? box.upper : box.lower).y(),
                 (corner & 4 ? box.upper : box.lower).z());
    const Vec3 from = p - camera.target;
    const double depth = from.dot(frame.forward);
    distance = std::max(distance, std::abs(from.dot(right)) / reachRight - depth);
    distance = std::max(distance, std::abs(from.dot(up)) / reachUp - depth);
  }
  if (distance < 1e-5) distance = 1;
  camera.eye = camera.target - frame.forward * distance;
  return camera;
}

Camera parseCamera(std::string_view text, const Camera& start) {
  Camera camera = start;
  std::istringstream words{std::string(text)};
  std::string word;
  const auto number = [&](const std::string& of) {
    double value = 0;
    if (!(words >> value) || !std::isfinite(value))
      throw Error(ErrorKind::Usage, fmt::format("the camera's '{}' wants numbers", of))
          .hint("for example: eye 4 3 6 target 0 1 0 fov 40");
    return value;
  };
  const auto vector = [&](const std::string& of) {
    const double x = number(of), y = number(of), z = number(of);
    return Vec3(x, y, z);
  };
  while (words >> word) {
    if (word == "eye")
      camera.eye = vector(word);
    else if (word == "target")
      camera.target = vector(word);
    else if (word == "up")
      camera.up = vector(word);
    else if (word == "fov")
      camera.fieldOfView = number(word);
    else
      throw Error(ErrorKind::Usage, fmt::format("the camera has no '{}'", word))
          .hint("it has eye, target, up (three numbers each) and fov (degrees)");
  }
  if (camera.fieldOfView < 1 || camera.fieldOfView > 170)
    throw Error(ErrorKind::Usage,
                fmt::format("a field of view of {} degrees is outside 1 to 170", camera.fieldOfView));
  if ((camera.eye - camera.target).norm() < 1e-12)
    throw Error(ErrorKind::Usage, "the camera's eye and target are the same point");
  return camera;
}

}  // namespace sunder::show

// Surfaces in cages, in all that shows recordings: pictures, exports, and what the page gets for its shader.
#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/show/caged_normals.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_scene.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/view/soft_asset.h"
#include "sunder/show/view/view_data.h"

#include "record/sample_run.h"
#include "record/soft_run.h"
#include "temporary_folder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

using namespace record;

constexpr float kBallSize = 1.8f;  // diameter

class SoftShown : public testing::Test {
 protected:
  SoftShown() { writeSoft(path_); }

  // Share of the pixels that differ by more than two of 255 in some channel.
  static double difference(const Image& a, const Image& b) {
    size_t count = 0;
    for (size_t y = 0; y < a.height; ++y)
      for (size_t x = 0; x < a.width; ++x) {
        bool differs = false;
        for (size_t k = 0; k < 3; ++k) differs |= std::abs(int(a.at(x, y)[k]) - int(b.at(x, y)[k])) > 2;
        count += differs;
      }
    return double(count) / double(a.width * a.height);
  }
  static Image picture(const std::filesystem::path& path, size_t frame, size_t size) {
    const RunReader run(path);
    RunPictures pictures(run);
    Shot shot = pictures.shot(frame);
    shot.ground = false;
    shot.camera = frameBox(Box3{Vec3(-1, 0.25, -1), Vec3(1, 2.25, 1)}, 1);
    return pictures.render(shot, {.width = size, .height = size, .samples = 2});
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder";
};

// Spec: less than 0.05 % of the pixels.
TEST_F(SoftShown, AnIntactBodyLooksAsItDidBeforeItWasClipped) {
  const std::filesystem::path plain = folder_ / "plain.sunder", unknown = folder_ / "unknown.sunder";
  writeSoft(plain, {.plain = true});
  const Image whole = picture(plain, 0, 400);
  EXPECT_LT(difference(picture(path_, 0, 400), whole), 0.0005);
  // Without the source normals are those of the pieces put together: they differ a little, and nobody sees
  // it.
  writeSoft(unknown, {.hasSource = false});
  EXPECT_LT(difference(picture(unknown, 0, 400), whole), 0.02);
}

TEST_F(SoftShown, NormalsAreCarriedByTheCage) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  CagedNormals normals;
  Frame frame;
  for (const size_t f : {size_t(0), size_t(3), size_t(9)}) {
    run.readFrame(f, frame);
    const BodyShape shape = meshes.shape(frame, f, 0);
    const std::vector<Vec3f> own = normals.of(shape);
    ASSERT_EQ(own.size(), 3 * shape.mesh->triangles.size());
    for (size_t t = 0; t < shape.mesh->triangles.size(); ++t) {
      const geometry::Triangle& c = shape.mesh->triangles[t];
      const Vec3 a = shape.positions[c[0]].cast<double>();
      const Vec3 area =
          (shape.positions[c[1]].cast<double>() - a).cross(shape.positions[c[2]].cast<double>() - a);
      if (area.norm() < 1e-4) continue;
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(own[3 * t + k].norm(), 1, 1e-5);
        if (f == 0 || shape.mesh->interior[t]) {
          EXPECT_GT(own[3 * t + k].cast<double>().dot(area.normalized()), f == 0 ? 0.95 : 0.9999);
        }
      }
    }
  }
}

TEST_F(SoftShown, NormalsOfAnAffineMapAreExactAndThoseOfABentBodyContinuous) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  CagedNormals normals;
  Frame frame;
  run.readFrame(3, frame);
  BodyShape shape = meshes.shape(frame, 3, 0);
  const std::vector<Vec3f> rest = normalsAtRest(shape.caged);
  // Bent: where two tetrahedra meet, points of the outside have the same normals from both.
  std::vector<Vec3f> own = normals.of(shape);
  std::map<std::array<float, 3>, Vec3f> known;
  size_t shared = 0;
  for (size_t t = 0; t < shape.mesh->triangles.size(); ++t)
    for (size_t k = 0; k < 3; ++k) {
      const Vec3f& p = shape.mesh->positions[shape.mesh->triangles[t][k]];
      const auto [found, isNew] = known.emplace(std::array{p.x(), p.y(), p.z()}, own[3 * t + k]);
      if (isNew) continue;
      ++shared;
      EXPECT_LT((found->second - own[3 * t + k]).norm(), 2e-3f);
    }
  EXPECT_GT(shared, 1000u);
  // Affine, and once mirrored.
  for (const double side : {1.0, -1.0}) {
    Mat3 map;
    map << 1.2 * side, 0.3, -0.1, 0.1 * side, 0.8, 0.4, -0.2 * side, 0.1, 1.1;
    for (size_t v = 0; v < shape.cagePositions.size(); ++v)
      shape.cagePositions[v] = (map * shape.caged.cage->positions[v].cast<double>()).cast<float>();
    own = normals.of(shape);
    for (size_t i = 0; i < own.size(); ++i) {
      const size_t t = shape.caged.shown ? (*shape.caged.shown)[i / 3] : i / 3;
      const Vec3 wanted = (map.inverse().transpose() * rest[3 * t + i % 3].cast<double>()).normalized();
      EXPECT_LT((own[i].cast<double>() - wanted).norm(), 1e-4);
    }
  }
}

TEST_F(SoftShown, CovectorsGiveTheNormalOfAnyDeformation) {
  const std::array<Vec3f, 4> rest{Vec3f(0, 0, 0), Vec3f(1, 0.2f, 0), Vec3f(0.1f, 0.9f, 0),
                                  Vec3f(0.3f, 0.2f, 1.1f)};
  uint32_t state = 7;
  const auto random = [&] {
    return float((state = state * 1664525u + 1013904223u) >> 8) / float(1 << 24) * 2 - 1;
  };
  for (int round = 0; round < 200; ++round) {
    Mat3 map;
    for (int i = 0; i < 9; ++i) map.data()[i] = double(random());
    if (std::abs(map.determinant()) < 0.1) continue;
    const Vec3f normal = Vec3f(random(), random(), random()).normalized();
    std::array<Vec3f, 4> now;
    for (size_t k = 0; k < 4; ++k) now[k] = (map * rest[k].cast<double>()).cast<float>();
    const Vec3 wanted = (map.inverse().transpose() * normal.cast<double>()).normalized();
    EXPECT_LT((carriedNormal(covectorOf(normal, rest), now).cast<double>() - wanted).norm(), 1e-4) << round;
  }
}

// What the shader does, with the numbers that the page gets.
TEST_F(SoftShown, ThePageGetsWhatPlacesTheSurface) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  const CagedSurface rest = meshes.caged(kBallSurface);
  const SoftAsset asset = softAsset(rest);
  const CornerOrder order = cornerOrder(rest.cage->tets);
  EXPECT_EQ(asset.outside.triangles.size() + asset.walls.triangles.size(), rest.surface->triangles.size());
  EXPECT_GT(asset.copies.triangles.size(), rest.source->triangles.size());
  Frame frame;
  for (size_t f = 0; f < run.frameCount(); ++f) {
    run.readFrame(f, frame);
    const BodyShape shape = meshes.shape(frame, f, 0);
    const std::vector<TetTexel> texels = tetTexels(shape.caged.cage->tets, order);
    size_t shown = 0;
    for (const SoftVertices* part : {&asset.outside, &asset.walls})
      for (const geometry::Triangle& corners : part->triangles) {
        const uint32_t face = part->flags[corners[0]] & 7u, open = texels[part->tets[corners[0]]][3] >> 28;
        if (face < 4 && !(open >> face & 1u)) continue;
        // Outside first, then walls; the recording has them tetrahedron by tetrahedron.
        ++shown;
        for (const uint32_t v : corners) {
          const TetTexel& tet = texels[part->tets[v]];
          Vec3f place = Vec3f::Zero();
          for (size_t k = 0; k < 4; ++k)
            place += part->weights[v][int(k)] * shape.cagePositions[k == 3 ? tet[3] & 0x0fffffffu : tet[k]];
          float nearest = kBallSize;
          if (f == 9 && shown % 40 == 0) {
            for (const Vec3f& p : shape.positions) nearest = std::min(nearest, (p - place).norm());
            EXPECT_LT(nearest, 1e-5f * kBallSize);
          }
        }
      }
    EXPECT_EQ(shown, shape.mesh->triangles.size()) << f;
  }
  // Every piece of the ball is closed.
  std::vector<Vec3> sums(rest.cage->tets.size(), Vec3::Zero());
  for (const SoftVertices* part : {&asset.outside, &asset.walls})
    for (const geometry::Triangle& c : part->triangles) {
      const Vec3 a = part->rest[c[0]].cast<double>();
      sums[part->tets[c[0]]] +=
          (part->rest[c[1]].cast<double>() - a).cross(part->rest[c[2]].cast<double>() - a);
    }
  for (const Vec3& sum : sums) EXPECT_LT(sum.norm(), 1e-5);
  for (const Vec4f& w : asset.copies.weights) EXPECT_NEAR(w.sum(), 1, 1e-5);
}

TEST_F(SoftShown, PointsOnFacesHaveTheSamePlaceFromBothSides) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  const CagedSurface caged = meshes.caged(kBallSurface);
  const SoftAsset asset = softAsset(caged);
  const std::vector<TetTexel> texels = tetTexels(caged.cage->tets, cornerOrder(caged.cage->tets));
  Frame frame;
  run.readFrame(3, frame);
  std::map<std::array<float, 3>, Vec3f> places;
  size_t shared = 0;
  for (size_t v = 0; v < asset.outside.tets.size(); ++v) {
    const TetTexel& tet = texels[asset.outside.tets[v]];
    Vec3f place = Vec3f::Zero();
    for (size_t k = 0; k < 4; ++k)
      place += asset.outside.weights[v][int(k)] *
               frame.points[0].positions[k == 3 ? tet[3] & 0x0fffffffu : tet[k]];
    const Vec3f& rest = asset.outside.rest[v];
    const auto [found, isNew] = places.emplace(std::array{rest.x(), rest.y(), rest.z()}, place);
    if (isNew) continue;
    ++shared;
    EXPECT_EQ(found->second, place) << v;
  }
  EXPECT_GT(shared, 200u);
}

TEST_F(SoftShown, ATearChangesTexelsOnly) {
  ViewData data(path_);
  const auto info = readJson(data.info());
  EXPECT_EQ(info["bodies"][0]["changes"], Json({kPartlyTornAt, kTornApartAt}));
  EXPECT_EQ(info["bodies"][0]["soft"], Json({0, 0, 0}));
  EXPECT_EQ(info["softMeshes"], Json::array({0}));
  const RunReader run(path_);
  BodyMeshes meshes(run);
  const CornerOrder order = cornerOrder(meshes.caged(0).cage->tets);
  std::vector<TetTexel> texels = tetTexels(meshes.caged(0).cage->tets, order);
  size_t vertices = meshes.caged(0).cage->positions.size();
  const size_t frames[] = {0, kPartlyTornAt, kTornApartAt};
  for (size_t v = 0; v < 3; ++v) {
    const std::string bytes = data.tear(0, v);
    uint32_t head[4];
    std::memcpy(head, bytes.data(), 16);
    EXPECT_EQ(head[0], uint32_t(kBallSurface));
    EXPECT_EQ(head[1], v == 0 ? 1u : 0u);
    vertices += head[3];
    EXPECT_EQ(head[2], vertices);
    size_t at = 16 + 12 * head[3];
    uint32_t count = 0;
    std::memcpy(&count, bytes.data() + at, 4);
    EXPECT_EQ(bytes.size(), at + 4 + 20 * count);
    EXPECT_LT(count, texels.size());
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t words[5];
      std::memcpy(words, bytes.data() + at + 4 + 20 * i, 20);
      EXPECT_NE(texels.at(words[0]), (TetTexel{words[1], words[2], words[3], words[4]}));
      texels[words[0]] = {words[1], words[2], words[3], words[4]};
    }
    Frame frame;
    run.readFrame(frames[v], frame);
    EXPECT_EQ(texels, tetTexels(meshes.shape(frame, frames[v], 0).caged.cage->tets, order)) << v;
  }
  EXPECT_THROW(data.tear(0, 3), Error);
  EXPECT_THROW(data.tear(1, 0), Error);
  EXPECT_THROW(data.soft(kBallCage), Error);
  EXPECT_THROW(data.soft(7), Error);
  // The asset is all that its head says.
  const std::string asset = data.soft(kBallSurface);
  uint32_t counts[11];
  std::memcpy(counts, asset.data(), 44);
  size_t size = 44 + 28 + 12 * counts[6] + 16 * counts[7] + counts[8] * counts[9] * counts[10];
  for (size_t k = 0; k < 3; ++k) size += 48 * counts[2 * k] + 12 * counts[2 * k + 1];
  EXPECT_EQ(asset.size(), size);
}

TEST_F(SoftShown, DepthsGrowTowardsTheMiddle) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  const SoftDepths depths = softAsset(meshes.caged(kBallSurface)).depths;
  const auto [nx, ny, nz] = depths.count;
  ASSERT_EQ(depths.shares.size(), size_t(nx) * ny * nz);
  for (uint32_t z = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x) {
        const Vec3f share(float(x) / float(nx - 1), float(y) / float(ny - 1), float(z) / float(nz - 1));
        const Vec3f p = depths.lower + share.cwiseProduct(depths.upper - depths.lower);
        if (p.norm() > 0.85f) continue;
        EXPECT_NEAR(depths.deepest * float(depths.shares[(z * ny + y) * nx + x]) / 255, 0.9f - p.norm(),
                    0.015f);
      }
}

TEST_F(SoftShown, VtkHasTheCageWithItsStress) {
  const RunReader run(path_);
  exportRun(run, ExportFormat::Vtk, {.output = folder_ / "vtk", .frames = {0, 5, 10}});
  for (const char* name : {"frame_0000.vtu", "frame_0005.vtu", "frame_0010.vtu"}) {
    const std::string grid = fileBytes(folder_ / "vtk" / name);
    EXPECT_NE(grid.find("NumberOfCells=\"48\""), std::string::npos);
    EXPECT_NE(grid.find("\"stress\""), std::string::npos);
  }
  // 27 vertices, three more where it is torn a little, nine where it is apart.
  EXPECT_NE(fileBytes(folder_ / "vtk/frame_0000.vtu").find("NumberOfPoints=\"27\""), std::string::npos);
  EXPECT_NE(fileBytes(folder_ / "vtk/frame_0005.vtu").find("NumberOfPoints=\"30\""), std::string::npos);
  EXPECT_NE(fileBytes(folder_ / "vtk/frame_0010.vtu").find("NumberOfPoints=\"36\""), std::string::npos);
}

TEST_F(SoftShown, ExportsHaveWallsOfTheInnerMaterialWhereTheBodyIsOpen) {
  const RunReader run(path_);
  const ExportScene scene = exportSceneOf(run, {0, 5, 10});
  size_t last = 0;
  for (const size_t f : scene.frames) {
    ExportFrame frame;
    scene.readFrame(f, frame);
    const std::vector<BodySurface> surfaces = surfacesOf(scene, frame);
    ASSERT_EQ(surfaces.size(), 1u);
    const BodySurface& surface = surfaces[0];
    const size_t walls = size_t(std::count(surface.interior.begin(), surface.interior.end(), uint8_t(1)));
    if (f == 0)
      EXPECT_EQ(walls, 0u);
    else
      EXPECT_GT(walls, last);
    last = walls;
    // What is shown is closed, and its normals look outwards.
    Vec3 sum = Vec3::Zero();
    const std::vector<Vec3f> normals = normalsOf(surface);
    for (size_t t = 0; t < surface.triangles.size(); ++t) {
      const geometry::Triangle& c = surface.triangles[t];
      const Vec3 a = surface.positions[c[0]].cast<double>();
      const Vec3 area =
          (surface.positions[c[1]].cast<double>() - a).cross(surface.positions[c[2]].cast<double>() - a);
      sum += area;
      if (area.norm() > 1e-4) {
        EXPECT_GT(normals[3 * t].cast<double>().dot(area), 0);
      }
    }
    EXPECT_LT(sum.norm(), 1e-3);
    // Caps are exact: every edge is there as often in one direction as in the other, with the same bits.
    std::map<std::array<float, 6>, int> edges;
    for (const geometry::Triangle& c : surface.triangles)
      for (size_t k = 0; k < 3; ++k) {
        const Vec3f &a = surface.positions[c[k]], &b = surface.positions[c[(k + 1) % 3]];
        const std::array<float, 6> there{a.x(), a.y(), a.z(), b.x(), b.y(), b.z()},
            back{b.x(), b.y(), b.z(), a.x(), a.y(), a.z()};
        if (there == back) continue;  // of a triangle that rounding made flat
        ++edges[std::min(there, back)];
        if (back < there) edges[back] -= 2;
      }
    const auto open = std::count_if(edges.begin(), edges.end(), [](const auto& e) { return e.second != 0; });
    EXPECT_EQ(open, 0) << "of " << edges.size() << " edges in frame " << f;
    EXPECT_EQ(cageOf(surface).tets.size(), 48u);
  }
  for (const ExportFormat format :
       {ExportFormat::Glb, ExportFormat::Usda, ExportFormat::Obj, ExportFormat::Ply})
    EXPECT_TRUE(
        exportRun(run, format, {.output = folder_ / std::to_string(int(format)), .frames = {0, 5, 10}})
            .lost.empty());
}

TEST_F(SoftShown, APageThatStandsAloneHasItAll) {
  const std::string page =
      selfContainedPage("<script id=\"sunder-data\" type=\"application/octet-stream\"></script>", path_);
  EXPECT_GT(page.size(), 1000u);
}

}  // namespace
}  // namespace sunder::show

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/soft/embed/asset.h"

#include "soft/solids.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

Asset ballAsset(EmbedMode mode = EmbedMode::Clipped) {
  Asset asset;
  asset.surface = splitSphere(0.9, 2);
  for (uint32_t t = 0; t < asset.surface.triangles.size(); ++t) {
    asset.attributes.slots.push_back(uint16_t(t % 3));
    for (int c = 0; c < 3; ++c) asset.attributes.uvs.push_back(Vec2f(float(t), float(c)));
  }
  asset.slotMaterials = {"jelly", "wood"};
  asset.cage = makeCage(kuhnCage(2));
  asset.embedded = embedSurface(asset.surface, asset.cage, mode, asset.attributes);
  asset.parts = {{"WALL", "some bytes"}, {"BALL", ""}};
  return asset;
}

}  // namespace

TEST(SoftAsset, ComesBackAsItWas) {
  const TemporaryFolder folder;
  for (const EmbedMode mode : {EmbedMode::Copies, EmbedMode::Clipped}) {
    const Asset asset = ballAsset(mode);
    writeAsset(folder / "ball.soft", asset);
    EXPECT_TRUE(isAsset(folder / "ball.soft"));
    const Asset read = readAsset(folder / "ball.soft");
    EXPECT_EQ(read.surface.positions, asset.surface.positions);
    EXPECT_EQ(read.surface.triangles, asset.surface.triangles);
    EXPECT_EQ(read.attributes.uvs, asset.attributes.uvs);
    EXPECT_EQ(read.attributes.slots, asset.attributes.slots);
    EXPECT_EQ(read.slotMaterials, asset.slotMaterials);
    EXPECT_EQ(read.cage.rest.positions, asset.cage.rest.positions);
    EXPECT_EQ(read.cage.rest.tets, asset.cage.rest.tets);
    EXPECT_EQ(read.cage.neighbours, asset.cage.neighbours);
    EXPECT_EQ(read.embedded.mode, mode);
    EXPECT_EQ(read.embedded.tets, asset.embedded.tets);
    EXPECT_EQ(read.embedded.weights, asset.embedded.weights);
    EXPECT_EQ(read.embedded.rest, asset.embedded.rest);
    EXPECT_EQ(read.embedded.normals, asset.embedded.normals);
    EXPECT_EQ(read.embedded.covectors, asset.embedded.covectors);
    EXPECT_EQ(read.embedded.triangles, asset.embedded.triangles);
    EXPECT_EQ(read.embedded.source, asset.embedded.source);
    EXPECT_EQ(read.embedded.uvs, asset.embedded.uvs);
    EXPECT_EQ(read.embedded.slots, asset.embedded.slots);
    EXPECT_EQ(read.embedded.vertexStart, asset.embedded.vertexStart);
    EXPECT_EQ(read.embedded.triangleStart, asset.embedded.triangleStart);
    ASSERT_NE(read.part("WALL"), nullptr);
    EXPECT_EQ(read.part("WALL")->bytes, "some bytes");
    EXPECT_EQ(read.part("NONE"), nullptr);
    writeAsset(folder / "again.soft", read);
    EXPECT_EQ(readTextFile(folder / "again.soft"), readTextFile(folder / "ball.soft"));
  }
}

TEST(SoftAsset, DamageIsAnError) {
  const TemporaryFolder folder;
  writeAsset(folder / "ball.soft", ballAsset());
  const std::string good = readTextFile(folder / "ball.soft");
  const auto refused = [&](const std::string& bytes) {
    writeFile(folder / "bad.soft", bytes);
    try {
      readAsset(folder / "bad.soft");
      return false;
    } catch (const Error& error) {
      EXPECT_NE(error.file(), "");
      return true;
    }
  };
  for (size_t length = 0; length < good.size(); length += length < 40 ? 1 : 9973)
    EXPECT_TRUE(refused(good.substr(0, length))) << length;
  for (size_t at = 0; at < good.size(); at += at < 80 ? 1 : 9941) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 0x41);
    if (at >= 12 && at < 16) continue;  // kept for later versions
    EXPECT_TRUE(refused(bad)) << at;
  }
  EXPECT_THROW(readAsset(folder / "none.soft"), Error);
  EXPECT_FALSE(isAsset(folder / "none.soft"));
}

TEST(SoftAsset, ListsThatDoNotFitAreNotWritten) {
  const TemporaryFolder folder;
  const auto refused = [&](auto&& change) {
    Asset asset = ballAsset();
    change(asset);
    EXPECT_THROW(writeAsset(folder / "bad.soft", asset), Error);
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.soft"));
  };
  refused([](Asset& a) { a.embedded.weights.pop_back(); });
  refused([](Asset& a) { a.embedded.triangles[5][1] += 1000; });
  refused([](Asset& a) { a.embedded.source[0] = 100000; });
  refused([](Asset& a) { a.embedded.weights[3] *= 2; });
  refused([](Asset& a) { a.embedded.vertexStart.back() = 0; });
  refused([](Asset& a) { a.surface.triangles[0][0] = 100000; });
  refused([](Asset& a) { a.attributes.uvs.pop_back(); });
  refused([](Asset& a) { a.slotMaterials.pop_back(); });
  refused([](Asset& a) { a.parts[1].tag = "WALL"; });
  refused([](Asset& a) { a.parts[1].tag = "LONG TAG"; });
  refused([](Asset& a) { a.cage = {}; });
}

}  // namespace sunder::soft

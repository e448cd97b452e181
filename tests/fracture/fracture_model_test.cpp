#include "sunder/fracture/model/fracture_model.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/tet/box_tets.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

const Box3 kPlate{Vec3(-0.2, -0.01, -0.1), Vec3(0.2, 0.01, 0.1)};

std::vector<Impact> blow(double impulse) {
  Impact impact;
  impact.point = {0.02, 0.01, 0.01};
  impact.impulse = {0, -impulse, 0};
  impact.speed = 5;
  // The plate lies on its ends.
  Impact left = impact, right = impact;
  left.point = {-0.19, -0.01, 0};
  right.point = {0.19, -0.01, 0};
  left.impulse = right.impulse = {0, 0.5 * impulse, 0};
  return {impact, left, right};
}

// Whatever the model: what its plan makes again is what it made, also through bytes.
TEST(FractureModel, PlansMakeTheSamePiecesAgain) {
  const CrackedMesh mesh(tet::boxTets(kPlate, 0.06));
  BrittleMaterial glass;
  glass.elastic = {70e9, 0.2, 2500};
  glass.strength = 3e7;
  FractureSettings settings;
  settings.finePieces = settings.everyStress = settings.refineCracks = false;
  settings.cycles = 0;
  const FractureModelPtr models[] = {
      makeStressModel(glass, settings, std::make_shared<AnalysisPool>()),
      makeVoronoiModel({.sites = 7, .impulse = 1, .focus = 1, .seed = 5, .mostCracks = 32})};
  for (const FractureModelPtr& model : models) {
    const std::vector<Impact> impacts = blow(20), weak = blow(1e-6);
    StruckBody body{mesh, kPlate, Vec3::Zero(), 4.0, true, impacts, 0.06, 1e-3, {}};
    EXPECT_TRUE(model->mayBreak(body));
    uint32_t next = 1;
    const BreakOutcome outcome = model->strike(body, next);
    ASSERT_TRUE(outcome.broken.has_value());
    EXPECT_GT(outcome.broken->pieces, 1u);
    EXPECT_EQ(model->problemOf(outcome.plan), "");
    std::string bytes;
    ByteWriter out(bytes);
    save(out, outcome.plan);
    ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "plan");
    const BreakPlan plan = loadPlan(in, mesh.size());
    EXPECT_TRUE(in.atEnd());
    uint32_t again = 1;
    const BrokenBody repeated = model->repeat(body, plan, again);
    EXPECT_EQ(repeated.pieces, outcome.broken->pieces);
    EXPECT_EQ(repeated.piece, outcome.broken->piece);
    EXPECT_EQ(repeated.cracked.tetSource, outcome.broken->cracked.tetSource);
    body.impacts = weak;
    EXPECT_FALSE(model->mayBreak(body));
    // A plan of the other model is refused.
    EXPECT_NE(models[model == models[0] ? 1 : 0]->problemOf(plan), "");
    ByteReader small(std::as_bytes(std::span(bytes.data(), bytes.size())), "plan");
    if (!plan.cracks.empty()) {
      EXPECT_THROW(loadPlan(small, 3), Error);
    }
  }
}

// Cells are for whole bodies: their pieces do not break again.
TEST(FractureModel, VoronoiBreaksOnce) {
  const CrackedMesh mesh(tet::boxTets(kPlate, 0.05));
  const std::vector<Impact> impacts = blow(20);
  const FractureModelPtr model = makeVoronoiModel({});
  EXPECT_TRUE(model->mayBreak({mesh, kPlate, Vec3::Zero(), 4.0, true, impacts, 0.05, 1e-3, {}}));
  EXPECT_FALSE(model->mayBreak({mesh, kPlate, Vec3::Zero(), 4.0, false, impacts, 0.05, 1e-3, {}}));
}

}  // namespace
}  // namespace sunder::fracture

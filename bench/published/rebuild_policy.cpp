#include "bench/published/rebuild_policy.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

namespace sunder::published {

void RebuildPolicy::measured(TreeAction done, double measure, uint32_t leaves) {
  if (!std::isfinite(measure) || measure < 0)
    throw Error(ErrorKind::Usage, "the measure of a tree must be a finite number, not negative");
  ++sinceReorder_;
  if (done == TreeAction::Rebuild) {
    freshMorton_ = fresh_ = measure;
    mortonLoss_ = 0;
    selected_ = false;
  } else if (done == TreeAction::Reorder) {
    freshSelection_ = fresh_ = measure;
    mortonLoss_ = selectionLoss_ = 0;
    selected_ = true;
    sinceReorder_ = 0;
  } else if (fresh_ < 0) {
    fresh_ = measure;
  }
  // Selection may turn out no better than expected from a tree that was made long ago: the fresh measures
  // follow the scene, since a change of scene shows in the next rebuild.
  const double morton = freshMorton_ < 0 ? fresh_ : freshMorton_;
  const double selection =
      freshSelection_ < 0 ? settings_.expectedSelection * morton : std::min(freshSelection_, morton);
  next_ = TreeAction::Refit;
  if (settings_.rule == RebuildSettings::Rule::Threshold) {
    if (measure > settings_.rebuildFactor * fresh_) next_ = TreeAction::Rebuild;
    const bool wantsOrder = !selected_ && done == TreeAction::Rebuild
                                ? measure > settings_.reorderFactor * selection
                                : selected_ && measure > settings_.rebuildFactor * fresh_;
    if (wantsOrder && sinceReorder_ >= settings_.reorderInterval) next_ = TreeAction::Reorder;
    return;
  }
  mortonLoss_ += std::max(0.0, measure - morton);
  selectionLoss_ += std::max(0.0, measure - selection);
  const double size = leaves;
  if (selectionLoss_ > (settings_.reorderPrice - settings_.refitPrice) * size)
    next_ = TreeAction::Reorder;
  else if (mortonLoss_ > (settings_.rebuildPrice - settings_.refitPrice) * size)
    next_ = TreeAction::Rebuild;
}

}  // namespace sunder::published

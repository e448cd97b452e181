#include "sunder/cut/change.h"

#include "sunder/base/index.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/rows.h"

namespace sunder::cut {

geometry::TopologyChange changeOf(const CutResult& result, const geometry::BodyRecord& body) {
  using geometry::u32;
  geometry::TopologyChange change;
  change.kind = geometry::ChangeKind::Cut;
  change.disappeared = {body};
  const auto parts =
      geometry::splitComponents(result.mesh, geometry::Components{result.fragments, result.fragment});
  for (uint32_t i = 0; i < parts.size(); ++i) {
    const geometry::SoupPart& part = parts[i];
    geometry::AppearedBody child;
    child.body = {geometry::childId(body.id, i), u32(part.mesh.positions.size()), u32(part.mesh.faceCount()),
                  0};
    child.parents = {0};
    child.ordinal = i;
    change.appeared.push_back(child);
    for (const uint32_t v : part.vertexSource)
      change.vertexSource.push_back(result.vertexFrom[v] == VertexFrom::Mesh ? result.sourceVertex[v]
                                                                             : kNoIndex);
    for (const uint32_t f : part.faceSource)
      change.faceSource.push_back(result.fromCutter[f] ? kNoIndex : result.sourceFace[f]);
  }
  return change;
}

}  // namespace sunder::cut

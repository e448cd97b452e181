// The result of an analysis as a VTK file (.vtu) for ParaView and others: tetrahedra with their stress and,
// per vertex, displacement, stress and largest principal stress with its direction.
#pragma once

#include "sunder/fem/recovery.h"

#include <filesystem>
#include <span>

namespace sunder::fem {

// Written whole or not at all. Stress has six components in VTK's order: xx, yy, zz, xy, yz, xz.
// `fractions`, if given: how much of each tetrahedron is there.
void writeStressFile(const std::filesystem::path& path, const ElasticBody& body,
                     std::span<const Vec3> displacements, const StressRecovery& recovery,
                     std::span<const double> fractions = {});

}  // namespace sunder::fem

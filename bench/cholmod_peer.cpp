#include "bench/cholmod_peer.h"

#include <string>

#ifdef SUNDER_HAS_CHOLMOD
#include <Eigen/CholmodSupport>
#include <Eigen/SparseCore>
#endif

namespace sunder::bench {

#ifdef SUNDER_HAS_CHOLMOD

namespace {

Eigen::SparseMatrix<double> lowerTriangle(const fem::BlockMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  for (uint32_t i = 0; i < matrix.rows(); ++i) {
    uint32_t slot = matrix.pattern().lowerStart(i);
    for (const uint32_t j : matrix.pattern().lowerRow(i)) {
      const Mat3& block = matrix.block(slot++);
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          if (i != j || a >= b) entries.emplace_back(int(3 * i) + a, int(3 * j) + b, block(a, b));
    }
  }
  const auto n = static_cast<Eigen::Index>(3 * matrix.rows());
  Eigen::SparseMatrix<double> lower(n, n);
  lower.setFromTriplets(entries.begin(), entries.end());
  return lower;
}

template <class Solver>
void measure(Report& report, const Options& options, const Eigen::SparseMatrix<double>& lower, size_t tets,
             const std::string& name) {
  const auto add = [&](const std::string& what, double seconds) {
    report.add({.name = "fem/" + what + "/" + name,
                .size = tets,
                .metric = "time",
                .value = 1e6 * seconds,
                .unit = "us"});
  };
  Solver solver;
  add("analyse+factor", bestSeconds(options, [&] {
        solver.analyzePattern(lower);
        solver.factorize(lower);
      }));
  add("factor", bestSeconds(options, [&] { solver.factorize(lower); }));
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(lower.rows());
  Eigen::VectorXd x;
  add("solve", bestSeconds(options, [&] { x = solver.solve(b); }));
}

}  // namespace

void addCholmodRows(Report& report, const Options& options, const fem::BlockMatrix& matrix, size_t tets) {
  const Eigen::SparseMatrix<double> lower = lowerTriangle(matrix);
  measure<Eigen::CholmodSimplicialLDLT<Eigen::SparseMatrix<double>>>(report, options, lower, tets,
                                                                     "cholmod simplicial");
  measure<Eigen::CholmodSupernodalLLT<Eigen::SparseMatrix<double>>>(report, options, lower, tets,
                                                                    "cholmod supernodal");
}

#else

void addCholmodRows(Report& report, const Options&, const fem::BlockMatrix&, size_t) {
  report.missingPeer("CHOLMOD");
}

#endif

}  // namespace sunder::bench

// Supernodal Cholesky of matrices of 3x3 blocks. Vertices are ordered by approximate minimum degree on the
// graph of vertices, which is nine times smaller than that of unknowns; columns with (nearly) the same rows
// are dense panels (supernodes, with some zeros taken in), factored left-looking: Ng and Peyton 1993, "Block
// sparse Cholesky algorithms on advanced uniprocessor computers"; Ashcraft and Grimes 1989 for the zeros.
// Once all are factored, panels are turned into [L^-1; B L^-1] (partitioned inverse: Alvarado, Pothen and
// Schreiber 1993), so that substitutions are products of dense matrices, without chains of dependent numbers.
// Dense kernels are vectors of four doubles on every target, so bits do not depend on the machine.
//
// Supernodes of the same level of the elimination tree are factored in parallel where the matrix is large;
// same bits for any number of threads. Memory is kept from one matrix to the next.
#pragma once

#include "sunder/base/scratch_pool.h"
#include "sunder/fem/solver.h"

#include <cstdint>
#include <vector>

namespace sunder::fem {

// Columns first .. first + width - 1; below them the rows rows[rowStart ..]. The panel is column-major:
// 3 * width columns, `lead` numbers each, the panel's own rows first.
struct Supernode {
  uint32_t first = 0, width = 0;
  uint32_t rowStart = 0, rowCount = 0;
  uint32_t lead = 0;
  uint64_t panel = 0;
  uint32_t updateStart = 0, updateCount = 0;  // what supernodes below it in the tree add to it
};

struct CholeskyAnalysis {
  uint64_t stamp = 0;           // of the pattern; 0: none
  std::vector<uint32_t> place;  // of every vertex in the order of elimination
  std::vector<Supernode> supernodes;
  std::vector<uint32_t> rows;  // by supernode, ascending
  struct Update {
    uint32_t source, begin, end;  // rows of the source that are columns of the target
  };
  std::vector<Update> updates;
  std::vector<uint32_t> levels, levelStart;  // supernodes by height in the tree
  std::vector<uint64_t> target;  // per slot of the pattern: offset of its block, times two, + 1: transposed
  uint64_t panelSize = 0;        // numbers in all panels
  double flops = 0;              // of the factorisation
  uint32_t tallest = 0;          // numbers in a column of any panel

  struct Work {
    std::vector<uint32_t> parent, ancestor, child, sibling, post, mark, structStart, structure, at, tail;
    std::vector<int> starts, inner;
  } work;
};
void analyse(const SparsePattern& pattern, CholeskyAnalysis& analysis);

class BlockCholesky final : public LinearSolver {
 public:
  std::string_view name() const override { return "block"; }
  void factor(const BlockMatrix& matrix) override;
  void solve(std::span<const Vec3> b, std::span<Vec3> x) override;

  const CholeskyAnalysis& analysis() const { return analysis_; }

 private:
  struct Scratch {
    std::vector<uint32_t> place;
    std::vector<double> update;
  };
  uint32_t factorSupernode(uint32_t s);
  void invertSupernode(uint32_t s);

  CholeskyAnalysis analysis_;
  std::vector<double> panels_, x_, buffer_;
  std::vector<double> diagonal_;  // of the matrix, in the order of elimination
  ScratchPool<Scratch> scratch_;  // one for each thread at work
};

}  // namespace sunder::fem

#include "sunder/rigid/solver/contact_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/rigid/solver/contact_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::rigid::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;
using V = hn::Vec<D>;
using F = hn::Rebind<float, D>;
constexpr uint32_t kWide = uint32_t(hn::MaxLanes(D()));  // 4, or 2: then a block is done in two halves

using Vector = lanes::HWY_NAMESPACE::Lanes3<V>;
using Quad = lanes::HWY_NAMESPACE::Lanes4<V>;

HWY_INLINE V number(double value) { return hn::Set(D(), value); }
HWY_INLINE V load(const float* at) { return hn::PromoteTo(D(), hn::LoadU(F(), at)); }
HWY_INLINE void store(V value, float* at) { hn::StoreU(hn::DemoteTo(F(), value), F(), at); }
HWY_INLINE Vector load(const float (&at)[3][kLanes], uint32_t lane) {
  return {load(at[0] + lane), load(at[1] + lane), load(at[2] + lane)};
}
HWY_INLINE void store(const Vector& v, float (&at)[3][kLanes], uint32_t lane) {
  store(v.x, at[0] + lane);
  store(v.y, at[1] + lane);
  store(v.z, at[2] + lane);
}

// Row `row` of the bodies of the lanes, transposed: component k of all lanes in one vector, and back.
HWY_INLINE Quad gatherRow(const SolverBody* solverBodies, const uint32_t* body, uint32_t row) {
  const D d;
  const auto at = [&](uint32_t lane) {
    return reinterpret_cast<const double*>(solverBodies + body[lane]) + 4 * row;
  };
  if constexpr (kWide == 4) {
    const V a = hn::Load(d, at(0)), b = hn::Load(d, at(1)), c = hn::Load(d, at(2)), e = hn::Load(d, at(3));
    const V ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
    const V ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
    return {hn::ConcatLowerLower(d, ce0, ab0), hn::ConcatLowerLower(d, ce1, ab1),
            hn::ConcatUpperUpper(d, ce0, ab0), hn::ConcatUpperUpper(d, ce1, ab1)};
  } else {
    const V a0 = hn::Load(d, at(0)), a1 = hn::Load(d, at(0) + 2);
    const V b0 = hn::Load(d, at(1)), b1 = hn::Load(d, at(1) + 2);
    return {hn::InterleaveLower(d, a0, b0), hn::InterleaveUpper(d, a0, b0), hn::InterleaveLower(d, a1, b1),
            hn::InterleaveUpper(d, a1, b1)};
  }
}
HWY_INLINE void scatterRow(const Quad& q, SolverBody* solverBodies, const uint32_t* body, uint32_t row,
                           uint32_t lanes) {
  const D d;
  const auto at = [&](uint32_t lane) {
    return reinterpret_cast<double*>(solverBodies + body[lane]) + 4 * row;
  };
  if constexpr (kWide == 4) {
    const V xy0 = hn::InterleaveLower(d, q.x, q.y), xy1 = hn::InterleaveUpper(d, q.x, q.y);
    const V zw0 = hn::InterleaveLower(d, q.z, q.w), zw1 = hn::InterleaveUpper(d, q.z, q.w);
    if (lanes & 1) hn::Store(hn::ConcatLowerLower(d, zw0, xy0), d, at(0));
    if (lanes & 2) hn::Store(hn::ConcatLowerLower(d, zw1, xy1), d, at(1));
    if (lanes & 4) hn::Store(hn::ConcatUpperUpper(d, zw0, xy0), d, at(2));
    if (lanes & 8) hn::Store(hn::ConcatUpperUpper(d, zw1, xy1), d, at(3));
  } else {
    if (lanes & 1) {
      hn::Store(hn::InterleaveLower(d, q.x, q.y), d, at(0));
      hn::Store(hn::InterleaveLower(d, q.z, q.w), d, at(0) + 2);
    }
    if (lanes & 2) {
      hn::Store(hn::InterleaveUpper(d, q.x, q.y), d, at(1));
      hn::Store(hn::InterleaveUpper(d, q.z, q.w), d, at(1) + 2);
    }
  }
}

struct Bodies {
  Vector v, w, moved, turned;
  V inverseMass, i00, i01, i02, i11, i12, i22;

  HWY_INLINE Bodies(const SolverBody* solverBodies, const uint32_t* body) {
    const Quad a = gatherRow(solverBodies, body, 0), b = gatherRow(solverBodies, body, 1),
               c = gatherRow(solverBodies, body, 2), e = gatherRow(solverBodies, body, 3),
               f = gatherRow(solverBodies, body, 4);
    v = {a.x, a.y, a.z};
    w = {b.x, b.y, b.z};
    moved = {c.x, c.y, c.z};
    turned = {e.x, e.y, e.z};
    inverseMass = a.w;
    i00 = b.w, i01 = c.w, i02 = e.w, i11 = f.x, i12 = f.y, i22 = f.z;
  }
  HWY_INLINE void write(SolverBody* solverBodies, const uint32_t* body, uint32_t lanes) const {
    if (!lanes) return;
    scatterRow({v.x, v.y, v.z, inverseMass}, solverBodies, body, 0, lanes);
    scatterRow({w.x, w.y, w.z, i00}, solverBodies, body, 1, lanes);
  }
  HWY_INLINE Vector inertia(const Vector& t) const {
    return {hn::Add(hn::Add(hn::Mul(i00, t.x), hn::Mul(i01, t.y)), hn::Mul(i02, t.z)),
            hn::Add(hn::Add(hn::Mul(i01, t.x), hn::Mul(i11, t.y)), hn::Mul(i12, t.z)),
            hn::Add(hn::Add(hn::Mul(i02, t.x), hn::Mul(i12, t.y)), hn::Mul(i22, t.z))};
  }
};

HWY_INLINE Vector armBetween(const ContactBlock& block, uint32_t lane, const Bodies& p, const Bodies& q) {
  const D d;
  const Vector start = {hn::LoadU(d, block.between[0] + lane), hn::LoadU(d, block.between[1] + lane),
                        hn::LoadU(d, block.between[2] + lane)};
  return start + p.moved - q.moved;
}

// Adds [r]^T I^-1 [r] of the arm r to the symmetric matrix k.
struct Symmetric {
  V xx, xy, xz, yy, yz, zz;
};
HWY_INLINE void addArm(Symmetric& k, const Bodies& body, const Vector& r) {
  // Columns of I^-1 [r], then r x column with the sign turned.
  const V zero = hn::Zero(D());
  const Vector c0 = body.inertia({zero, r.z, hn::Neg(r.y)});  // I^-1 (r x e0)
  const Vector c1 = body.inertia({hn::Neg(r.z), zero, r.x});
  const Vector c2 = body.inertia({r.y, hn::Neg(r.x), zero});
  // k_ij = (r x e_i) . I^-1 (r x e_j)
  k.xx = hn::Add(k.xx, hn::Sub(hn::Mul(r.z, c0.y), hn::Mul(r.y, c0.z)));
  k.xy = hn::Add(k.xy, hn::Sub(hn::Mul(r.z, c1.y), hn::Mul(r.y, c1.z)));
  k.xz = hn::Add(k.xz, hn::Sub(hn::Mul(r.z, c2.y), hn::Mul(r.y, c2.z)));
  k.yy = hn::Add(k.yy, hn::Sub(hn::Mul(r.x, c1.z), hn::Mul(r.z, c1.x)));
  k.yz = hn::Add(k.yz, hn::Sub(hn::Mul(r.x, c2.z), hn::Mul(r.z, c2.x)));
  k.zz = hn::Add(k.zz, hn::Sub(hn::Mul(r.y, c2.x), hn::Mul(r.x, c2.y)));
}

HWY_INLINE V reciprocalOrZero(V x) {
  const D d;
  const V one = number(1);
  const auto positive = hn::Gt(x, hn::Zero(d));
  return hn::IfThenElseZero(positive, hn::Div(one, hn::IfThenElse(positive, x, one)));
}

void Prepare(std::span<ContactBlock> blocks, ContactRow* allRows, const SolverBody* solverBodies) {
  const D d;
  for (ContactBlock& block : blocks) {
    ContactRow* rows = allRows + block.firstRow;
    for (uint32_t lane = 0; lane < kLanes; lane += kWide) {
      const Bodies p(solverBodies, block.p + lane), q(solverBodies, block.q + lane);
      const Vector between = armBetween(block, lane, p, q);
      const V inverseMass = hn::Add(p.inverseMass, q.inverseMass);
      for (uint32_t i = 0; i < block.rows; ++i) {
        ContactRow& row = rows[i];
        const Vector n = load(row.normal, lane), armP = load(row.arm, lane), armQ = armP + between;
        const V zero = hn::Zero(d);
        Symmetric k = {inverseMass, zero, zero, inverseMass, zero, inverseMass};
        addArm(k, p, armP);
        addArm(k, q, armQ);
        const Vector kn = {hn::Add(hn::Add(hn::Mul(k.xx, n.x), hn::Mul(k.xy, n.y)), hn::Mul(k.xz, n.z)),
                           hn::Add(hn::Add(hn::Mul(k.xy, n.x), hn::Mul(k.yy, n.y)), hn::Mul(k.yz, n.z)),
                           hn::Add(hn::Add(hn::Mul(k.xz, n.x), hn::Mul(k.yz, n.y)), hn::Mul(k.zz, n.z))};
        const V nkn = dot(n, kn);
        // The matrix within the tangent plane: the sum of its eigenvalues and of their squares give the
        // larger.
        const V sum = hn::Sub(hn::Add(hn::Add(k.xx, k.yy), k.zz), nkn);
        const V offDiagonal = hn::Add(hn::Add(hn::Mul(k.xy, k.xy), hn::Mul(k.xz, k.xz)), hn::Mul(k.yz, k.yz));
        const V squares =
            hn::Add(hn::Add(hn::Add(hn::Mul(k.xx, k.xx), hn::Mul(k.yy, k.yy)), hn::Mul(k.zz, k.zz)),
                    hn::Add(offDiagonal, offDiagonal));
        const V knkn = dot(kn, kn);
        const V inPlane = hn::Add(hn::Sub(squares, hn::Add(knkn, knkn)), hn::Mul(nkn, nkn));
        const V gap = hn::Sub(hn::Add(inPlane, inPlane), hn::Mul(sum, sum));
        const V largest = hn::Mul(number(0.5), hn::Add(sum, hn::Sqrt(hn::Max(gap, zero))));
        // An empty row of a lane has no normal, and so no mass.
        const V used = dot(n, n);
        store(hn::Mul(reciprocalOrZero(nkn), used), row.normalMass + lane);
        store(hn::Mul(reciprocalOrZero(largest), used), row.frictionMass + lane);
        store(kn, row.coupled, lane);
      }
      if (block.rolls) {
        // Gershgorin's bound on the largest eigenvalue; exact for balls.
        const V xx = hn::Add(p.i00, q.i00), yy = hn::Add(p.i11, q.i11), zz = hn::Add(p.i22, q.i22);
        const V xy = hn::Abs(hn::Add(p.i01, q.i01)), xz = hn::Abs(hn::Add(p.i02, q.i02)),
                yz = hn::Abs(hn::Add(p.i12, q.i12));
        const V bound = hn::Max(hn::Max(hn::Add(hn::Add(xx, xy), xz), hn::Add(hn::Add(yy, xy), yz)),
                                hn::Add(hn::Add(zz, xz), yz));
        store(reciprocalOrZero(bound), block.rollingMass + lane);
      }
    }
  }
}

void WarmStart(std::span<const ContactBlock> blocks, const ContactRow* allRows, SolverBody* solverBodies) {
  const D d;
  for (const ContactBlock& block : blocks) {
    const ContactRow* rows = allRows + block.firstRow;
    for (uint32_t lane = 0; lane < kLanes; lane += kWide) {
      Bodies p(solverBodies, block.p + lane), q(solverBodies, block.q + lane);
      const Vector between = armBetween(block, lane, p, q);
      const V zero = hn::Zero(d);
      Vector sum = {zero, zero, zero}, torque = sum;
      for (uint32_t i = 0; i < block.rows; ++i) {
        const ContactRow& row = rows[i];
        const Vector impulse =
            load(row.friction, lane) + load(row.normal, lane) * load(row.normalImpulse + lane);
        sum = sum + impulse;
        torque = torque + cross(load(row.arm, lane), impulse);
      }
      // The arm of q differs from that of p by the same vector in all rows.
      Vector torqueQ = torque + cross(between, sum);
      if (block.rolls) {
        const Vector rolling = load(block.rollingImpulse, lane);
        torque = torque + rolling;
        torqueQ = torqueQ + rolling;
      }
      p.v = p.v - sum * p.inverseMass;
      p.w = p.w - p.inertia(torque);
      q.v = q.v + sum * q.inverseMass;
      q.w = q.w + q.inertia(torqueQ);
      p.write(solverBodies, block.p + lane, block.writeP >> lane);
      q.write(solverBodies, block.q + lane, block.writeQ >> lane);
    }
  }
}

template <bool kBias>
HWY_INLINE void solve(std::span<ContactBlock> blocks, ContactRow* allRows, SolverBody* solverBodies,
                      const SolveConstants& constants) {
  const D d;
  const V zero = hn::Zero(d), one = number(1), inverseSubstep = number(constants.inverseSubstep);
  const V mostPush = number(-constants.pushSpeed), waitSpeed = number(-constants.waitSpeed);
  for (ContactBlock& block : blocks) {
    ContactRow* rows = allRows + block.firstRow;
    for (uint32_t lane = 0; lane < kLanes; lane += kWide) {
      Bodies p(solverBodies, block.p + lane), q(solverBodies, block.q + lane);
      const Vector between = armBetween(block, lane, p, q);
      const V friction = load(block.friction + lane);
      V pressed = zero;
      for (uint32_t i = 0; i < block.rows; ++i) {
        // There and back: what the order of the contacts favours on one pass it hampers on the other.
        ContactRow& row = rows[kBias ? i : block.rows - 1 - i];
        const Vector n = load(row.normal, lane), armP = load(row.arm, lane), armQ = armP + between;
        Vector relative = (q.v + cross(q.w, armQ)) - (p.v + cross(p.w, armP));
        const V oldImpulse = load(row.normalImpulse + lane), mass = load(row.normalMass + lane);
        const Vector oldFriction = load(row.friction, lane);
        V newImpulse;
        Vector newFriction;
        // What is stored is what is applied: both bodies and the memory see the same number.
        const auto slide = [&](V normalSpeed, V limit) HWY_ATTR {
          newFriction = oldFriction - (relative - n * normalSpeed) * load(row.frictionMass + lane);
          const V squared = dot(newFriction, newFriction);
          const auto slips = hn::Gt(squared, hn::Mul(limit, limit));
          const V scale =
              hn::IfThenElse(slips, hn::Div(limit, hn::Sqrt(hn::IfThenElse(slips, squared, one))), one);
          store(newFriction * scale, row.friction, lane);
          newFriction = load(row.friction, lane);
        };
        const V normalSpeed = dot(n, relative);
        if constexpr (kBias) {
          // Friction first: the normal impulse, which matters more, has the last word.
          slide(normalSpeed, hn::Mul(friction, oldImpulse));
          const V speed = hn::Add(normalSpeed, dot(load(row.coupled, lane), newFriction - oldFriction));
          const V separation = load(row.separation + lane);
          const auto open = hn::Gt(separation, zero);
          // A spring from the first touch on: a slack zone would leave stacks free to sway within it.
          const V push = hn::Max(hn::Mul(load(block.biasRate + lane), separation), mostPush);
          const V bias = hn::IfThenElse(open, hn::Mul(separation, inverseSubstep), push);
          const V massScale = hn::IfThenElse(open, one, load(block.massScale + lane));
          const V impulseScale = hn::IfThenElse(open, zero, load(block.impulseScale + lane));
          newImpulse = hn::Sub(hn::Sub(oldImpulse, hn::Mul(impulseScale, oldImpulse)),
                               hn::Mul(hn::Mul(mass, massScale), hn::Add(speed, bias)));
          // What comes to bounce but was not struck closes in a later substep.
          const auto comes = hn::And(hn::Gt(load(block.bouncy + lane), oldImpulse), hn::Lt(speed, waitSpeed));
          const auto wait = hn::And(comes, hn::Gt(separation, hn::Neg(load(block.slop + lane))));
          store(hn::IfThenZeroElse(wait, hn::Max(newImpulse, zero)), row.normalImpulse + lane);
          newImpulse = load(row.normalImpulse + lane);
        } else {
          // Friction last: it is bounded by the normal impulse that stays.
          const Vector apart = (q.moved + cross(q.turned, armQ)) - (p.moved + cross(p.turned, armP));
          const V separation = hn::Add(load(row.startSeparation + lane), dot(n, apart));
          store(separation, row.separation + lane);
          const V bias = hn::Mul(hn::Max(separation, zero), inverseSubstep);
          // What comes to bounce is left to the impacts of the next substep.
          const auto wait = hn::Gt(load(block.bouncy + lane), oldImpulse);
          newImpulse = hn::IfThenZeroElse(
              wait, hn::Max(hn::Sub(oldImpulse, hn::Mul(mass, hn::Add(normalSpeed, bias))), zero));
          store(newImpulse, row.normalImpulse + lane);
          newImpulse = load(row.normalImpulse + lane);
          store(hn::Add(load(row.total + lane), newImpulse), row.total + lane);
          relative = relative + load(row.coupled, lane) * hn::Sub(newImpulse, oldImpulse);
          slide(dot(n, relative), hn::Mul(friction, newImpulse));
        }
        pressed = hn::Add(pressed, newImpulse);
        const Vector frictionChange = newFriction - oldFriction;

        const Vector change = frictionChange + n * hn::Sub(newImpulse, oldImpulse);
        p.v = p.v - change * p.inverseMass;
        p.w = p.w - p.inertia(cross(armP, change));
        q.v = q.v + change * q.inverseMass;
        q.w = q.w + q.inertia(cross(armQ, change));
      }
      if (block.rolls) {
        const Vector old = load(block.rollingImpulse, lane);
        Vector roll = old - (q.w - p.w) * load(block.rollingMass + lane);
        const V limit = hn::Mul(load(block.rolling + lane), pressed);
        const V squared = dot(roll, roll);
        const auto slips = hn::Gt(squared, hn::Mul(limit, limit));
        roll =
            roll * hn::IfThenElse(slips, hn::Div(limit, hn::Sqrt(hn::IfThenElse(slips, squared, one))), one);
        store(roll, block.rollingImpulse, lane);
        const Vector change = load(block.rollingImpulse, lane) - old;
        p.w = p.w - p.inertia(change);
        q.w = q.w + q.inertia(change);
      }
      p.write(solverBodies, block.p + lane, block.writeP >> lane);
      q.write(solverBodies, block.q + lane, block.writeQ >> lane);
    }
  }
}

void Solve(std::span<ContactBlock> blocks, ContactRow* rows, SolverBody* solverBodies,
           const SolveConstants& constants) {
  solve<true>(blocks, rows, solverBodies, constants);
}
void Relax(std::span<ContactBlock> blocks, ContactRow* rows, SolverBody* solverBodies,
           const SolveConstants& constants) {
  solve<false>(blocks, rows, solverBodies, constants);
}

}  // namespace sunder::rigid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::rigid::kernels {

HWY_EXPORT(Prepare);
HWY_EXPORT(WarmStart);
HWY_EXPORT(Solve);
HWY_EXPORT(Relax);

void prepareContacts(std::span<ContactBlock> blocks, ContactRow* rows, const SolverBody* solverBodies) {
  HWY_DYNAMIC_DISPATCH(Prepare)(blocks, rows, solverBodies);
}
void refreshContacts(std::span<ContactBlock> blocks, ContactRow* rows, const SolverBody* solverBodies) {
  constexpr double kTurned = 0.05;  // rad
  for (size_t b = 0; b < blocks.size(); ++b) {
    bool turned = false;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      for (const SolverBody* m : {solverBodies + blocks[b].p[lane], solverBodies + blocks[b].q[lane]})
        turned = turned || (m->uneven > 0 && m->turnedBy().squaredNorm() > kTurned * kTurned);
    }
    if (turned) prepareContacts(blocks.subspan(b, 1), rows, solverBodies);
  }
}
void warmStartContacts(std::span<const ContactBlock> blocks, const ContactRow* rows,
                       SolverBody* solverBodies) {
  HWY_DYNAMIC_DISPATCH(WarmStart)(blocks, rows, solverBodies);
}
void solveContacts(std::span<ContactBlock> blocks, ContactRow* rows, SolverBody* solverBodies,
                   const SolveConstants& constants) {
  HWY_DYNAMIC_DISPATCH(Solve)(blocks, rows, solverBodies, constants);
}
void relaxContacts(std::span<ContactBlock> blocks, ContactRow* rows, SolverBody* solverBodies,
                   const SolveConstants& constants) {
  HWY_DYNAMIC_DISPATCH(Relax)(blocks, rows, solverBodies, constants);
}

}  // namespace sunder::rigid::kernels
#endif

// Exact polynomials in one variable with integer coefficients, and their real roots in [0, 1] as isolating
// intervals with dyadic ends (Descartes' rule and bisection, Collins and Akritas 1976). For the exact oracle
// of the continuous collision tests; plain and slow.
#pragma once

#include <algorithm>
#include <vector>

#include <gmpxx.h>

namespace sunder::spatial::exact {

using Poly =
    std::vector<mpz_class>;  // coefficient i belongs to t^i; no leading zeros; empty is the zero polynomial

inline Poly& trim(Poly& p) {
  while (!p.empty() && p.back() == 0) p.pop_back();
  return p;
}

inline Poly combine(const Poly& a, const Poly& b, int sign) {
  Poly r = a;
  if (r.size() < b.size()) r.resize(b.size());
  for (size_t i = 0; i < b.size(); ++i) r[i] += sign * b[i];
  return trim(r);
}
inline Poly operator+(const Poly& a, const Poly& b) { return combine(a, b, 1); }
inline Poly operator-(const Poly& a, const Poly& b) { return combine(a, b, -1); }
inline Poly operator*(const Poly& a, const Poly& b) {
  if (a.empty() || b.empty()) return {};
  Poly r(a.size() + b.size() - 1);
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) r[i + j] += a[i] * b[j];
  return trim(r);
}

inline Poly primitive(Poly p) {
  mpz_class g = 0;
  for (const mpz_class& c : p) g = gcd(g, c);
  if (g > 1)
    for (mpz_class& c : p) c /= g;
  return p;
}

// Remainder of a scaled by a power of b's leading coefficient, and the quotient of the same.
inline Poly remainder(Poly a, const Poly& b, Poly* quotient = nullptr) {
  if (quotient) quotient->assign(a.size() >= b.size() ? a.size() - b.size() + 1 : 0, 0);
  while (a.size() >= b.size()) {
    const mpz_class lead = a.back();
    const size_t shift = a.size() - b.size();
    for (mpz_class& c : a) c *= b.back();
    for (size_t i = 0; i < b.size(); ++i) a[i + shift] -= lead * b[i];
    if (quotient) {
      for (mpz_class& c : *quotient) c *= b.back();
      (*quotient)[shift] += lead;
    }
    trim(a);
  }
  return a;
}

inline Poly commonDivisor(Poly a, Poly b) {
  a = primitive(a);
  b = primitive(b);
  if (a.size() < b.size()) std::swap(a, b);
  while (!b.empty()) {
    Poly r = primitive(remainder(a, b));
    a = std::move(b);
    b = std::move(r);
  }
  return a;
}

inline Poly squareFree(const Poly& p) {
  Poly d;
  for (size_t i = 1; i < p.size(); ++i) d.push_back(p[i] * static_cast<unsigned long>(i));
  const Poly g = commonDivisor(p, d);
  if (g.size() <= 1) return primitive(p);
  Poly q;
  remainder(p, g, &q);
  return primitive(trim(q));
}

// x -> p(x + 1)
inline Poly shifted(Poly p) {
  for (size_t i = 0; i + 1 < p.size(); ++i)
    for (size_t j = p.size() - 1; j-- > i;) p[j] += p[j + 1];
  return p;
}
// x -> 2^degree p(x / 2)
inline Poly halved(Poly p) {
  for (size_t i = 0; i < p.size(); ++i) p[i] <<= p.size() - 1 - i;
  return p;
}
// x -> 2^(k degree) p((x + m) / 2^k)
inline Poly onInterval(const Poly& p, const mpz_class& m, unsigned k) {
  Poly r(p);
  for (size_t i = 0; i < r.size(); ++i) r[i] <<= k * (r.size() - 1 - i);
  for (size_t i = 0; i + 1 < r.size(); ++i)
    for (size_t j = r.size() - 1; j-- > i;) r[j] += m * r[j + 1];
  return r;
}
// Coefficients whose signs are those of the Bernstein coefficients of p on [0, 1], last first.
inline Poly bernsteinSigns(Poly p) {
  std::reverse(p.begin(), p.end());
  return shifted(p);
}
inline int variations(const Poly& p) {
  int count = 0, last = 0;
  for (const mpz_class& c : bernsteinSigns(p)) {
    const int s = sgn(c);
    if (s != 0 && last != 0 && s != last) ++count;
    if (s != 0) last = s;
  }
  return count;
}

// A root in [0, 1] of the square-free `of`: exactly m / 2^k, or the only one inside (m / 2^k, (m + 1) / 2^k).
struct Root {
  Poly of;
  Poly local;  // `of` on the interval, without roots at its left end
  mpz_class m;
  unsigned k = 0;
  bool exactly = false;

  void refine() {
    if (exactly) return;
    const Poly left = halved(local), right = shifted(left);
    ++k;
    m *= 2;
    if (right[0] == 0) {
      m += 1;
      exactly = true;
    } else if (sgn(right[0]) == sgn(local[0])) {
      m += 1;
      local = right;
    } else {
      local = left;
    }
  }
  double lower() const { return mpq_class(m, mpz_class(1) << k).get_d(); }
  double upper() const { return exactly ? lower() : mpq_class(m + 1, mpz_class(1) << k).get_d(); }
};

// The distinct roots of p (not zero) in [0, 1], ascending.
inline std::vector<Root> rootsOf(const Poly& p) {
  const Poly of = squareFree(p);
  std::vector<Root> roots;
  const auto isolate = [&](auto&& self, Poly q, const mpz_class& m, unsigned k) -> void {
    if (q.size() <= 1) return;
    if (q[0] == 0) {
      roots.push_back({of, {}, m, k, true});
      q.erase(q.begin());
    }
    const int v = variations(q);
    if (v == 1) roots.push_back({of, q, m, k, false});
    if (v <= 1) return;
    const Poly left = halved(q);
    self(self, left, m * 2, k + 1);
    self(self, shifted(left), m * 2 + 1, k + 1);
  };
  isolate(isolate, of, 0, 0);
  mpz_class atOne = 0;
  for (const mpz_class& c : of) atOne += c;
  if (of.size() > 1 && atOne == 0) roots.push_back({of, {}, 1, 0, true});
  return roots;
}

// The sign of w at the root, which may be refined on the way.
inline int signAt(const Poly& w, Root& root) {
  if (w.empty()) return 0;
  for (int round = 0;; ++round) {
    const Poly local = onInterval(w, root.m, root.k);
    if (root.exactly) return sgn(local[0]);
    const Poly b = bernsteinSigns(local);
    if (std::all_of(b.begin(), b.end(), [](const mpz_class& c) { return c > 0; })) return 1;
    if (std::all_of(b.begin(), b.end(), [](const mpz_class& c) { return c < 0; })) return -1;
    if (round == 12) {
      const Poly common = commonDivisor(root.of, w);
      if (common.size() > 1) {
        Poly c = onInterval(common, root.m, root.k);
        if (c[0] == 0) c.erase(c.begin());
        if (variations(c) % 2 == 1) return 0;
      }
    }
    root.refine();
  }
}

}  // namespace sunder::spatial::exact

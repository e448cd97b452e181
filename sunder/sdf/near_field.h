// A field answered from cached distance samples (Field::near): exact answers at the corners of a lattice,
// found when they are first needed, and for every other point what is near the cached distance samples around
// it. For builders that ask millions of questions about one domain and measure the outcome against the field
// itself.
//
// Guarantee: an answer depends on the point alone, not on threads nor on what was asked before; signs are
// exact. Values may be wrong where a part of the surface that is near no cached distance sample comes
// nearest: compare with the field.
#pragma once

#include "sunder/sdf/field.h"

namespace sunder::sdf {

class NearField : public Field {
 public:
  // Exact answers that were needed so far, cached distance samples and others: what the values cost.
  virtual uint64_t searches() const = 0;
};

}  // namespace sunder::sdf

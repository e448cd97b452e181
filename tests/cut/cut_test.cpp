#include "sunder/cut/cut.h"
TEST(Cut, Builds) {}

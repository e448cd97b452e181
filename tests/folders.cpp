#include "folders.h"

namespace sunder {

std::filesystem::path sharedData() { return SUNDER_SHARED_DATA; }

std::filesystem::path sourceFolder() { return SUNDER_SOURCE_DIR; }

}  // namespace sunder

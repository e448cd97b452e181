// Where tests find files. The folders are compiled into one source, so that the others are the same in every
// clone and a compiler cache knows them.
#pragma once

#include <filesystem>

namespace sunder {

std::filesystem::path sharedData();    // public test data; need not exist
std::filesystem::path sourceFolder();  // the root of the project

}  // namespace sunder

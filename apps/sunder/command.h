// What the verbs of the `sunder` command share. A verb is one file: it adds its options to a CLI11
// sub-command and hands back the function that does the job. Results go to standard output (a table for
// people, one JSON object with --json), logs and errors to standard error.
#pragma once

#include "sunder/base/profiler.h"
#include "sunder/geometry/mesh.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

namespace sunder::cli {

using Json = nlohmann::ordered_json;

// The options that every verb takes.
struct Settings {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  unsigned threads = 0;  // 0: all cores
};

// A verb's job: does the work with the settings and returns the exit code.
using Job = std::function<int(const Settings&)>;

struct Verb {
  CLI::App* app;
  Job job;
};

Verb addRun(CLI::App& root);
Verb addCheck(CLI::App& root);
Verb addImport(CLI::App& root);
Verb addReplay(CLI::App& root);
Verb addRepair(CLI::App& root);
Verb addShape(CLI::App& root);
Verb addInfo(CLI::App& root);
Verb addConvert(CLI::App& root);
Verb addClean(CLI::App& root);
Verb addCollide(CLI::App& root);
Verb addQuery(CLI::App& root);
Verb addSdf(CLI::App& root);
Verb addSurface(CLI::App& root);
Verb addVoxelize(CLI::App& root);
Verb addTet(CLI::App& root);
Verb addStress(CLI::App& root);
Verb addFracture(CLI::App& root);
Verb addCut(CLI::App& root);
Verb addSlice(CLI::App& root);
Verb addRender(CLI::App& root);
Verb addView(CLI::App& root);
Verb addExport(CLI::App& root);
Verb addBench(CLI::App& root);
Verb addDescribe(CLI::App& root);
Verb addCompletion(CLI::App& root);

// The object as text with an indent of 2, and the same printed on standard output.
std::string jsonText(const Json& object);
void printJson(const Json& object);

// Prints to standard output unless --quiet or --json asked for silence there.
void say(const Settings& settings, const std::string& text);

// Notes on what a reader or writer changed: warnings for people, an array for --json.
void reportNotes(const Settings& settings, const std::string& file, const std::vector<std::string>& notes);

// The faces of a mesh file. Throws Error (Geometry) when there are none, or a coordinate is beyond 1e37,
// which is as far as trees reach.
geometry::PolygonSoup readSurface(const std::string& path, const Settings& settings);

// Seconds of each stage, by name.
Json stagesJson(const Profiler& profiler);

// For options that are distances: a number from 0 to 1e36.
CLI::Validator distanceCheck();
// A number above 0, and one of at least 0. CLI11's own name the largest double there is, in 309 digits.
CLI::Validator positiveCheck();
CLI::Validator notNegativeCheck();

// How many things of so many bytes each a command may make: its budget of work, or what fits into the memory
// there is (memory_limit.h) where that is less.
uint64_t affordable(double budget, double bytesEach);

}  // namespace sunder::cli

// What the verbs of the `sunder` command share. A verb is one file: it declares its options (options.h) and
// hands back the function that does the job. Results go to standard output (a table for
// people, one JSON object with --json), logs and errors to standard error.
#pragma once

#include "sunder/base/json.h"
#include "sunder/base/profiler.h"
#include "sunder/geometry/mesh.h"

#include "options.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sunder::cli {

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
  App* app;
  Job job;
};

Verb addRun(App& root);
Verb addCheck(App& root);
Verb addImport(App& root);
Verb addReplay(App& root);
Verb addRepair(App& root);
Verb addShape(App& root);
Verb addInfo(App& root);
Verb addConvert(App& root);
Verb addClean(App& root);
Verb addCollide(App& root);
Verb addQuery(App& root);
Verb addSdf(App& root);
Verb addSurface(App& root);
Verb addVoxelize(App& root);
Verb addTet(App& root);
Verb addEmbed(App& root);
Verb addStress(App& root);
Verb addFracture(App& root);
Verb addCut(App& root);
Verb addSlice(App& root);
Verb addRender(App& root);
Verb addView(App& root);
Verb addExport(App& root);
Verb addBench(App& root);
Verb addDescribe(App& root);
Verb addCompletion(App& root);

// The object as text with an indent of 2, its members in the order in which they came, and the same printed
// on standard output.
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

// How many things of so many bytes each a command may make: its budget of work, or what fits into the memory
// there is (memory_limit.h) where that is less.
uint64_t affordable(double budget, double bytesEach);

}  // namespace sunder::cli

// sunder query MESH closest|within|nearest|ray|inside
#include "query.h"

#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/text.h"
#include "sunder/base/work.h"
#include "sunder/meshio/mesh_file.h"

#include "command.h"
#include "query_answers.h"
#include "query_input.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

using namespace spatial;

constexpr Question kQuestions[] = {
    {"closest", "the nearest point of the surface, and the distance with its sign", false, "--unsigned",
     "point,x,y,z,distance,signed_distance,closest_x,closest_y,closest_z,triangle,face,feature,u,v,w"},
    {"within", "all triangles within a distance", false, "--distance", "point,x,y,z,triangle,face,distance"},
    {"nearest", "the nearest triangles or vertices, the nearest first", false, "--count --of",
     "point,x,y,z,rank,triangle,face,distance"},
    {"ray", "where rays hit the surface", true, "--hits --max-distance",
     "ray,ox,oy,oz,dx,dy,dz,hit,distance,hit_x,hit_y,hit_z,triangle,face,front,u,v,w"},
    {"inside", "whether a point is inside, by the winding number", false, "--exact",
     "point,x,y,z,winding_number,inside"},
};
constexpr double kBytesPerRow = 400;  // of the longest kind, as JSON

struct QueryOptions : QuerySettings {
  std::string mesh, output;
  std::vector<std::string> points, pointFiles, rays, rayFiles;
  size_t rows = 20;
  double budget = 1e9;                                    // points or rays, and answers
  std::vector<std::pair<Option*, std::string_view>> own;  // those that belong to one question
  Option* distanceOption = nullptr;
};

void check(const QueryOptions& options, const Question& question) {
  for (const auto& [option, owner] : options.own)
    if (option->count() > 0 && owner != question.name)
      throw Error(ErrorKind::Usage,
                  fmt::format("{} belongs to '{}', not to '{}'", option->name(), owner, question.name));
  const bool points = !options.points.empty() || !options.pointFiles.empty();
  const bool rays = !options.rays.empty() || !options.rayFiles.empty();
  if (question.rays ? points : rays)
    throw Error(ErrorKind::Usage,
                fmt::format("'{}' is asked of {}", question.name,
                            question.rays ? "rays, but points were given" : "points, but rays were given"));
  if (!points && !rays)
    throw Error(ErrorKind::Usage,
                fmt::format("'{}' has no {} to answer for", question.name, question.rays ? "ray" : "point"))
        .hint(question.rays ? "give --ray ox,oy,oz,dx,dy,dz or --rays FILE"
                            : "give --point x,y,z or --points FILE");
  if (question.name == "within" && options.distanceOption->count() == 0)
    throw Error(ErrorKind::Usage, "'within' wants --distance");
  if (!options.output.empty() && std::filesystem::path(options.output).extension() != ".csv")
    throw Error(ErrorKind::Unsupported, "answers are written as CSV only")
        .inFile(options.output)
        .hint("give a name that ends in .csv");
}

QueryTarget makeTarget(const QueryOptions& options, const Settings& settings) {
  QueryTarget target;
  {
    const ProfileScope scope("read");
    if (options.vertices()) {
      meshio::MeshFile file = meshio::readMesh(options.mesh);
      reportNotes(settings, options.mesh, file.notes);
      target.mesh.positions =
          std::move(file.surface.positions.empty() ? file.volume.positions : file.surface.positions);
      if (target.mesh.positions.empty())
        throw Error(ErrorKind::Geometry, "has no vertices").inFile(options.mesh);
      return target;
    }
    try {
      target.mesh = geometry::toTriMesh(readSurface(options.mesh, settings), &target.face);
      if (target.mesh.triangles.empty())
        throw Error(ErrorKind::Geometry, "has no faces").inFile(options.mesh);
    } catch (Error& e) {
      if (options.question == "nearest") e.hint("'--of vertices' does without faces");
      throw;
    }
  }
  const ProfileScope scope("build");
  target.query = MeshQuery(target.mesh);
  return target;
}

struct Outcome {
  uint64_t queries = 0, positive = 0;  // those that were answered
  double seconds = 0;                  // of the queries alone
};

// In batches that start small and grow while their answers are few: so that memory stays small when each of
// many points has all triangles for an answer.
//
// Ends once the answers, and for each item `workEach`, are as many as the budget. Batches do not depend on
// time or threads, so neither does the number of items that were answered.
template <class Item, class Answer>
Outcome inBatches(std::span<const Item> items, const AnswerRows& rows, const char* unit, size_t batch,
                  double workEach, double budget, Answer&& answer) {
  Work work("asking", items.size(), unit);
  constexpr size_t kLargestBatch = 1 << 17;
  constexpr uint64_t kFew = 1 << 20, kMany = 1 << 22;
  Outcome outcome;
  for (size_t first = 0; first < items.size();) {
    const double left = budget - workEach * double(first) - double(rows.count());
    if (!(left > 0)) break;
    // At least one item, and no more of them than the budget pays for if they have no answers.
    const double affordable = std::max(1.0, std::ceil(left / workEach));
    const size_t size =
        static_cast<size_t>(std::min({double(batch), double(items.size() - first), affordable}));
    const uint64_t before = rows.count();
    outcome.positive += answer(items.subspan(first, size), first);
    const uint64_t added = rows.count() - before;
    if (added < kFew) batch = std::max(batch, std::min(2 * batch, kLargestBatch));
    if (added > kMany) batch = std::max<size_t>(1, batch / 4);
    first += size;
    work.set(first);
    outcome.queries = first;
  }
  return outcome;
}

Outcome ask(const QueryOptions& options, const Question& question, QueryTarget& target, double budget,
            AnswerRows& rows, std::span<const Vec3> points, std::span<const Ray> rays) {
  if (options.needsWinding()) {
    const ProfileScope scope("build");
    target.winding.emplace(target.query);
  }
  Outcome outcome;
  constexpr size_t kSmallBatch = 16;
  // The nearest vertices are found by a grid that every batch makes anew, and how many there are is known.
  const size_t batch =
      options.vertices() ? std::max<size_t>(kSmallBatch, (1 << 22) / options.count) : kSmallBatch;
  // Exact winding numbers are sums over all triangles.
  const double workEach = options.exact ? double(std::max<size_t>(1, target.mesh.triangles.size())) : 1;
  if (question.rays)
    outcome =
        inBatches(rays, rows, "rays", kSmallBatch, 1, budget, [&](std::span<const Ray> some, uint64_t first) {
          return answerRays(options, target, some, first, rows);
        });
  else
    outcome = inBatches(points, rows, "points", batch, workEach, budget,
                        [&](std::span<const Vec3> some, uint64_t first) {
                          return answerPoints(options, target, some, first, rows);
                        });
  rows.finish();
  return outcome;
}

std::string counted(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What the number of positive answers counts; nothing where it says nothing.
const char* positiveName(const QueryOptions& options) {
  if (options.question == "ray") return "hit";
  if (options.question == "inside") return "inside";
  if (options.question == "closest") return options.isUnsigned ? nullptr : "inside";
  return options.question == "within" ? "near" : nullptr;
}

int runQuery(const QueryOptions& options, const Settings& settings) {
  const Question& question = questionNamed(options.question);
  check(options, question);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  std::vector<Vec3> points;
  std::vector<Ray> rays;
  {
    const ProfileScope scope("read");
    if (question.rays)
      rays = readRays(options.rays, options.rayFiles);
    else
      points = readPoints(options.points, options.pointFiles);
  }
  for (Ray& ray : rays) ray.tMax = options.maxDistance / ray.direction.stableNorm();
  QueryTarget target = makeTarget(options, settings);
  const auto kind = !options.output.empty() ? AnswerRows::Kind::Csv
                    : settings.json         ? AnswerRows::Kind::Json
                                            : AnswerRows::Kind::Table;
  AnswerRows rows(kind, answerColumns(options), options.output, options.rows);
  // Rows of a file leave the memory, others stay until the end.
  const bool kept = kind == AnswerRows::Kind::Json || (kind == AnswerRows::Kind::Table && options.rows == 0);
  const double budget = kept ? double(affordable(options.budget, kBytesPerRow)) : options.budget;
  Outcome outcome = ask(options, question, target, budget, rows, points, rays);
  const size_t asked = question.rays ? rays.size() : points.size();
  const bool complete = outcome.queries == asked;
  if (!complete)
    logWarn("{}: ended by {} after {} of {} {}, with {} answers", options.mesh,
            budget < options.budget ? "the memory there is (-o writes to a file instead)"
                                    : "the budget (--budget)",
            outcome.queries, asked, question.rays ? "rays" : "points", rows.count());

  double build = 0;
  for (const Profiler::Stage& stage : profiler.stages()) {
    if (stage.name == "query") outcome.seconds = stage.total;
    if (stage.name == "build") build = stage.total;
  }
  const double rate = static_cast<double>(outcome.queries) / std::max(outcome.seconds, 1e-9);
  const char* positive = positiveName(options);
  if (settings.json) {
    Json json = {{"mesh", options.mesh},
                 {"question", question.name},
                 {"vertices", target.mesh.positions.size()},
                 {"triangles", target.mesh.triangles.size()},
                 {question.rays ? "rays" : "points", outcome.queries},
                 {"rows", rows.count()}};
    if (positive) json[positive] = outcome.positive;
    json.update(Json{{"complete", complete},
                     {"tree_bytes", target.query.bytes()},
                     {"seconds", stagesJson(profiler)},
                     {"queries_per_second", rate}});
    if (kind == AnswerRows::Kind::Csv) json["output"] = options.output;
    if (kind == AnswerRows::Kind::Json) {  // one more member; as a tree the rows would take far more memory
      const std::string text = jsonText(json);
      std::cout << std::string_view(text).substr(0, text.size() - 2) << ",\n  \"results\": ";
      rows.printArray(std::cout);
      std::cout << "\n}\n";
    } else {
      printJson(json);
    }
  }
  const char* unit = question.rays ? "rays" : "points";
  std::string text = kind == AnswerRows::Kind::Table && rows.count() > 0 ? rows.table() + "\n" : "";
  text += fmt::format("{}: {}, {}", options.mesh, counted(outcome.queries, question.rays ? "ray" : "point"),
                      counted(rows.count(), "answer"));
  if (positive) text += fmt::format(", {} {}", outcome.positive, positive);
  text += fmt::format("; build {:.3g} ms, query {:.3g} ms ({:.3g} {}/s)", 1e3 * build, 1e3 * outcome.seconds,
                      rate, unit);
  if (kind == AnswerRows::Kind::Csv) text += "; wrote " + options.output;
  say(settings, text);
  if (settings.verbose) std::fputs(profiler.table().c_str(), stderr);
  return 0;
}

}  // namespace

std::span<const Question> questions() { return kQuestions; }

const Question& questionNamed(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Question& question : kQuestions) {
    if (question.name == name) return question;
    known.push_back(question.name);
  }
  throw Error(ErrorKind::Usage, fmt::format("unknown question '{}'", name)).hint(suggestion(name, known));
}

Verb addQuery(App& root) {
  auto options = std::make_shared<QueryOptions>();
  App* app = root.addVerb("query", "Ask for closest points, hits of rays, inside or outside");
  app->addOption("MESH", options->mesh, "A mesh file")->required();
  app->addOption("QUESTION", options->question, "closest, within, nearest, ray or inside")->required();
  const auto many = [&](const char* name, std::vector<std::string>& into, const char* text,
                        const char* type) {
    app->addOption(name, into, text)->typeName(type)->oneValueEach();
  };
  many("--point", options->points, "A point; may be repeated", "X,Y,Z");
  many("--points", options->pointFiles,
       "Points from CSV or text, or the vertices of a mesh file; - reads the input", "FILE");
  many("--ray", options->rays, "A ray's origin and direction; may be repeated", "OX,OY,OZ,DX,DY,DZ");
  many("--rays", options->rayFiles, "Rays from CSV or text, six numbers a line", "FILE");
  app->addOption("-o,--output", options->output, "Write the answers as CSV")->typeName("FILE.csv");
  app->addOption("--budget", options->budget,
                 "Ends with the answers so far when these and the points or rays are so many [1e9]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addOption("--rows", options->rows, "Rows to show as text; 0 shows all [20]")->typeName("N");
  const auto own = [&](std::string_view question, Option* option) {
    options->own.emplace_back(option->group("Of one question"), question);
    return option;
  };
  own("closest", app->addFlag("--unsigned", options->isUnsigned,
                              "closest: leave the sign out, which costs half the time"));
  options->distanceOption =
      own("within", app->addOption("--distance", options->distance, "within: how far, in metres"))
          ->check(distanceCheck())
          ->typeName("D");
  own("nearest", app->addOption("--count", options->count, "nearest: how many for each point [1]"))
      ->check(inRange(1u, 1'000'000'000u))
      ->typeName("K");
  own("nearest",
      app->addOption("--of", options->of, "nearest: triangles, or vertices, for which no faces are needed"))
      ->check(oneOf({"triangles", "vertices"}));
  own("ray", app->addOption("--hits", options->hits, "ray: the first hit, whether there is any, or all"))
      ->check(oneOf({"first", "any", "all"}));
  own("ray", app->addOption("--max-distance", options->maxDistance, "ray: how far it reaches, in metres"))
      ->check(distanceCheck())
      ->typeName("D");
  own("inside",
      app->addFlag("--exact", options->exact, "inside: sum over all triangles, without approximation"));
  app->footer(
      "Numbers count from 0: points and rays as they are given, triangles after polygons are split, faces "
      "and\n"
      "vertices as in the file. Signed distances are negative inside. Rays may have directions of any "
      "length.\n"
      "Examples:\n"
      "  sunder query cup.obj closest --point 0,0.1,0 --point 0.2,0,0\n"
      "  sunder query cup.obj closest --points scan.ply -o distances.csv\n"
      "  sunder query cup.obj within --distance 0.01 --points probes.csv --json\n"
      "  sunder query cloud.ply nearest --of vertices --count 8 --point 0,0,0\n"
      "  sunder query cup.obj ray --ray 0,1,0,0,-1,0 --hits all\n"
      "  sunder query cup.obj inside --points probes.csv");
  return {app, [options](const Settings& settings) { return runQuery(*options, settings); }};
}

}  // namespace sunder::cli

// sunder describe [TOPIC [NAME]]: what the program knows, from the tables it works by.
#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/text.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/world/scene/scene_sample.h"
#include "sunder/world/scene/scene_schema.h"

#include "command.h"
#include "material_table.h"
#include "query.h"

#include <iostream>
#include <memory>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

using shapes::ParameterKind;
using shapes::ShapeInfo;
using shapes::ShapeParameter;

struct DescribeOptions {
  std::string topic, name;
};

const char* kindName(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Number:
      return "number";
    case ParameterKind::Integer:
      return "integer";
    case ParameterKind::Flag:
      return "flag";
    case ParameterKind::Choice:
      return "choice";
    case ParameterKind::Text:
      return "text";
  }
  return "";
}

Json parameterJson(const ShapeParameter& p) {
  Json json = {{"name", p.name}, {"text", p.text}, {"type", kindName(p.kind)}, {"range", p.rangeText()}};
  if (p.kind == ParameterKind::Choice || p.kind == ParameterKind::Text) {
    json["default"] = p.word;
  } else {
    json["default"] = p.value;
    json["min"] = p.lower;
    json["max"] = p.upper;
    json["unit"] = p.unit;
  }
  return json;
}

Json shapeJson(const ShapeInfo& shape) {
  Json json = {{"name", shape.name},
               {"summary", shape.summary},
               {"closed", shape.closed},
               {"parameters", Json::array()}};
  for (const ShapeParameter& p : shape.parameters) json["parameters"].push_back(parameterJson(p));
  return json;
}

std::string shapeText(const ShapeInfo& shape) {
  std::string text = fmt::format("{}: {}\n", shape.name, shape.summary);
  for (const ShapeParameter& p : shape.parameters)
    text += fmt::format("  {:<18} {}: {} [{}]\n", p.name, p.text, p.rangeText(), p.defaultText());
  return text;
}

void describeShapes(const std::string& name, const Settings& settings) {
  const auto catalogue = shapes::shapeCatalogue();
  if (name.empty()) {
    Json list = Json::array();
    for (const ShapeInfo& shape : catalogue) {
      if (settings.json)
        list.push_back(shapeJson(shape));
      else
        std::cout << fmt::format("{:<18} {}\n", shape.name, shape.summary);
    }
    if (settings.json)
      printJson({{"shapes", list}});
    else
      std::cout << "'sunder describe shapes NAME' gives the parameters of one.\n";
    return;
  }
  const ShapeInfo& shape = shapes::shapeInfo(name);
  if (settings.json)
    printJson(shapeJson(shape));
  else
    std::cout << shapeText(shape);
}

void describeFormats(const Settings& settings) {
  Json list = Json::array();
  if (!settings.json)
    std::cout << fmt::format("{:<22} {:<12} {:<6} {:<6} {:<9} {:<5} {}\n", "format", "endings", "read",
                             "write", "surfaces", "tets", "remark");
  for (const meshio::MeshFormatInfo& f : meshio::meshFormats()) {
    if (settings.json)
      list.push_back({{"name", f.name},
                      {"extensions", f.extensions},
                      {"reads", f.reads},
                      {"writes", f.writes},
                      {"surfaces", f.surfaces},
                      {"tets", f.tets},
                      {"remark", f.remark}});
    else
      std::cout << fmt::format("{:<22} {:<12} {:<6} {:<6} {:<9} {:<5} {}\n", f.name, f.extensions,
                               f.reads ? "yes" : "-", f.writes ? "yes" : "-", f.surfaces ? "yes" : "-",
                               f.tets ? "yes" : "-", f.remark);
  }
  if (settings.json) printJson({{"formats", list}});
}

void describeQuestions(const std::string& name, const Settings& settings) {
  Json list = Json::array();
  for (const Question& q : questions()) {
    if (!name.empty() && q.name != questionNamed(name).name) continue;
    if (settings.json)
      list.push_back({{"name", q.name},
                      {"summary", q.summary},
                      {"asked_of", q.rays ? "rays" : "points"},
                      {"options", q.options},
                      {"columns", q.columns}});
    else
      std::cout << fmt::format("{:<9} {}; asked of {}\n          options  {}\n          columns  {}\n",
                               q.name, q.summary, q.rays ? "rays" : "points", q.options, q.columns);
  }
  if (settings.json) printJson(name.empty() ? Json{{"questions", list}} : list[0]);
}

void describeScene(const std::string& name, const Settings& settings) {
  if (name.empty()) {
    if (settings.json)
      printJson({{"sample", world::sampleScene()}, {"schema", readJson(world::sceneSchemaText())}});
    else
      std::cout << world::sampleScene();
    return;
  }
  std::vector<std::string_view> known;
  for (const world::SampleBlock& block : world::sampleBlocks()) {
    known.push_back(block.name);
    if (block.name != name) continue;
    if (settings.json)
      printJson({{"name", block.name}, {"summary", block.summary}, {"sample", block.text}});
    else
      std::cout << block.text << '\n';
    return;
  }
  throw Error(ErrorKind::Usage, fmt::format("a scene has no block '{}'", name)).hint(suggestion(name, known));
}

void describeExitCodes(const Settings& settings) {
  Json kinds = Json::object();
  for (ErrorKind kind : {ErrorKind::Usage, ErrorKind::Missing, ErrorKind::Format, ErrorKind::Unsupported,
                         ErrorKind::Limit, ErrorKind::Geometry, ErrorKind::Numerical, ErrorKind::Write})
    kinds[name(kind)] = exitCode(kind);
  if (settings.json) {
    printJson({{"exit_codes", kinds}});
    return;
  }
  std::cout << "0    done\n1    the job failed\n2    bad input or usage\n"
               "130  stopped by Ctrl-C (SIGINT)\n143  stopped by SIGTERM\nErrors of these kinds end with:\n";
  for (const auto* kind : kinds.membersAsCame())
    std::cout << fmt::format("  {:<12} {}\n", kind->first, kind->second.integer());
}

int describe(const DescribeOptions& options, const Settings& settings) {
  const std::vector<std::string_view> topics{"scene",   "materials", "shapes",
                                             "formats", "questions", "exit-codes"};
  if (options.topic == "scene") {
    describeScene(options.name, settings);
  } else if (options.topic == "materials") {
    describeMaterials(options.name, settings);
  } else if (options.topic == "shapes") {
    describeShapes(options.name, settings);
  } else if (options.topic == "formats") {
    describeFormats(settings);
  } else if (options.topic == "questions") {
    describeQuestions(options.name, settings);
  } else if (options.topic == "exit-codes") {
    describeExitCodes(settings);
  } else if (!options.topic.empty()) {
    throw Error(ErrorKind::Usage, fmt::format("nothing to describe under '{}'", options.topic))
        .hint(suggestion(options.topic, topics));
  } else if (settings.json) {
    printJson({{"topics", topics}});
  } else {
    std::cout
        << "scene        a scene with every block and key, commented; 'describe scene BLOCK' for one block\n"
           "materials    the built-in materials; 'describe materials NAME' for all values of one\n"
           "shapes       the procedural shapes; 'describe shapes NAME' for the parameters of one\n"
           "formats      the mesh files that are read and written\n"
           "questions    what 'sunder query' answers, and the columns of the answers\n"
           "exit-codes   what the command returns, and when\n";
  }
  return 0;
}

}  // namespace

Verb addDescribe(App& root) {
  auto options = std::make_shared<DescribeOptions>();
  App* app =
      root.addVerb("describe", "List the blocks of a scene, materials, shapes, file formats, questions");
  app->addOption("TOPIC", options->topic, "scene, materials, shapes, formats, questions or exit-codes");
  app->addOption("NAME", options->name, "With scene, shapes or questions: the one to describe");
  app->footer(
      "Examples:\n"
      "  sunder describe scene > my.json\n"
      "  sunder describe scene bodies\n"
      "  sunder describe shapes\n"
      "  sunder describe shapes bottle\n"
      "  sunder describe formats --json");
  return {app, [options](const Settings& settings) { return describe(*options, settings); }};
}

}  // namespace sunder::cli

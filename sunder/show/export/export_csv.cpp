// Three tables: statistics.csv (a row a frame), bodies.csv (a row a body and frame), events.csv (a row an
// event); where the run has them, inputs.csv (a row an input) and fronts.csv (a row a point of a crack
// front). Numbers are the shortest decimals that read back to the same bits; what was not recorded is an
// empty field.
#include "sunder/meshio/text_writer.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/export/export_tables.h"

#include <algorithm>
#include <cmath>

namespace sunder::show {

namespace {

using meshio::TextWriter;

void putVector(TextWriter& out, const Vec3f& v) { out << ',' << v.x() << ',' << v.y() << ',' << v.z(); }

void noteName(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void writeStatistics(OutputFile& file, const ExportScene& scene) {
  std::vector<record::Frame> heads(scene.frames.size());  // number and time alone
  std::vector<std::vector<record::Statistic>> rows;
  std::vector<std::string> names;
  ExportFrame frame;
  for (size_t f = 0; f < scene.frames.size(); ++f) {
    scene.readFrame(scene.frames[f], frame);
    heads[f].number = frame.state.number;
    heads[f].time = frame.state.time;
    rows.push_back(scene.statistics(scene.frames[f]));
    for (const record::Statistic& s : rows.back()) noteName(names, s.name);
  }
  TextWriter out(file);
  out << "frame,time";
  for (const std::string& name : names) out << ',' << csvField(name);
  out << '\n';
  for (size_t f = 0; f < rows.size(); ++f) {
    out << heads[f].number << ',' << heads[f].time;
    for (const std::string& name : names) {
      out << ',';
      const auto found =
          std::find_if(rows[f].begin(), rows[f].end(), [&](const auto& s) { return s.name == name; });
      if (found != rows[f].end() && std::isfinite(found->value)) out << found->value;
    }
    out << '\n';
  }
  out.flush();
}

void writeBodies(OutputFile& file, const ExportScene& scene, const ExportProgress& progress) {
  // Fields of the first frame, which recordings have in all; another one's are looked up by name.
  std::vector<std::string> fields;
  ExportFrame frame;
  scene.readFrame(scene.frames.front(), frame);
  for (const record::BodyField& field : frame.state.fields) noteName(fields, field.name);
  if (scene.frames.size() > 1) {
    scene.readFrame(scene.frames.back(), frame);
    for (const record::BodyField& field : frame.state.fields) noteName(fields, field.name);
  }
  TextWriter out(file);
  out << "frame,time,body,name,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz";
  for (const std::string& name : fields) out << ',' << csvField(name);
  out << '\n';
  for (size_t f = 0; f < scene.frames.size(); ++f) {
    scene.readFrame(scene.frames[f], frame);
    std::vector<const std::vector<float>*> values(fields.size(), nullptr);
    for (const record::BodyField& field : frame.state.fields)
      for (size_t k = 0; k < fields.size(); ++k)
        if (fields[k] == field.name) values[k] = &field.values;
    for (size_t b = 0; b < frame.state.bodies.size(); ++b) {
      const record::BodyState& s = frame.state.bodies[b];
      if (!s.present) continue;
      out << frame.state.number << ',' << frame.state.time << ',' << b << ','
          << csvField(scene.bodies[b].name);
      putVector(out, s.position);
      out << ',' << s.rotation.x() << ',' << s.rotation.y() << ',' << s.rotation.z() << ',' << s.rotation.w();
      putVector(out, s.velocity);
      putVector(out, s.angularVelocity);
      for (const std::vector<float>* column : values) {
        out << ',';
        if (column) out << (b < column->size() ? (*column)[b] : 0.0f);
      }
      out << '\n';
    }
    progress(f + 1, scene.frames.size());
  }
  out.flush();
}

void writeEvents(OutputFile& file, const ExportScene& scene) {
  const auto bodyNumber = [](uint32_t b) { return b == kNoIndex ? int64_t(-1) : int64_t(b); };
  TextWriter out(file);
  // Recordings of programs that knew no energies keep the table they had.
  bool energies = false;
  for (const size_t f : scene.frames)
    for (const record::Event& e : scene.events(f)) energies = energies || e.energy != 0;
  out << "frame,time,kind,a,b,x,y,z,nx,ny,nz,impulse,approach,text" << (energies ? ",energy\n" : "\n");
  ExportFrame frame;
  for (const size_t f : scene.frames) {
    const std::vector<record::Event> events = scene.events(f);
    if (events.empty()) continue;
    scene.readFrame(f, frame);
    for (const record::Event& e : events) {
      out << frame.state.number << ',' << frame.state.time << ',' << record::name(e.kind) << ','
          << bodyNumber(e.a) << ',' << bodyNumber(e.b);
      putVector(out, e.point);
      putVector(out, e.normal);
      out << ',' << e.impulse << ',' << e.approach << ',' << csvField(e.text);
      if (energies) out << ',' << e.energy;
      out << '\n';
    }
  }
  out.flush();
}

void writeInputs(OutputFile& file, const ExportScene& scene) {
  TextWriter out(file);
  out << "frame,step,sequence,kind,data\n";
  ExportFrame frame;
  for (const size_t f : scene.frames) {
    const std::vector<record::Input> inputs = scene.inputs(f);
    if (!inputs.empty()) scene.readFrame(f, frame);
    for (const record::Input& input : inputs)
      out << frame.state.number << ',' << input.step << ',' << input.sequence << ',' << csvField(input.kind)
          << ',' << csvField(input.data) << '\n';
  }
  out.flush();
}

// Positions and directions are in the frame of the body.
void writeFrontPoints(OutputFile& file, const ExportScene& scene) {
  TextWriter out(file);
  out << "frame,time,body,crack,chain,point,x,y,z,fx,fy,fz,nx,ny,nz,KI,KII,KIII,release,state\n";
  ExportFrame frame;
  for (const size_t f : scene.frames) {
    const std::vector<record::CrackFront> fronts = scene.fronts(f);
    if (!fronts.empty()) scene.readFrame(f, frame);
    for (size_t chain = 0; chain < fronts.size(); ++chain)
      for (size_t i = 0; i < fronts[chain].points.size(); ++i) {
        const record::FrontPoint& p = fronts[chain].points[i];
        out << frame.state.number << ',' << frame.state.time << ',' << fronts[chain].body << ','
            << fronts[chain].crack << ',' << chain << ',' << i;
        for (const Vec3f& v : {p.position, p.forward, p.normal, p.intensity}) putVector(out, v);
        out << ',' << p.release << ',' << record::name(p.state) << '\n';
      }
  }
  out.flush();
}

}  // namespace

std::string csvField(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string plainName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !out.empty());
    out += plain ? c : '_';
  }
  return out.empty() ? "run" : out;
}

std::string oneLine(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32) c = '_';
  // A backslash at the end of a line joins the next one to it.
  if (!out.empty() && out.back() == '\\') out.back() = '_';
  return out.empty() ? "default" : out;
}

void writeBodyNames(OutputFile& file, const ExportScene& scene, const MaterialNumbers& materials) {
  TextWriter out(file);
  out << "body,name,parent,material,material_name,mesh,kind,mass,born\n";
  for (size_t b = 0; b < scene.bodies.size(); ++b) {
    const record::BodyEntry& body = scene.bodies[b];
    out << b << ',' << csvField(body.name) << ',' << parentNumber(body) << ',' << materials.ofBody[b] << ','
        << csvField(body.material) << ',' << (body.mesh == kNoIndex ? int64_t(-1) : int64_t(body.mesh)) << ','
        << record::name(body.kind) << ',' << body.mass << ',' << body.born << '\n';
  }
  out.flush();
}

std::string exportCsv(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  files.write("statistics.csv", [&](OutputFile& out) { writeStatistics(out, scene); });
  files.write("bodies.csv", [&](OutputFile& out) { writeBodies(out, scene, progress); });
  files.write("events.csv", [&](OutputFile& out) { writeEvents(out, scene); });
  if (scene.inputs) files.write("inputs.csv", [&](OutputFile& out) { writeInputs(out, scene); });
  if (scene.fronts) files.write("fronts.csv", [&](OutputFile& out) { writeFrontPoints(out, scene); });
  return "statistics.csv";
}

}  // namespace sunder::show

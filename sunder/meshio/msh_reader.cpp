// Gmsh's .msh files, versions 2.0 to 2.2 and 4.1, text and binary (Gmsh reference manual, "MSH file format").
//
// A section's values come from a source that is either text or bytes; each version is written once for both.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/meshio/cell_soup.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/msh_elements.h"
#include "sunder/meshio/text_scanner.h"

#include <cmath>
#include <limits>
#include <optional>

namespace sunder::meshio {

namespace {

class TextSource {
 public:
  explicit TextSource(TextScanner& scanner) : scanner_(scanner) {}

  int32_t integer(std::string_view what) {
    const int64_t value = scanner_.readInt(what);
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
      throw scanner_.error(std::string(what) + " does not fit into 32 bits: " + std::to_string(value));
    return static_cast<int32_t>(value);
  }
  uint64_t size(std::string_view what) { return scanner_.readUint(what); }
  uint64_t tag2(std::string_view what) { return scanner_.readUint(what); }
  double real(std::string_view what) { return scanner_.readDouble(what); }
  double coordinate() { return scanner_.readCoordinate(); }
  void skipSizes(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) scanner_.readUint("a number");
  }
  // Fails when `count` things of so many values cannot be there. Text needs a character and a blank for each
  // value.
  void check(uint64_t count, uint64_t values, uint64_t /*bytes*/, std::string_view what) const {
    scanner_.checkCount(count, 2 * values, what);
  }
  size_t sizeBytes() const { return 8; }
  Error error(std::string message) const { return scanner_.error(std::move(message)); }

 private:
  TextScanner& scanner_;
};

class MshBinarySource {
 public:
  MshBinarySource(ByteReader reader, size_t sizeBytes) : reader_(std::move(reader)), sizeBytes_(sizeBytes) {}

  int32_t integer(std::string_view what) { return reader_.read<int32_t>(what); }
  uint64_t size(std::string_view what) {
    return sizeBytes_ == 8 ? reader_.read<uint64_t>(what) : reader_.read<uint32_t>(what);
  }
  uint64_t tag2(std::string_view what) {
    const int32_t value = integer(what);
    if (value < 0) throw error(std::string(what) + " is negative: " + std::to_string(value));
    return static_cast<uint64_t>(value);
  }
  double real(std::string_view what) { return reader_.read<double>(what); }
  double coordinate() {
    const double value = reader_.read<double>("a coordinate");
    if (!std::isfinite(value)) throw error("coordinate is not finite");
    return value;
  }
  void skipSizes(uint64_t count) {
    reader_.need(count, sizeBytes_, "an element");
    reader_.skip(count * sizeBytes_, "an element");
  }
  void check(uint64_t count, uint64_t /*values*/, uint64_t bytes, std::string_view what) const {
    try {
      checkCount(count, bytes, reader_.remaining(), what);
    } catch (Error& e) {
      throw std::move(e.inFile(reader_.fileName()).atByte(reader_.fileOffset()));
    }
  }
  size_t sizeBytes() const { return sizeBytes_; }
  Error error(std::string message) const { return reader_.error(std::move(message)); }
  size_t position() const { return reader_.position(); }

 private:
  ByteReader reader_;
  size_t sizeBytes_;
};

class MshReader {
 public:
  MshReader(std::string_view text, const std::string& name) : scanner_(text, name, '\0') {}
  MeshFile read();

 private:
  void readFormat();
  void readPhysicalNames();
  void skipSection(const std::string& name);
  // Calls function(source) with the kind of source the file has, just after the section's first line.
  template <class Function>
  void withSource(Function&& function);

  template <class Source>
  void readEntities(Source& in);
  template <class Source>
  void readNodes4(Source& in);
  template <class Source>
  void readElements4(Source& in);
  void readNodes2();
  void readElements2();
  template <class Source>
  void addNode2(Source& in, uint64_t index);
  template <class Source>
  void addElement(Source& in, const MshElementType& type, int32_t tag, bool reversed, bool wide);
  template <class Source>
  uint32_t findNode(const Source& in, uint64_t tag) const;
  const MshElementType& elementType(int32_t type) const;
  void finishNodes();

  TextScanner scanner_;
  CellSoup soup_;
  bool binary_ = false, swap_ = false, version4_ = false;
  bool hasElements_ = false;
  size_t sizeBytes_ = 8;
  std::vector<uint64_t> nodeTags_;
  std::optional<TagMap> nodes_;
  std::map<int32_t, int32_t> physical_[4];   // first physical tag of an entity, by dimension
  std::map<int32_t, int32_t> regionOfName_;  // physical volume -> region its name gives
  uint64_t manyGroups_ = 0;
};

template <class Function>
void MshReader::withSource(Function&& function) {
  if (!binary_) {
    TextSource source(scanner_);
    return function(source);
  }
  scanner_.nextLine();
  const Bytes rest = std::as_bytes(std::span(scanner_.rest()));
  const ByteOrder order = (kNativeOrder == ByteOrder::Little) != swap_ ? ByteOrder::Little : ByteOrder::Big;
  MshBinarySource source(ByteReader(rest, scanner_.name(), order, scanner_.offset()), sizeBytes_);
  function(source);
  scanner_.advance(source.position());
}

void MshReader::readFormat() {
  scanner_.expectWord("$MeshFormat");
  const std::string version(scanner_.word());
  const uint64_t line = scanner_.line();
  version4_ = version == "4.1";
  if (!version4_ && version != "2.2" && version != "2.1" && version != "2" && version != "2.0")
    throw Error(ErrorKind::Unsupported, "version " + meshio::quoted(version) + " of the format is not read")
        .inFile(scanner_.name())
        .atLine(line)
        .hint("save it as version 4.1 or 2.2, e.g. with gmsh -save -format msh41");
  binary_ = scanner_.readUint("the file type", 1) == 1;
  const uint64_t dataSize = scanner_.readUint("the data size");
  if (dataSize != 8 && !(version4_ && dataSize == 4))
    throw scanner_.error("a data size of " + std::to_string(dataSize) + " is not possible");
  sizeBytes_ = dataSize;
  if (binary_) {
    withSource([&](auto& in) {
      const int32_t one = in.integer("the byte order mark");
      swap_ = one == 0x01000000;
      if (one != 1 && !swap_) throw in.error("the byte order mark must be 1");
    });
  }
  scanner_.expectWord("$EndMeshFormat");
}

void MshReader::readPhysicalNames() {
  const uint64_t count = scanner_.readUint("the number of names");
  scanner_.checkCount(count, 6, "physical names");
  for (uint64_t i = 0; i < count; ++i) {
    TextSource in(scanner_);
    const int32_t dimension = in.integer("a dimension");
    const int32_t tag = in.integer("a physical tag");
    std::string_view name = scanner_.restOfLine();
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    if (dimension == 2) soup_.faceTagNames[tag] = name;
    // How our writer keeps regions that Gmsh has no tag for.
    if (dimension == 3 && name.starts_with(kMshRegionName)) {
      name.remove_prefix(kMshRegionName.size());
      int64_t region = 0;
      if (parseInt(name.data(), name.data() + name.size(), region) == name.data() + name.size() &&
          region >= std::numeric_limits<int32_t>::min() && region <= std::numeric_limits<int32_t>::max())
        regionOfName_[tag] = static_cast<int32_t>(region);
    }
  }
}

void MshReader::skipSection(const std::string& name) {
  const std::string end = "$End" + name.substr(1);
  if (binary_) {
    const size_t at = scanner_.rest().find(end);
    if (at == std::string_view::npos)
      throw scanner_.error("section " + meshio::quoted(name) + " does not end");
    scanner_.advance(at);
    return;
  }
  scanner_.nextLine();
  while (scanner_.remaining() > 0) {
    if (scanner_.rest().starts_with(end)) return;
    scanner_.nextLine();
  }
  throw scanner_.error("section " + meshio::quoted(name) + " does not end");
}

template <class Source>
void MshReader::readEntities(Source& in) {
  uint64_t counts[4];
  for (uint64_t& count : counts) count = in.size("a number of entities");
  for (int dimension = 0; dimension < 4; ++dimension) {
    const bool isPoint = dimension == 0;
    in.check(counts[dimension], isPoint ? 5 : 9, isPoint ? 28 + sizeof(int) : 52 + sizeof(int), "entities");
    for (uint64_t e = 0; e < counts[dimension]; ++e) {
      const int32_t tag = in.integer("an entity's tag");
      for (int k = 0; k < (isPoint ? 3 : 6); ++k) in.real("an entity's box");
      const uint64_t groups = in.size("the number of physical tags");
      in.check(groups, 1, 4, "physical tags");
      for (uint64_t g = 0; g < groups; ++g) {
        const int32_t physical = in.integer("a physical tag");
        if (g == 0) physical_[dimension][tag] = physical;
      }
      if (groups > 1 && dimension >= 2) ++manyGroups_;
      if (isPoint) continue;
      const uint64_t bounding = in.size("the number of bounding entities");
      in.check(bounding, 1, 4, "bounding entities");
      for (uint64_t b = 0; b < bounding; ++b) in.integer("a bounding entity");
    }
  }
}

template <class Source>
void MshReader::readNodes4(Source& in) {
  const uint64_t blocks = in.size("the number of node blocks");
  const uint64_t count = in.size("the number of nodes");
  in.size("the smallest node tag");
  in.size("the largest node tag");
  in.check(count, 4, 24 + in.sizeBytes(), "nodes");
  in.check(blocks, 4, 12 + in.sizeBytes(), "node blocks");
  checkElementLimit(count, "nodes", scanner_.name());
  nodeTags_.reserve(count);
  soup_.positions.reserve(count);
  for (uint64_t b = 0; b < blocks; ++b) {
    const int32_t dimension = in.integer("an entity's dimension");
    if (dimension < 0 || dimension > 3) throw in.error("there is no dimension " + std::to_string(dimension));
    in.integer("an entity's tag");
    const bool parametric = in.integer("whether nodes are parametric") != 0;
    const uint64_t inBlock = in.size("the number of nodes in a block");
    if (inBlock > count - soup_.positions.size())
      throw in.error("the node blocks hold more than the " + std::to_string(count) + " nodes of the header");
    for (uint64_t i = 0; i < inBlock; ++i) nodeTags_.push_back(in.size("a node's tag"));
    for (uint64_t i = 0; i < inBlock; ++i) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) p[k] = in.coordinate();
      soup_.positions.push_back(p);
      for (int k = 0; parametric && k < dimension; ++k) in.real("a parameter");
    }
  }
  if (soup_.positions.size() != count)
    throw in.error("the header says " + std::to_string(count) + " nodes, the blocks have " +
                   std::to_string(soup_.positions.size()));
}

const MshElementType& MshReader::elementType(int32_t type) const {
  const MshElementType* const found = mshElementType(type);
  if (!found) {
    Error error(ErrorKind::Unsupported, "elements of type " + std::to_string(type) + " are not known");
    error.inFile(scanner_.name());
    // In a binary section the scanner still stands at its start, the best place there is.
    throw std::move(binary_ ? error.atByte(scanner_.offset()) : error.atLine(scanner_.line()));
  }
  return *found;
}

template <class Source>
uint32_t MshReader::findNode(const Source& in, uint64_t tag) const {
  const uint32_t node = nodes_->find(tag);
  if (node == kNoIndex)
    throw in.error("an element refers to node " + std::to_string(tag) + ", which is not there");
  return node;
}

// `wide` nodes are sizes (version 4), others integers (version 2).
template <class Source>
void MshReader::addElement(Source& in, const MshElementType& type, int32_t tag, bool reversed, bool wide) {
  std::array<uint32_t, 4> corners{};
  for (int i = 0; i < type.corners; ++i) {
    const uint64_t node = wide ? in.size("a node's tag") : in.tag2("a node's tag");
    corners[static_cast<size_t>(i)] = findNode(in, node);
  }
  for (int i = type.corners; i < type.nodes; ++i) {
    if (wide)
      in.skipSizes(1);
    else
      in.tag2("a node's tag");
  }
  if (type.corners == 0) return;
  if (type.dimension == 3) {
    soup_.tets.push_back(corners);
    soup_.tetTags.push_back(tag);
    return;
  }
  const auto count = static_cast<size_t>(type.corners);
  if (reversed) std::reverse(corners.begin() + 1, corners.begin() + type.corners);
  soup_.addFace(std::span(corners).first(count));
  soup_.faceTags.push_back(tag);
}

template <class Source>
void MshReader::readElements4(Source& in) {
  const uint64_t blocks = in.size("the number of element blocks");
  const uint64_t count = in.size("the number of elements");
  in.size("the smallest element tag");
  in.size("the largest element tag");
  in.check(count, 2, 2 * in.sizeBytes(), "elements");
  in.check(blocks, 4, 12 + in.sizeBytes(), "element blocks");
  checkElementLimit(count, "elements", scanner_.name());
  uint64_t done = 0;
  for (uint64_t b = 0; b < blocks; ++b) {
    const int32_t dimension = in.integer("an entity's dimension");
    if (dimension < 0 || dimension > 3) throw in.error("there is no dimension " + std::to_string(dimension));
    const int32_t entity = in.integer("an entity's tag");
    const MshElementType& type = elementType(in.integer("an element type"));
    const uint64_t inBlock = in.size("the number of elements in a block");
    if (inBlock > count - done)
      throw in.error("the element blocks hold more than the " + std::to_string(count) +
                     " elements of the header");
    done += inBlock;
    const auto values = static_cast<uint64_t>(1 + type.nodes);
    in.check(inBlock, values, values * in.sizeBytes(), "elements");
    const auto found = physical_[dimension].find(entity);
    int32_t tag = entity;
    bool reversed = false;
    const bool physical =
        found != physical_[dimension].end() && found->second != std::numeric_limits<int32_t>::min();
    if (physical) {
      reversed = found->second < 0;
      tag = reversed ? -found->second : found->second;
    }
    checkElementLimit(soup_.corners.size() + 4 * inBlock, "corners", scanner_.name());
    if (type.corners == 0) {
      soup_.skipped[type.name] += inBlock;
      for (uint64_t i = 0; i < inBlock; ++i) in.skipSizes(values);
      continue;
    }
    if (type.dimension == 3) {
      if (const auto named = regionOfName_.find(tag); physical && named != regionOfName_.end())
        tag = named->second;
      soup_.tets.reserve(soup_.tets.size() + (blocks == 1 ? inBlock : 0));
    }
    if (type.nodes > type.corners) soup_.higherOrder += inBlock;
    for (uint64_t i = 0; i < inBlock; ++i) {
      in.size("an element's tag");
      addElement(in, type, tag, reversed, true);
    }
  }
  if (done != count)
    throw in.error("the header says " + std::to_string(count) + " elements, the blocks have " +
                   std::to_string(done));
}

template <class Source>
void MshReader::addNode2(Source& in, uint64_t index) {
  nodeTags_[index] = in.tag2("a node's tag");
  for (int k = 0; k < 3; ++k) soup_.positions[index][k] = in.coordinate();
}

// In version 2 counts are text in binary files too.
void MshReader::readNodes2() {
  const uint64_t count = scanner_.readUint("the number of nodes");
  scanner_.checkCount(count, binary_ ? 28 : 8, "nodes");
  checkElementLimit(count, "nodes", scanner_.name());
  nodeTags_.resize(count);
  soup_.positions.resize(count);
  withSource([&](auto& in) {
    for (uint64_t i = 0; i < count; ++i) addNode2(in, i);
  });
}

void MshReader::readElements2() {
  const uint64_t count = scanner_.readUint("the number of elements");
  scanner_.checkCount(count, binary_ ? 8 : 6, "elements");
  checkElementLimit(4 * count, "corners", scanner_.name());
  withSource([&](auto& in) {
    uint64_t done = 0;
    while (done < count) {
      // Text: number, type, tags, nodes. Binary: a header for several elements of the same type and number of
      // tags.
      if (!binary_) in.integer("an element's number");
      const MshElementType& type = elementType(in.integer("an element type"));
      const uint64_t inBlock = binary_ ? in.tag2("the number of elements in a block") : 1;
      const uint64_t tags = in.tag2("the number of tags");
      if (inBlock == 0 || inBlock > count - done)
        throw in.error("a block of " + std::to_string(inBlock) + " elements where at most " +
                       std::to_string(count - done) + " can follow");
      in.check(tags, 1, 4, "tags");
      in.check(inBlock, static_cast<uint64_t>(type.nodes) + tags,
               4 * (static_cast<uint64_t>(type.nodes) + tags), "elements");
      if (type.corners == 0) soup_.skipped[type.name] += inBlock;
      if (type.corners > 0 && type.nodes > type.corners) soup_.higherOrder += inBlock;
      for (uint64_t i = 0; i < inBlock; ++i) {
        if (binary_) in.integer("an element's number");
        int32_t region = 0, physical = 0;
        for (uint64_t t = 0; t < tags; ++t) {
          const int32_t tag = in.integer("a tag");
          if (t == 0) physical = tag;
          if (t == 0 || (t == 1 && region == 0)) region = tag;  // physical, or else elementary
        }
        if (const auto named = regionOfName_.find(physical);
            physical != 0 && type.dimension == 3 && named != regionOfName_.end())
          region = named->second;
        addElement(in, type, region, false, false);
      }
      done += inBlock;
    }
  });
}

void MshReader::finishNodes() {
  nodes_.emplace(nodeTags_);
  if (nodes_->hasDuplicate())
    throw scanner_.error("two nodes have the tag " + std::to_string(nodes_->duplicateTag()));
  nodeTags_ = {};
}

MeshFile MshReader::read() {
  readFormat();
  for (std::string section(scanner_.word()); !section.empty(); section = scanner_.word()) {
    if (section.front() != '$' || section.size() < 2) throw scanner_.expected("a section", section);
    if (section == "$PhysicalNames") {
      readPhysicalNames();
    } else if (section == "$Entities" && version4_) {
      withSource([&](auto& in) { readEntities(in); });
    } else if (section == "$Nodes") {
      if (nodes_) throw scanner_.error("nodes are given twice");
      if (version4_)
        withSource([&](auto& in) { readNodes4(in); });
      else
        readNodes2();
      finishNodes();
    } else if (section == "$Elements") {
      if (!nodes_) throw scanner_.error("elements must come after the nodes");
      if (hasElements_) throw scanner_.error("elements are given twice");
      hasElements_ = true;
      if (version4_)
        withSource([&](auto& in) { readElements4(in); });
      else
        readElements2();
    } else {
      skipSection(section);
    }
    scanner_.expectWord("$End" + section.substr(1));
  }
  if (!nodes_) throw scanner_.error("there are no nodes in it");
  if (manyGroups_ > 0)
    soup_.notes.push_back("entities in several physical groups, of which the first counts: " +
                          std::to_string(manyGroups_));
  return toMeshFile(std::move(soup_), MeshFormat::Msh);
}

}  // namespace

MeshFile readMsh(Bytes bytes, const std::string& name) {
  return MshReader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name).read();
}

}  // namespace sunder::meshio

#include "sunder/base/parallel.h"
#include "sunder/meshio/vtk_xml_arrays.h"

#include "meshio/volume_file_samples.h"

#include <limits>

#include <zlib.h>

namespace sunder::meshio {
using namespace geometry;
namespace {

using namespace samples;

MeshFile readXmlText(const std::string& text) { return readVtkXml(bytesOf(text), "test.vtu"); }

std::string base64Of(const std::string& bytes) {
  const char* const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? digits[bits >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

// How a file made by hand encodes its arrays.
struct Encoding {
  enum Mode { Ascii, Inline, AppendedRaw, AppendedBase64 } mode = Ascii;
  bool big = false, wide = false, zlib = false, joinHeader = true;
};

class HandMade {
 public:
  explicit HandMade(Encoding e) : e_(e) {}

  template <class T>
  std::string array(const std::string& name, const std::string& type, int components, std::vector<T> values) {
    std::string out = "<DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
                      std::to_string(components) + "\" format=\"";
    if (e_.mode == Encoding::Ascii) {
      out += "ascii\">\n";
      for (const T v : values) out += std::to_string(v) + "\n ";
      return out + "</DataArray>\n";
    }
    std::string raw;
    for (const T v : values) appendValue(raw, v, e_.big);
    const std::string data = encode(raw);
    if (e_.mode == Encoding::Inline) return out + "binary\">\n  " + data + "\n</DataArray>\n";
    out += "appended\" offset=\"" + std::to_string(appended_.size()) + "\"/>\n";
    appended_ += data;
    return out;
  }

  std::string file(const std::string& kind, const std::string& content) const {
    std::string out = "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + kind +
                      "\" version=\"1.0\" byte_order=\"" + (e_.big ? "BigEndian" : "LittleEndian") +
                      "\" header_type=\"" + (e_.wide ? "UInt64" : "UInt32") + "\"" +
                      (e_.zlib ? " compressor=\"vtkZLibDataCompressor\"" : "") + ">\n<" + kind + ">\n" +
                      content + "</" + kind + ">\n";
    if (e_.mode == Encoding::AppendedRaw || e_.mode == Encoding::AppendedBase64)
      out += std::string("<AppendedData encoding=\"") +
             (e_.mode == Encoding::AppendedRaw ? "raw" : "base64") + "\">\n_" + appended_ +
             "\n</AppendedData>\n";
    return out + "</VTKFile>\n";
  }

 private:
  void number(std::string& to, uint64_t v) const {
    if (e_.wide)
      appendValue<uint64_t>(to, v, e_.big);
    else
      appendValue(to, static_cast<uint32_t>(v), e_.big);
  }
  std::string encode(const std::string& raw) const {
    std::string head, body;
    if (!e_.zlib) {
      number(head, raw.size());
      body = raw;
    } else {
      constexpr size_t kBlock = 32;
      std::vector<std::string> blocks;
      for (size_t at = 0; at < raw.size(); at += kBlock) {
        const std::string part = raw.substr(at, kBlock);
        std::string packed(compressBound(part.size()), '\0');
        uLongf size = packed.size();
        compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(part.data()),
                 part.size());
        blocks.push_back(packed.substr(0, size));
      }
      number(head, blocks.size());
      number(head, kBlock);
      number(head, raw.size() % kBlock);
      for (const std::string& b : blocks) {
        number(head, b.size());
        body += b;
      }
    }
    if (e_.mode == Encoding::AppendedRaw) return head + body;
    return e_.joinHeader && !e_.zlib ? base64Of(head + body) : base64Of(head) + base64Of(body);
  }

  Encoding e_;
  std::string appended_;
};

std::string handMadeGrid(Encoding e) {
  HandMade h(e);
  // One statement each: arrays are appended in the order in which they are made.
  std::string piece = "<Piece NumberOfPoints=\"5\" NumberOfCells=\"4\">\n<CellData>\n";
  piece += h.array<int64_t>("region", "Int64", 1, {3, 4, 9, 9});
  piece += h.array<float>("unused", "Float32", 1, {7, 2, 3, 4});
  piece += "</CellData>\n<Points>\n";
  piece += h.array<float>("Points", "Float32", 3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
  piece += "</Points>\n<Cells>\n";
  piece += h.array<int32_t>("connectivity", "Int32", 1, {0, 1, 2, 3, 1, 2, 3, 4, 0, 2, 1, 0, 1, 2, 3, 4});
  piece += h.array<int64_t>("offsets", "Int64", 1, {4, 8, 11, 16});
  piece += h.array<uint8_t>("types", "UInt8", 1, {10, 10, 5, 14});
  piece += "</Cells>\n</Piece>\n";
  return h.file("UnstructuredGrid", piece);
}

std::vector<Encoding> allEncodings() {
  std::vector<Encoding> all = {{}};
  for (const auto mode : {Encoding::Inline, Encoding::AppendedRaw, Encoding::AppendedBase64})
    for (const bool big : {false, true})
      for (const bool wide : {false, true})
        for (const bool zlib : {false, true})
          for (const bool join : {false, true}) all.push_back({mode, big, wide, zlib, join});
  return all;
}

TEST(FilesVtkXml, readsEveryEncoding) {
  for (const Encoding& e : allEncodings()) {
    const MeshFile file = readXmlText(handMadeGrid(e));
    ASSERT_EQ(file.volume.tets.size(), 2u) << e.mode << e.big << e.wide << e.zlib;
    EXPECT_NEAR(volumeOf(file.volume), 0.5, 1e-15);
    EXPECT_EQ(file.volume.region, (std::vector<int32_t>{3, 4}));
    EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 2, 1}));
    EXPECT_TRUE(hasNote(file, "1 cell of type pyramid"));
  }
}

TEST(FilesVtkXml, piecesFollowEachOther) {
  std::string text = handMadeGrid({});
  const size_t from = text.find("<Piece"), to = text.find("</Piece>") + 8;
  text.insert(to, text.substr(from, to - from));
  const MeshFile file = readXmlText(text);
  EXPECT_EQ(file.volume.positions.size(), 10u);
  ASSERT_EQ(file.volume.tets.size(), 4u);
  EXPECT_EQ(file.volume.tets[2], (Tetrahedron{5, 6, 7, 8}));
  EXPECT_EQ(file.volume.region, (std::vector<int32_t>{3, 4, 3, 4}));
}

TEST(FilesVtkXml, base64SkipsBlanksAndJoinsRuns) {
  auto text = [](const std::vector<std::byte>& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(text(decodeBase64(" aGV\nsbG8= d29ybGQ=", 100)), "helloworld");
  EXPECT_EQ(text(decodeBase64("aGVsbG8=", 2)), "he");
  EXPECT_EQ(text(decodeBase64("aGVs<bG8=", 100)), "hel");
  for (size_t n = 0; n < 20; ++n) {
    const std::string s = std::string("\x00\xff\x80zyxwvutsrqponmlkj", 20).substr(0, n);
    EXPECT_EQ(text(decodeBase64(base64Of(s), 100)), s);
  }
}

void expectSame(const MeshFile& back, const MeshFile& mesh) {
  EXPECT_TRUE(sameBits(back.volume.positions, mesh.volume.positions));
  EXPECT_TRUE(sameBits(back.surface.positions, mesh.surface.positions));
  EXPECT_EQ(back.volume.tets, mesh.volume.tets);
  EXPECT_EQ(back.volume.region, mesh.volume.region);
  EXPECT_EQ(back.surface.corners, mesh.surface.corners);
  EXPECT_EQ(back.surface.faceOffsets, mesh.surface.faceOffsets);
  EXPECT_EQ(back.surface.faceGroup, mesh.surface.faceGroup);
  EXPECT_EQ(back.surface.groupNames, mesh.surface.groupNames);
  EXPECT_EQ(back.surface.cornerNormals, mesh.surface.cornerNormals);
  EXPECT_EQ(back.surface.cornerUvs, mesh.surface.cornerUvs);
  EXPECT_EQ(back.surface.vertexColours, mesh.surface.vertexColours);
  EXPECT_TRUE(back.notes.empty());
}

MeshFile withAttributes() {
  MeshFile mesh = sampleMesh(true);
  for (const uint32_t c : mesh.surface.corners) {
    mesh.surface.cornerNormals.emplace_back(1.0 / (1 + c), 0.1 * c, -1);
    mesh.surface.cornerUvs.emplace_back(0.1 * c, 1.0 / 3);
  }
  for (size_t i = 0; i < mesh.surface.positions.size(); ++i)
    mesh.surface.vertexColours.emplace_back(static_cast<float>(i) / 30, 0.1f, 1.0f, 0.5f);
  return mesh;
}

TEST(FilesVtkXml, vtuComesBackTheSame) {
  for (const bool ascii : {false, true}) {
    const MeshFile mesh = withAttributes();
    const MeshFile back =
        readXmlText(written([&](OutputFile& out) { EXPECT_TRUE(writeVtu(out, mesh, ascii).empty()); }));
    EXPECT_EQ(back.format, MeshFormat::Vtu);
    expectSame(back, mesh);
    MeshFile plain;
    plain.volume = gridOfTets(3);
    expectSame(readXmlText(written([&](OutputFile& out) { writeVtu(out, plain, ascii); })), plain);
  }
}

TEST(FilesVtkXml, vtpComesBackTheSame) {
  for (const bool ascii : {false, true}) {
    MeshFile mesh = withAttributes();
    std::vector<std::string> notes;
    const std::string text = written([&](OutputFile& out) { notes = writeVtp(out, mesh, ascii); });
    EXPECT_EQ(notes.size(), 1u);  // the tetrahedra
    mesh.volume = {};
    const MeshFile back = readXmlText(text);
    EXPECT_EQ(back.format, MeshFormat::Vtp);
    expectSame(back, mesh);
  }
}

TEST(FilesVtkXml, attributesThatDifferPerCornerAreNoted) {
  MeshFile mesh = withAttributes();
  mesh.volume = {};
  mesh.surface.cornerNormals[0] = Vec3(0, 0, 9);  // corner 0 and corner 3 share position 0
  std::vector<std::string> notes;
  const MeshFile back = readXmlText(written([&](OutputFile& out) { notes = writeVtp(out, mesh, false); }));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("normals"), std::string::npos);
  EXPECT_TRUE(back.surface.cornerNormals.empty());
  EXPECT_EQ(back.surface.cornerUvs, mesh.surface.cornerUvs);
}

TEST(FilesVtkXml, differentPointListsFollowEachOther) {
  MeshFile mesh = sampleMesh(false);
  mesh.surface.positions[5] += Vec3(0, 0.25, 0);
  const MeshFile back = readXmlText(written([&](OutputFile& out) { writeVtu(out, mesh, false); }));
  EXPECT_EQ(back.volume.positions.size(), 54u);
  EXPECT_EQ(back.surface.face(0)[1], 27u + 3u);
  EXPECT_NEAR(volumeOf(back.volume), 0.008, 1e-15);
}

TEST(FilesVtkXml, anyNumberOfThreadsReadsTheSame) {
  MeshFile mesh;
  mesh.volume = gridOfTets(12);
  const std::string text = written([&](OutputFile& out) { writeVtu(out, mesh, false); });
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    expectSame(readXmlText(text), mesh);
  }
}

TEST(FilesVtkXml, refusesWhatIsWrong) {
  const std::string ascii = handMadeGrid({});
  const std::string raw = handMadeGrid({Encoding::AppendedRaw, false, true, false, true});
  const std::string packed = handMadeGrid({Encoding::AppendedRaw, false, true, true, true});
  expectError(readXmlText, "", ErrorKind::Format, "XML");
  expectError(readXmlText, "<a/>", ErrorKind::Format, "VTKFile");
  expectError(readXmlText, std::string(50, '\0'), ErrorKind::Format, "");
  expectError(readXmlText, replaced(ascii, "type=\"UnstructuredGrid\"", "type=\"ImageData\""),
              ErrorKind::Unsupported, "ImageData");
  expectError(readXmlText, replaced(packed, "vtkZLib", "vtkLZ4"), ErrorKind::Unsupported, "LZ4");
  expectError(readXmlText, replaced(packed, "vtkZLib", "vtkLZMA"), ErrorKind::Unsupported, "LZMA");
  for (const std::string& text : {ascii, raw, packed}) {
    expectError(readXmlText, replaced(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"1000000000\""),
                ErrorKind::Format, "Points");
    expectError(readXmlText, replaced(text, "NumberOfCells=\"4\"", "NumberOfCells=\"1000000000\""),
                ErrorKind::Format, "offsets");
    expectError(readXmlText, replaced(text, "NumberOfCells=\"4\"", "NumberOfCells=\"-4\""), ErrorKind::Format,
                "-4");
    expectError(readXmlText, replaced(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"9999999999999\""),
                ErrorKind::Limit, "32-bit");
  }
  expectError(readXmlText, replaced(ascii, "1.000000", "nan"), ErrorKind::Format, "coordinate is not finite");
  expectError(readXmlText, replaced(ascii, "16\n", "900\n"), ErrorKind::Format, "connectivity");
  expectError(readXmlText, replaced(ascii, "8\n", "3\n"), ErrorKind::Format, "out of order");
  const size_t cells = ascii.find("connectivity");
  expectError(readXmlText, ascii.substr(0, cells) + replaced(ascii.substr(cells), "3\n", "5\n"),
              ErrorKind::Format, "cell 0 refers to point 5");
  EXPECT_NE(errorOf(readXmlText, ascii.substr(0, cells) + replaced(ascii.substr(cells), "3\n", "5\n"))
                .place()
                .find("byte"),
            std::string::npos);
  expectError(readXmlText, replaced(raw, "offset=\"0\"", "offset=\"99999999\""), ErrorKind::Format, "beyond");
}

TEST(FilesVtkXml, refusesClaimsThatZlibCannotKeep) {
  const std::string packed = handMadeGrid({Encoding::AppendedRaw, false, true, true, true});
  // The region array comes first: blocks, block size, last size, sizes.
  const size_t head = packed.find("\">\n_") + 4;
  auto with = [&](size_t word, uint64_t value) {
    std::string text = packed;
    std::memcpy(text.data() + head + 8 * word, &value, 8);
    return text;
  };
  EXPECT_EQ(readXmlText(packed).volume.tets.size(), 2u);
  expectError(readXmlText, with(0, 1000000000), ErrorKind::Format, "blocks");
  expectError(readXmlText, with(0, UINT64_MAX), ErrorKind::Format, "blocks");
  expectError(readXmlText, with(1, 1000000000), ErrorKind::Format, "more than zlib can do");
  expectError(readXmlText, with(1, 1000), ErrorKind::Format, "4 are needed");
  expectError(readXmlText, with(3, 1000000000), ErrorKind::Format, "ends before");
  expectError(readXmlText, with(3, UINT64_MAX), ErrorKind::Format, "ends before");
  expectError(readXmlText, with(3, 3), ErrorKind::Format, "damaged");
  EXPECT_EQ(uint64_t(32), [&] {
    uint64_t v = 0;
    std::memcpy(&v, packed.data() + head + 8, 8);
    return v;
  }());
}

TEST(FilesVtkXml, isSturdy) {
  for (const Encoding& e : {Encoding{}, Encoding{Encoding::Inline, false, false, true, true},
                            Encoding{Encoding::AppendedRaw, true, true, true, true},
                            Encoding{Encoding::AppendedRaw, false, true, false, true}}) {
    const std::string text = handMadeGrid(e);
    EXPECT_GT(expectSturdy(readXmlText, text), text.size() / 4);
  }
}

}  // namespace
}  // namespace sunder::meshio

#include "sunder/meshio/vtk_xml_output.h"

#include "sunder/base/parallel.h"
#include "sunder/meshio/mesh_file.h"

#include "temporary_folder.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <zlib.h>

namespace sunder::meshio {
using namespace geometry;
namespace {

std::string someBytes(size_t count) {
  std::string out(count, '\0');
  for (size_t i = 0; i < count; ++i) out[i] = char((i * i >> 7) + i / 1000);
  return out;
}

std::string packed(const std::string& bytes, size_t piece) {
  VtkCompressor compressor;
  for (size_t at = 0; at < bytes.size(); at += piece)
    compressor.add(std::as_bytes(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at))));
  return compressor.take();
}

// As the manual of VTK's XML files has it.
std::string unpacked(const std::string& text) {
  const auto word = [&](size_t i) {
    uint64_t value = 0;
    std::memcpy(&value, text.data() + 8 * i, 8);
    return value;
  };
  std::string out;
  size_t at = 8 * (3 + word(0));
  for (size_t b = 0; b < word(0); ++b) {
    std::string block(b + 1 == word(0) && word(2) != 0 ? word(2) : word(1), '\0');
    uLongf size = block.size();
    EXPECT_EQ(::uncompress(reinterpret_cast<Bytef*>(block.data()), &size,
                           reinterpret_cast<const Bytef*>(text.data() + at), word(3 + b)),
              Z_OK);
    EXPECT_EQ(size, block.size());
    out += block;
    at += word(3 + b);
  }
  EXPECT_EQ(at, text.size());
  return out;
}

TEST(VtkXmlOutput, PackedBlocksUnpackToTheSameBytes) {
  const size_t block = 32768;
  for (const size_t count :
       {size_t(0), size_t(1), block - 1, block, block + 1, 5 * block, 130 * block + 77}) {
    const std::string bytes = someBytes(count), whole = packed(bytes, count + 1);
    EXPECT_EQ(unpacked(whole), bytes) << count;
    EXPECT_EQ(packed(bytes, 10007), whole) << count << ": pieces change nothing";
    const ThreadLimit one(1);
    EXPECT_EQ(packed(bytes, count + 1), whole) << count << ": threads change nothing";
  }
}

TEST(VtkXmlOutput, PackedFilesAreReadAsRawOnes) {
  TemporaryFolder folder;
  const size_t triangles = 40000;
  std::vector<float> points(9 * triangles);
  for (size_t i = 0; i < points.size(); ++i) points[i] = float(std::sin(double(i)));
  const auto write = [&](const char* name, VtkEncoding encoding) {
    OutputFile file(folder / name);
    VtkXmlOutput xml(file, "PolyData", encoding);
    xml.text() << "<Piece NumberOfPoints=\"" << 3 * triangles
               << "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\""
               << triangles << "\">\n";
    xml.element("Points", {vtkArray<float>("Points", 3, std::span<const float>(points))});
    xml.element("Polys", {vtkGenerated<int32_t>("connectivity", 1, 3 * triangles,
                                                [](size_t i) { return static_cast<int32_t>(i); }),
                          vtkGenerated<int32_t>("offsets", 1, triangles,
                                                [](size_t i) { return static_cast<int32_t>(3 * i + 3); })});
    xml.text() << "</Piece>\n";
    xml.finish();
    file.commit();
    return readMesh(folder / name);
  };
  const MeshFile raw = write("raw.vtp", VtkEncoding::Raw),
                 small = write("small.vtp", VtkEncoding::Compressed);
  ASSERT_EQ(small.surface.faceCount(), triangles);
  EXPECT_EQ(small.surface.positions, raw.surface.positions);
  EXPECT_EQ(small.surface.corners, raw.surface.corners);
  EXPECT_LT(std::filesystem::file_size(folder / "small.vtp"),
            0.8 * double(std::filesystem::file_size(folder / "raw.vtp")));
}

}  // namespace
}  // namespace sunder::meshio

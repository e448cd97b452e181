#include "sunder/show/export/export_files.h"

#include "sunder/base/error.h"
#include "sunder/show/view/view_data.h"

#include "export_sample.h"

namespace sunder::show {
namespace {

namespace fs = std::filesystem;

size_t entries(const fs::path& folder) {
  return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ExportFiles, NothingAppearsBeforeTheEnd) {
  TemporaryFolder folder;
  ExportFiles files(folder / "a/b/vtk", ExportFiles::Folder);
  files.write("one.txt", [](OutputFile& out) { out.write("1"); });
  EXPECT_FALSE(fs::exists(folder / "a/b/vtk"));
  files.finish();
  EXPECT_EQ(fileText(folder / "a/b/vtk/one.txt"), "1");
  EXPECT_EQ(entries(folder / "a/b"), 1u);
  EXPECT_EQ(files.count(), 1u);
  EXPECT_EQ(files.bytes(), 1u);
}

TEST(ExportFiles, AFailureLeavesNothingAndTheOldAsItWas) {
  TemporaryFolder folder;
  {
    ExportFiles files(folder / "new/deep", ExportFiles::Folder);
    files.write("one.txt", [](OutputFile& out) { out.write("1"); });
  }
  EXPECT_FALSE(fs::exists(folder / "new"));
  {
    ExportFiles files(folder / "lone/file.glb", ExportFiles::File);
    EXPECT_ANY_THROW(files.write("", [](OutputFile& out) {
      out.write("half");
      throw Error(ErrorKind::Write, "no space left");
    }));
  }
  EXPECT_FALSE(fs::exists(folder / "lone"));
  for (const bool fails : {false, true}) {
    ExportFiles files(folder / "old", ExportFiles::Folder);
    files.write("frame_0000.ply", [&](OutputFile& out) { out.write(fails ? "bad" : "good"); });
    if (!fails) files.finish();
  }
  EXPECT_EQ(fileText(folder / "old/frame_0000.ply"), "good");
  EXPECT_EQ(entries(folder / "old"), 1u);
}

TEST(ExportFiles, FilesOfAnEarlierExportAreCounted) {
  TemporaryFolder folder;
  for (const int count : {3, 1}) {
    ExportFiles files(folder / "ply/", ExportFiles::Folder);
    for (int i = 0; i < count; ++i) files.write(frameFileName(size_t(i), ".ply"), [](OutputFile&) {});
    files.finish();
    EXPECT_EQ(files.leftFromBefore(), count == 3 ? 0u : 2u);
  }
  EXPECT_EQ(frameFileName(123456, ".vtp"), "frame_123456.vtp");
}

TEST(ExportFiles, AFolderIsNoFileAndTheOtherWayRound) {
  TemporaryFolder folder;
  fs::create_directory(folder / "folder");
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(ExportFiles(folder / "folder", ExportFiles::File), Error);
  EXPECT_THROW(ExportFiles(folder / "file", ExportFiles::Folder), Error);
  EXPECT_THROW(ExportFiles(folder / "file/below", ExportFiles::Folder), Error);
}

TEST_F(ExportSample, WhatCannotBeIsNamed) {
  const auto message = [&](auto&& job) {
    try {
      job();
    } catch (const Error& e) {
      EXPECT_EQ(exitCode(e.kind()), 2);
      return std::string(e.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_NE(message([] { exportFormatNamed("ushda"); }).find("did you mean 'usda'"), std::string::npos);
  EXPECT_NE(message([&] {
              exportAs(ExportFormat::Ply, "x", {3, 12});
            }).find("no frame 12"),
            std::string::npos);
  writeSampleRun(folder / "empty.sunder", 0);
  const record::RunReader empty(folder / "empty.sunder");
  EXPECT_NE(message([&] { exportRun(empty, ExportFormat::Glb, {.output = folder / "x"}); }).find("no frames"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "x"));
}

TEST_F(ExportSample, AStopInTheMiddleLeavesNothing) {
  for (const ExportFormatInfo& format : exportFormats()) {
    if (format.format == ExportFormat::Html && viewerPage().empty()) continue;
    const auto stop = [](size_t done, size_t) {
      if (done == 7) throw 7;
    };
    EXPECT_THROW(exportRun(run(), format.format,
                           {.output = folder / "made/out", .frames = allFrames(12), .progress = stop}),
                 int)
        << format.name;
    EXPECT_FALSE(fs::exists(folder / "made")) << format.name;
  }
}

TEST_F(ExportSample, ThePageHoldsTheChosenFrames) {
  const std::string_view frame =
      "<html><script id=\"sunder-data\" type=\"application/octet-stream\"></script>";
  const std::string all = selfContainedPage(frame, folder / "run.sunder");
  const std::vector<size_t> some{2, 3, 9};
  const std::string few = selfContainedPage(frame, folder / "run.sunder", some);
  EXPECT_LT(few.size(), all.size());
  EXPECT_GT(few.size(), frame.size() + 100);
  const std::vector<size_t> bad{99};
  EXPECT_THROW(selfContainedPage(frame, folder / "run.sunder", bad), Error);
  std::vector<size_t> steps;
  const std::string told = selfContainedPage(frame, folder / "run.sunder", some, [&](size_t done, size_t of) {
    EXPECT_EQ(of, 2 * some.size());
    steps.push_back(done);
  });
  EXPECT_EQ(told, few);
  EXPECT_EQ(steps, (std::vector<size_t>{1, 2, 3, 6}));
}

}  // namespace
}  // namespace sunder::show

#include "run_report.h"

#include "sunder/base/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

// 99999, 123k, 4.57M
std::string shortCount(uint64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 100'000) return fmt::format("{}", count);
  return count < 1'000'000 ? fmt::format("{:.0f}k", value / 1e3) : fmt::format("{:.3g}M", value / 1e6);
}

// How many words the line has room for.
enum class Room { Plenty, Usual, Little, Least };

std::string compose(const world::RunStatus& s, double rate, Room room) {
  const bool wordy = room <= Room::Usual;
  const char* gap = room == Room::Least ? " " : "  ";
  std::string text = fmt::format("{}{}/{}", wordy ? "frame " : "", s.frame, s.frames);
  const auto add = [&](const std::string& part) { text += gap + part; };
  add(s.time < 1000 ? fmt::format("{:.2f} s", s.time) : fmt::format("{:.0f} s", s.time));
  if (rate > 0) {
    const std::string number =
        rate < 100 ? fmt::format("{:.3g}", rate) : shortCount(static_cast<uint64_t>(std::round(rate)));
    add(number + (room == Room::Plenty ? " frames/s" : "/s"));
    const uint64_t rest = s.frames > s.frame ? s.frames - s.frame : 0;
    add(durationText(static_cast<double>(rest) / rate) + (room == Room::Least ? "" : " left"));
  }
  add(shortCount(s.bodies) + " bodies");
  if (room == Room::Plenty) text += fmt::format(" ({} awake)", shortCount(s.awake));
  add(shortCount(s.contacts) + " contacts");
  add(energyText(s.energy.total()));
  return text;
}

}  // namespace

std::string energyText(double joules) {
  const double size = std::abs(joules);
  if (joules == 0) return "0 J";
  if (size >= 1e-3 && size < 1e12)
    for (const auto& [unit, name] :
         {std::pair{1e9, "GJ"}, {1e6, "MJ"}, {1e3, "kJ"}, {1.0, "J"}, {1e-3, "mJ"}})
      if (size >= 0.9995 * unit) return fmt::format("{:.3g} {}", joules / unit, name);
  return fmt::format("{:.2e} J", joules);
}

std::string RunLine::text(const world::RunStatus& status, double now, size_t columns) {
  if (!std::exchange(started_, true)) {
    firstFrame_ = status.frame;
    start_ = now;
  }
  const double elapsed = now - start_;
  const double rate = elapsed > 0 ? static_cast<double>(status.frame - firstFrame_) / elapsed : 0;
  std::string text;
  for (const Room room : {Room::Plenty, Room::Usual, Room::Little, Room::Least}) {
    text = compose(status, rate, room);
    if (text.size() < columns) break;
  }
  return text;
}

std::string stageTable(const Profiler& profiler, double seconds) {
  struct Line {
    std::string name;
    double seconds;
  };
  const std::vector<Profiler::Stage>& stages = profiler.stages();
  std::vector<Line> lines;
  double covered = 0;
  for (const uint32_t top : stages[0].children) {
    covered += stages[top].total;
    lines.push_back({stages[top].name, stages[top].total});
    for (const uint32_t child : stages[top].children)
      lines.push_back({"  " + stages[child].name, stages[child].total});
  }
  lines.push_back({"other", std::max(0.0, seconds - covered)});
  lines.push_back({"all", seconds});
  size_t width = 0;
  for (const Line& line : lines) width = std::max(width, line.name.size());
  std::string text = fmt::format("{:<{}} {:>10} {:>7}\n", "stage", width, "time", "share");
  for (const Line& line : lines)
    text += fmt::format("{:<{}} {:>8.3f} s {:>6.1f}%\n", line.name, width, line.seconds,
                        seconds > 0 ? 100 * line.seconds / seconds : 0.0);
  return text;
}

std::string degradedText(const std::vector<world::Degradation>& degradations) {
  if (degradations.empty()) return "nothing degraded\n";
  std::string text;
  for (const world::Degradation& d : degradations)
    text += fmt::format("degraded: {}: {}, first in frame {}{}\n", d.what, d.count, d.firstFrame,
                        d.example.empty() ? "" : " (" + d.example + ")");
  return text;
}

}  // namespace sunder::cli

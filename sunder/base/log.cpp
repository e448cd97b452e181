#include "sunder/base/log.h"

#include "sunder/base/work.h"

#include <memory>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>

namespace sunder {

namespace {

// "warning: " and the like; nothing for information.
class LevelWord : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view word;
    switch (message.level) {
      case spdlog::level::trace:
      case spdlog::level::debug:
        word = "debug: ";
        break;
      case spdlog::level::warn:
        word = "warning: ";
        break;
      case spdlog::level::err:
      case spdlog::level::critical:
        word = "error: ";
        break;
      default:
        break;
    }
    out.append(word.data(), word.data() + word.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelWord>(); }
};

spdlog::level::level_enum toSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
    case LogLevel::Off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

spdlog::logger& logger() {
  static const std::unique_ptr<spdlog::logger> instance = [] {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelWord>('*').set_pattern("sunder: %^%*%$%v");
    sink->set_formatter(std::move(formatter));
    auto made = std::make_unique<spdlog::logger>("sunder", std::move(sink));
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

}  // namespace

void setLogLevel(LogLevel lowestShown) { logger().set_level(toSpdlog(lowestShown)); }

LogLevel logLevel() {
  for (LogLevel level : {LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error}) {
    if (logShows(level)) return level;
  }
  return LogLevel::Off;
}

bool logShows(LogLevel level) { return level != LogLevel::Off && logger().should_log(toSpdlog(level)); }

void logMessage(LogLevel level, std::string_view message) {
  if (level == LogLevel::Off) return;
  WorkWatch::erase();  // the message has the line for itself
  logger().log(toSpdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace sunder

// Messages to people, on stderr, one line each:  sunder: warning: 3 contacts were dropped in frame 12
// Information has no prefix word. Colours only on a terminal. Safe from any thread. Formatting (fmt) happens
// only for messages that are shown, and the format string is checked by the compiler.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace sunder {

enum class LogLevel { Debug, Info, Warning, Error, Off };

void setLogLevel(LogLevel lowestShown);  // Info at the start
LogLevel logLevel();
bool logShows(LogLevel level);

void logMessage(LogLevel level, std::string_view message);

template <class... Args>
void logDebug(fmt::format_string<Args...> format, Args&&... args) {
  if (logShows(LogLevel::Debug))
    logMessage(LogLevel::Debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void logInfo(fmt::format_string<Args...> format, Args&&... args) {
  if (logShows(LogLevel::Info)) logMessage(LogLevel::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void logWarn(fmt::format_string<Args...> format, Args&&... args) {
  if (logShows(LogLevel::Warning))
    logMessage(LogLevel::Warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void logError(fmt::format_string<Args...> format, Args&&... args) {
  if (logShows(LogLevel::Error))
    logMessage(LogLevel::Error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sunder

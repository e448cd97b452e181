#include "sunder/show/view/http_request.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::show {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool isTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool isToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isTokenCharacter);
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isVisible(char c) { return c > ' ' && c < 0x7f; }
bool isValueCharacter(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f); }

std::string lowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Whether a list such as "keep-alive, close" has the word.
bool listHas(std::string_view list, std::string_view word) {
  const std::string lower = lowerCase(list);
  for (size_t at = 0; at <= lower.size();) {
    const size_t comma = std::min(lower.find(',', at), lower.size());
    if (trimmed(std::string_view(lower).substr(at, comma - at)) == word) return true;
    at = comma + 1;
  }
  return false;
}

ParsedRequest refused(int status, std::string_view reason) {
  ParsedRequest parsed;
  parsed.state = ParsedRequest::State::Refused;
  parsed.status = status;
  parsed.reason = reason;
  return parsed;
}

ParsedRequest parseLine(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last) return refused(400, "the request line needs three words");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1),
                         version = line.substr(last + 1);
  if (version.size() != 8 || !version.starts_with("HTTP/") || !isDigit(version[5]) || version[6] != '.' ||
      !isDigit(version[7]))
    return refused(400, "the request line does not end in a version of HTTP");
  if (!isToken(method)) return refused(400, "the method is not a word");
  if (version[5] != '1') return refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  if (method != "GET" && method != "HEAD") return refused(405, "only GET and HEAD are answered");
  if (target.empty() || target[0] != '/' || !std::all_of(target.begin(), target.end(), isVisible))
    return refused(400, "the target must be a path that starts with '/'");
  ParsedRequest parsed;
  parsed.request.headOnly = method == "HEAD";
  parsed.request.keepAlive = version[7] != '0';
  parsed.request.path = target.substr(0, target.find('?'));
  return parsed;
}

// Adds the fields to the request. The result is Refused if one of them makes the request invalid.
ParsedRequest parseFields(std::string_view lines, HttpRequest& request) {
  size_t hosts = 0;
  while (!lines.empty()) {
    const size_t end = lines.find(kLineEnd);
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(lines.size(), line.size() + kLineEnd.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos || !isToken(line.substr(0, colon)))
      return refused(400, "a header field has no name");
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (!std::all_of(value.begin(), value.end(), isValueCharacter))
      return refused(400, "a header field has control characters");
    if (request.fields.size() == kMostFields) return refused(431, "too many header fields");
    const std::string& name =
        request.fields.emplace_back(lowerCase(line.substr(0, colon)), std::string(value)).first;
    if (name == "transfer-encoding" || (name == "content-length" && value != "0"))
      return refused(413, "requests must not have a body");
    if (name == "connection" && listHas(value, "close")) request.keepAlive = false;
    hosts += name == "host";
  }
  if (hosts != 1) return refused(400, "a request needs one Host field");
  return {};
}

}  // namespace

std::string_view HttpRequest::field(std::string_view name) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

ParsedRequest parseRequest(std::string_view received) {
  // Empty lines before a request are allowed.
  size_t start = 0;
  while (received.substr(start).starts_with(kLineEnd)) start += kLineEnd.size();
  const std::string_view text = received.substr(start);
  const size_t lineEnd = text.find(kLineEnd);
  if (std::min(lineEnd, text.size()) > kLongestRequestLine) return refused(414, "the path is too long");
  const size_t headEnd = text.find("\r\n\r\n");
  if (std::min(headEnd, received.size()) > kLongestHead)
    return refused(431, "the header fields are too long");
  if (headEnd == text.npos) return {};
  ParsedRequest parsed = parseLine(text.substr(0, lineEnd));
  if (parsed.state == ParsedRequest::State::Refused) return parsed;
  const size_t fields = std::min(lineEnd + kLineEnd.size(), headEnd);
  const ParsedRequest wrong = parseFields(text.substr(fields, headEnd - fields), parsed.request);
  if (wrong.state == ParsedRequest::State::Refused) return wrong;
  parsed.state = ParsedRequest::State::Complete;
  parsed.bytes = start + headEnd + 4;
  return parsed;
}

std::string_view refusedOrigin(const HttpRequest& request, int port) {
  const auto isOurs = [port](std::string_view host) {
    for (const std::string_view name : {"127.0.0.1", "localhost"})
      if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
    return false;
  };
  if (!isOurs(request.field("host"))) return "this server answers to 127.0.0.1 and localhost only";
  for (const auto& [name, value] : request.fields) {
    constexpr std::string_view kScheme = "http://";
    if (name == "origin" && !(value.starts_with(kScheme) && isOurs(value.substr(kScheme.size()))))
      return "other pages must not read this one";
    if (name == "sec-fetch-site" && value != "same-origin" && value != "none" &&
        !(request.path == "/" && request.field("sec-fetch-mode") == "navigate" &&
          request.field("sec-fetch-dest") == "document"))
      return "other pages must not read this one";
  }
  return {};
}

}  // namespace sunder::show

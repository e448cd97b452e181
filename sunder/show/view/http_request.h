// The head of an HTTP/1.1 request: its first line and its header fields (RFC 9112). Reads strictly, because
// only browsers and tools on the same machine talk to this server: every line ends in CR LF, a path starts
// with '/', and only GET and HEAD are answered, so a request that brings a body is refused.
//
//   const ParsedRequest parsed = parseRequest(received);
//   if (parsed.state == ParsedRequest::State::Complete) ...  // parsed.request; drop parsed.bytes bytes
//
// Cost: one pass over the bytes received. Never throws anything but std::bad_alloc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sunder::show {

inline constexpr size_t kLongestRequestLine = 8 << 10;  // bytes; a longer one is refused with 414
inline constexpr size_t kLongestHead = 32 << 10;        // bytes of line and fields; a longer one gets 431
inline constexpr size_t kMostFields = 100;              // more fields get 431

struct HttpRequest {
  bool headOnly = false;  // HEAD: the client wants the header fields of the answer alone
  bool keepAlive = true;  // the client wants to send further requests on this connection
  std::string path;       // as it was sent, without the query; nothing in it is decoded
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

  // The value of the first field of this name (in lower case); empty if there is none.
  std::string_view field(std::string_view name) const;
};

struct ParsedRequest {
  enum class State {
    Incomplete,  // more bytes are needed
    Complete,    // `request` was sent in `bytes` bytes
    Refused,     // answer with `status` and `reason`, then close: the rest of the bytes has no meaning
  };
  State state = State::Incomplete;
  size_t bytes = 0;
  HttpRequest request;
  int status = 0;
  std::string_view reason;
};

ParsedRequest parseRequest(std::string_view received);

// Why a request must not be answered by a server on the loopback address at `port`; empty if it may be. The
// host must be 127.0.0.1 or localhost, so that no foreign name that resolves to this machine reaches the run
// (DNS rebinding). The fields Origin and Sec-Fetch-* that browsers add must not name another site; following
// a link to "/" is allowed.
std::string_view refusedOrigin(const HttpRequest& request, int port);

}  // namespace sunder::show

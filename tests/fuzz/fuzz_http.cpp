// The reader of HTTP requests on random bytes. Whatever it says of the input, it must say the same if the
// bytes arrive one after the other: the answer at the first prefix that is not incomplete is final.
#include "sunder/show/view/http_request.h"

#include <cstdint>
#include <cstdlib>

using namespace sunder::show;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  while (true) {
    const ParsedRequest parsed = parseRequest(input);
    if (parsed.state == ParsedRequest::State::Incomplete) break;
    if (parsed.state == ParsedRequest::State::Refused) {
      if (parsed.status < 400 || parsed.status > 599 || parsed.reason.empty()) std::abort();
      break;
    }
    if (parsed.bytes == 0 || parsed.bytes > input.size() || parsed.request.path[0] != '/') std::abort();
    if (parseRequest(input.substr(0, parsed.bytes - 1)).state != ParsedRequest::State::Incomplete)
      std::abort();
    if (parseRequest(input.substr(0, parsed.bytes)).state != ParsedRequest::State::Complete) std::abort();
    refusedOrigin(parsed.request, 8321);
    input.remove_prefix(parsed.bytes);
  }
  return 0;
}

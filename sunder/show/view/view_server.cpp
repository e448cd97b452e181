#include "sunder/show/view/view_server.h"

#include "sunder/base/error.h"
#include "sunder/show/view/http_server.h"
#include "sunder/show/view/view_data.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace sunder::show {

namespace {

constexpr int kPortsTried = 100;
constexpr const char* kJson = "application/json";
constexpr const char* kBytes = "application/octet-stream";

// The page loads nothing from elsewhere, stands in no frame and says nothing about where it came from; no
// other page may read what is served here, or keep a handle on its window.
constexpr const char* kHeaders =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'unsafe-inline'; font-src data:; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n";

// The numbers of a path "PREFIX1/2/3" with the separators given, at most ten digits each; none if the path is
// anything else.
std::optional<std::vector<size_t>> pathNumbers(std::string_view path, std::string_view prefix,
                                               std::string_view separators) {
  if (!path.starts_with(prefix)) return {};
  path.remove_prefix(prefix.size());
  std::vector<size_t> numbers;
  for (size_t i = 0; i <= separators.size(); ++i) {
    const size_t end = std::min(path.find_first_not_of("0123456789"), path.size());
    size_t value = 0;
    if (end == 0 || end > 10) return {};
    std::from_chars(path.data(), path.data() + end, value);
    numbers.push_back(value);
    path.remove_prefix(end);
    if (i == separators.size()) break;
    if (!path.starts_with(separators[i])) return {};
    path.remove_prefix(1);
  }
  return path.empty() ? std::optional(numbers) : std::nullopt;
}

}  // namespace

struct ViewServer::Impl {
  explicit Impl(const std::filesystem::path& run)
      : data(run), server([this](const HttpRequest& request) { return answer(request); }, kHeaders) {}
  ViewData data;
  HttpServer server;
  int port = 0;

  HttpAnswer answer(const HttpRequest& request) {
    try {
      return read(request.path);
    } catch (const Error& e) {
      return {.status = e.kind() == ErrorKind::Usage ? 404 : 500,
              .body = std::make_shared<const std::string>(e.what())};
    }
  }

  HttpAnswer read(const std::string& path) {
    const auto ok = [](const char* type, std::string body) {
      return HttpAnswer{.type = type, .body = std::make_shared<const std::string>(std::move(body))};
    };
    if (path == "/api/run") return ok(kJson, data.info());
    if (const auto n = pathNumbers(path, "/api/mesh/", "")) return ok(kBytes, data.mesh((*n)[0]));
    if (const auto n = pathNumbers(path, "/api/frames/", "-"))
      return ok(kBytes, data.frames((*n)[0], (*n)[1]));
    if (const auto n = pathNumbers(path, "/api/boxes/", "/"))
      return ok(kBytes, data.boxes((*n)[0], level((*n)[1])));
    if (const auto n = pathNumbers(path, "/api/spheres/", "/"))
      return ok(kBytes, data.spheres((*n)[0], level((*n)[1])));
    if (const auto n = pathNumbers(path, "/api/slice/", "//"); n && (*n)[1] < 3 && (*n)[2] < 10000)
      return ok(kBytes, data.slice((*n)[0], uint32_t((*n)[1]), double((*n)[2]) / 1000));
    if (const auto n = pathNumbers(path, "/api/points/", "")) return ok(kBytes, data.points((*n)[0]));
    if (const auto n = pathNumbers(path, "/api/shape/", "/")) return ok(kBytes, data.shape((*n)[0], (*n)[1]));
    if (const auto n = pathNumbers(path, "/api/soft/", "")) return ok(kBytes, data.soft((*n)[0]));
    if (const auto n = pathNumbers(path, "/api/tear/", "/")) return ok(kBytes, data.tear((*n)[0], (*n)[1]));
    if (const auto n = pathNumbers(path, "/api/fronts/", "")) return ok(kJson, data.fronts((*n)[0]));
    if (const auto n = pathNumbers(path, "/api/events/", "")) return ok(kJson, data.events((*n)[0]));
    throw Error(ErrorKind::Usage, "there is nothing at this path");
  }

  static uint32_t level(size_t number) { return uint32_t(std::min<size_t>(number, 999)); }
};

void ViewServer::requirePage() {
  if (viewerPage().empty())
    throw Error(ErrorKind::Unsupported, "this program was built without the viewer's page")
        .hint("install npm, then build again: ./run does both");
}

ViewServer::ViewServer(const std::filesystem::path& run) {
  requirePage();
  impl_ = std::make_unique<Impl>(run);
  impl_->server.serve("/", "text/html; charset=utf-8", std::string(viewerPage()));
}

ViewServer::~ViewServer() { stop(); }

int ViewServer::listen(int port) { return impl_->port = impl_->server.listen(port, kPortsTried); }

std::string ViewServer::url() const { return fmt::format("http://127.0.0.1:{}/", impl_->port); }

void ViewServer::wait(const std::atomic<bool>& stopped) {
  while (!stopped.load()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stop();
}

void ViewServer::stop() {
  impl_->data.cancel();
  impl_->server.stop();
}

}  // namespace sunder::show

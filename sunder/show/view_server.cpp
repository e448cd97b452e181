#include "sunder/show/view_server.h"

#include "sunder/base/error.h"
#include "sunder/show/view_data.h"

#include <charconv>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

namespace sunder::show {

namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr int kPortsTried = 100;

// The numbers matched by a path's pattern; too large ones are no frames either.
size_t number(const std::string& digits) {
  size_t value = SIZE_MAX;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// An answer as it is. httplib packs texts that stand in the body, the page for half a second: on the same
// machine that is only lost time.
void setContent(httplib::Response& response, std::string content, const char* type) {
  if (content.empty()) return response.set_content("", type);
  const auto kept = std::make_shared<const std::string>(std::move(content));
  response.set_content_provider(kept->size(), type,
                                [kept](size_t offset, size_t length, httplib::DataSink& sink) {
                                  return sink.write(kept->data() + offset, length);
                                });
}

}  // namespace

struct ViewServer::Impl {
  explicit Impl(const std::filesystem::path& run) : data(run) {}
  ViewData data;
  httplib::Server server;
  std::thread thread;
  int port = 0;

  template <class Make>
  void answer(httplib::Response& response, const char* type, Make&& make) {
    try {
      setContent(response, make(), type);
    } catch (const Error& e) {
      response.status = e.kind() == ErrorKind::Usage ? 404 : 500;
      response.set_content(e.what(), "text/plain; charset=utf-8");
    }
  }

  void route() {
    using httplib::Request;
    using httplib::Response;
    // By default two servers would share a port, and each get half of the questions.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // Another page must not read the run through the visitor's browser, nor may this one load anything from
    // elsewhere.
    server.set_default_headers(
        {{"Cache-Control", "no-store"},
         {"X-Content-Type-Options", "nosniff"},
         {"Content-Security-Policy",
          "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
          "font-src data:; img-src data: blob:; connect-src 'self'"}});
    server.set_pre_routing_handler([this](const Request& request, Response& response) {
      // A name that points here from outside is not an address of ours.
      const std::string host = request.get_header_value("Host");
      if (host == fmt::format("{}:{}", kHost, port) || host == fmt::format("localhost:{}", port))
        return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content("this server answers to 127.0.0.1 and localhost only", "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.Get("/", [](const Request&, Response& r) {
      setContent(r, std::string(viewerPage()), "text/html; charset=utf-8");
    });
    server.Get("/api/run", [this](const Request&, Response& r) {
      answer(r, "application/json", [&] { return data.info(); });
    });
    server.Get(R"(/api/mesh/(\d{1,10}))", [this](const Request& q, Response& r) {
      answer(r, "application/octet-stream", [&] { return data.mesh(number(q.matches[1])); });
    });
    server.Get(R"(/api/frames/(\d{1,10})-(\d{1,10}))", [this](const Request& q, Response& r) {
      answer(r, "application/octet-stream",
             [&] { return data.frames(number(q.matches[1]), number(q.matches[2])); });
    });
    server.Get(R"(/api/boxes/(\d{1,10})/(\d{1,3}))", [this](const Request& q, Response& r) {
      answer(r, "application/octet-stream",
             [&] { return data.boxes(number(q.matches[1]), uint32_t(number(q.matches[2]))); });
    });
    server.Get(R"(/api/spheres/(\d{1,10})/(\d{1,3}))", [this](const Request& q, Response& r) {
      answer(r, "application/octet-stream",
             [&] { return data.spheres(number(q.matches[1]), uint32_t(number(q.matches[2]))); });
    });
    server.Get(R"(/api/slice/(\d{1,10})/([012])/(\d{1,4}))", [this](const Request& q, Response& r) {
      answer(r, "application/octet-stream", [&] {
        return data.slice(number(q.matches[1]), uint32_t(number(q.matches[2])),
                          double(number(q.matches[3])) / 1000);
      });
    });
    server.Get(R"(/api/points/(\d{1,10}))", [this](const Request& q, Response& r) {
      answer(r, "application/octet-stream", [&] { return data.points(number(q.matches[1])); });
    });
    server.Get(R"(/api/events/(\d{1,10}))", [this](const Request& q, Response& r) {
      answer(r, "application/json", [&] { return data.events(number(q.matches[1])); });
    });
  }
};

void ViewServer::requirePage() {
  if (viewerPage().empty())
    throw Error(ErrorKind::Unsupported, "this program was built without the viewer's page")
        .hint("install npm, then build again: ./run does both");
}

ViewServer::ViewServer(const std::filesystem::path& run) {
  requirePage();
  impl_ = std::make_unique<Impl>(run);
  impl_->route();
}

ViewServer::~ViewServer() { stop(); }

int ViewServer::listen(int port) {
  if (port == 0) {
    impl_->port = impl_->server.bind_to_any_port(kHost);
  } else {
    for (int p = port; p < port + kPortsTried && p < 65536 && impl_->port == 0; ++p)
      if (impl_->server.bind_to_port(kHost, p)) impl_->port = p;
  }
  if (impl_->port <= 0)
    throw Error(ErrorKind::Limit, fmt::format("no free port from {} to {}", port, port + kPortsTried - 1))
        .hint("give another one with --port, or 0 for any");
  impl_->thread = std::thread([this] { impl_->server.listen_after_bind(); });
  while (!impl_->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return impl_->port;
}

std::string ViewServer::url() const { return fmt::format("http://{}:{}/", kHost, impl_->port); }

void ViewServer::wait(const std::atomic<bool>& stopped) {
  while (!stopped.load()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  stop();
}

void ViewServer::stop() {
  if (!impl_ || !impl_->thread.joinable()) return;
  impl_->server.stop();
  impl_->thread.join();
}

}  // namespace sunder::show

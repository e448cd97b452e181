// A small HTTP/1.1 server for browsers on this machine: listens on 127.0.0.1 only, answers GET and HEAD, and
// keeps within HttpLimits whatever its clients do.
//
//   HttpServer server([](const HttpRequest& request) { return HttpAnswer{...}; });
//   server.serve("/", "text/html", page);   // a fixed answer
//   const int port = server.listen(8080, 100);
//   ...
//   server.stop();
//
// One thread serves all sockets and never waits for a client; a second one computes answers, one after the
// other in the order of the requests, so that fixed answers come at once even while a long one is computed.
// When all connections are taken, a new client gets the place of the one that has been slowest, so clients
// that hang do not keep others out. All clients of a loopback address have the same address: limits for each
// connection are the limits for each client.
//
// Ranges are not served: a request with a Range field gets the whole answer, as RFC 9110 allows (14.2).
#pragma once

#include "sunder/show/view/http_connection.h"
#include "sunder/show/view/http_request.h"

#include <functional>
#include <memory>
#include <string>

namespace sunder::show {

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // The handler is called by one thread. What it throws is answered with 500. `headers` are lines, each with
  // CR LF, that every answer gets.
  explicit HttpServer(Handler handler, std::string headers = {}, HttpLimits limits = {});
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // A fixed answer to a path, before listen(). The text of `type` must stay where it is.
  void serve(const std::string& path, std::string_view type, std::string body);
  // Starts to answer, on the first free one of `count` ports from `port` on; port 0 takes any. Returns the
  // port. Throws Error (Limit) if none is free or the machine has no sockets left. To be called once.
  int listen(int port, int count = 1);
  // Closes every connection. Returns at once, or when the handler returns if it is at work. Safe to repeat.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sunder::show

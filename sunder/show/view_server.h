// Serves the page and a run to browsers on this machine, over HTTP on the loopback address only. Nothing of
// the file system is served but the page and the run it was given; a path with ".." or any other name is
// answered with 404.
//
//   ViewServer server("out/pile/run.sunder");
//   server.listen(8080);        // the next free port where that one is taken
//   server.url();               // http://127.0.0.1:8080/
//   server.wait();
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

namespace sunder::show {

class ViewServer {
 public:
  // Throws Error (Unsupported) where the program was built without the page.
  static void requirePage();
  // The same; and throws as RunReader does.
  explicit ViewServer(const std::filesystem::path& run);
  ~ViewServer();  // stops

  // Starts answering, in threads of its own. Tries `port` and the hundred after it; 0 takes any. Throws Error
  // (Limit) where all are taken. Returns the port.
  int listen(int port);
  std::string url() const;
  void wait(const std::atomic<bool>& stop);  // until it is told to stop
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sunder::show

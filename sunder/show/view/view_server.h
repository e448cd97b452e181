// Serves the page and a run to browsers on this machine, over HTTP on the loopback address only
// (http_server.h). Nothing of the file system is served but the page and the run it was given; a path with
// ".." or any other name is answered with 404. Other pages in the same browser cannot read the run.
//
//   ViewServer server("out/pile/run.sunder");
//   server.listen(8080);        // the next free port where that one is taken
//   server.url();               // http://127.0.0.1:8080/
//   server.wait(stopAsked);     // an atomic flag that a signal sets
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

  // Starts answering, in threads of its own. Takes the first free one of a hundred ports from `port` on; 0
  // takes any. Throws Error (Limit) where all are taken. Returns the port. To be called once.
  int listen(int port);
  std::string url() const;
  void wait(const std::atomic<bool>& stop);  // until it is told to stop; then stops
  // Closes every connection, whatever its client does, and returns within a fraction of a second; or, if the
  // trees of a picked mesh are just being made, when that is done.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sunder::show

#include "sunder/show/view/http_server.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sunder::show {

namespace {

constexpr int kBacklog = 128;                                // connections the kernel keeps until accept()
constexpr auto kLookAgain = std::chrono::milliseconds(100);  // after a lack of memory or descriptors

HttpAnswer textAnswer(int status, std::string_view text) {
  return {.status = status, .body = std::make_shared<const std::string>(fmt::format("{}\n", text))};
}

}  // namespace

struct HttpServer::Impl {
  using Clock = HttpConnection::Clock;
  using State = HttpConnection::State;

  class Descriptor {
   public:
    explicit Descriptor(int value = -1) : value_(value) {}
    ~Descriptor() { reset(-1); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void reset(int value) {
      if (value_ >= 0) ::close(value_);
      value_ = value;
    }
    int get() const { return value_; }
    int release() { return std::exchange(value_, -1); }

   private:
    int value_;
  };

  Impl(Handler h, std::string lines, HttpLimits most)
      : handler(std::move(h)), headers(std::move(lines)), limits(most) {}

  // Given before the threads start.
  const Handler handler;
  const std::string headers;
  const HttpLimits limits;
  std::map<std::string, HttpAnswer, std::less<>> fixed;  // by path
  int port = 0;
  Descriptor listener, wakeUp;

  // Of the thread that serves the sockets.
  std::map<uint64_t, HttpConnection> connections;  // by number, in the order in which they came
  uint64_t nextNumber = 0;
  std::deque<uint64_t> waiting;  // connections whose answer has not been asked for yet
  bool computing = false;
  Clock::time_point acceptFrom;  // not before

  // Between the two threads.
  std::mutex lock;
  std::condition_variable asked;
  struct Job {
    uint64_t connection;
    HttpRequest request;
  };
  struct Result {
    uint64_t connection;
    HttpAnswer answer;
  };
  std::optional<Job> job;
  std::optional<Result> result;
  std::atomic<bool> stopping{false};
  std::thread sockets, worker;

  void wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wakeUp.get(), &one, sizeof one);
  }

  bool bind(int wanted) {
    listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (listener.get() < 0) return false;
    // A port that was in use a moment ago may be taken again; one that is in use may not.
    const int yes = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(uint16_t(wanted));
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener.get(), place, size) != 0 || ::listen(listener.get(), kBacklog) != 0 ||
        ::getsockname(listener.get(), place, &size) != 0)
      return false;
    port = ntohs(address.sin_port);
    return true;
  }

  HttpAnswer compute(const HttpRequest& request) const {
    try {
      try {
        return handler(request);
      } catch (const std::bad_alloc&) {
        return textAnswer(500, "there is not enough memory for the answer");
      } catch (const std::exception& e) {
        return textAnswer(500, e.what());
      }
    } catch (...) {
      return {.status = 500, .body = {}};
    }
  }

  void work() {
    std::unique_lock guard(lock);
    while (true) {
      asked.wait(guard, [this] { return job || stopping; });
      if (stopping) return;
      const Job now = std::move(*job);
      job.reset();
      guard.unlock();
      HttpAnswer answer = compute(now.request);
      guard.lock();
      result = Result{now.connection, std::move(answer)};
      wake();
    }
  }

  void takeResult(Clock::time_point now) {
    std::optional<Result> done;
    {
      const std::lock_guard guard(lock);
      done.swap(result);
    }
    if (!done) return;
    computing = false;
    const auto place = connections.find(done->connection);
    if (place != connections.end()) place->second.answer(std::move(done->answer), now);
  }

  // Gives the next request to the worker. Returns false if memory is short: then a client that does not read
  // loses its answer.
  bool dispatch(Clock::time_point now) {
    if (computing || waiting.empty()) return true;
    size_t held = 0;
    HttpConnection* slowest = nullptr;
    for (auto& [number, c] : connections) {
      if (c.state() != State::Writing) continue;
      held += c.bytesInMemory();
      if (!slowest || c.since() < slowest->since()) slowest = &c;
    }
    if (held >= limits.bytesInMemory) {
      if (now - slowest->since() > limits.stalled) slowest->close();
      return false;
    }
    Job next{waiting.front(), connections.at(waiting.front()).request()};
    waiting.pop_front();
    computing = true;
    {
      const std::lock_guard guard(lock);
      job = std::move(next);
    }
    asked.notify_one();
    return true;
  }

  void begin(uint64_t number, HttpConnection& connection, Clock::time_point now) {
    const HttpRequest& request = connection.request();
    const std::string_view reason = refusedOrigin(request, port);
    if (!reason.empty()) return connection.answer(textAnswer(403, reason), now);
    const auto place = fixed.find(request.path);
    if (place != fixed.end()) return connection.answer(place->second, now);
    waiting.push_back(number);
  }

  // Closes the connection that has been slowest: one without a request if there is one, else one that is
  // being sent its answer, else one that waits for it.
  void makeRoom() {
    const auto rank = [](const HttpConnection& c) {
      return std::pair(c.state() == State::Waiting ? 2 : c.state() == State::Writing ? 1 : 0, c.since());
    };
    const auto slowest =
        std::min_element(connections.begin(), connections.end(),
                         [&](const auto& a, const auto& b) { return rank(a.second) < rank(b.second); });
    if (slowest == connections.end()) return;
    slowest->second.close();
    removeClosed();
  }

  void removeClosed() {
    if (std::erase_if(connections, [](const auto& entry) { return entry.second.state() == State::Closed; }))
      std::erase_if(waiting, [this](uint64_t number) { return !connections.contains(number); });
  }

  void accept(Clock::time_point now) {
    for (int i = 0; i < kBacklog; ++i) {
      Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.get() < 0) {
        if (errno == EMFILE && !connections.empty()) {
          makeRoom();
          continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
          acceptFrom = now + kLookAgain;
        return;
      }
      if (connections.size() >= limits.connections) makeRoom();
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections.try_emplace(nextNumber++, socket.get(), limits, headers, now);
      socket.release();
    }
  }

  void serveOnce() {
    Clock::time_point now = Clock::now();
    takeResult(now);
    for (auto& [number, c] : connections)
      if (c.deadline() <= now) c.expire(now);
    removeClosed();
    Clock::time_point until = now + std::chrono::seconds(1);
    if (!dispatch(now)) until = now + kLookAgain;
    removeClosed();

    std::vector<pollfd> polled{{wakeUp.get(), POLLIN, 0}};
    polled.push_back({now < acceptFrom ? -1 : listener.get(), POLLIN, 0});
    std::vector<uint64_t> numbers;
    for (const auto& [number, c] : connections) {
      polled.push_back({c.socket(), c.events(), 0});
      numbers.push_back(number);
      until = std::min(until, c.hasMore() ? now : c.deadline());
    }
    if (now < acceptFrom) until = std::min(until, acceptFrom);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    if (::poll(polled.data(), polled.size(), int(std::max<int64_t>(wait, 0))) < 0) return;  // a signal

    now = Clock::now();
    if (polled[0].revents != 0) {
      uint64_t count;
      [[maybe_unused]] const ssize_t taken = ::read(wakeUp.get(), &count, sizeof count);
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      HttpConnection& c = connections.at(numbers[i]);
      const short events = polled[i + 2].revents;
      if (events & (POLLERR | POLLHUP | POLLNVAL))
        c.close();
      else if (events & POLLOUT)
        c.write(now);
      else if ((events & POLLIN) || c.hasMore())
        c.read(now);
      else
        continue;
      if (c.state() == State::Waiting) begin(numbers[i], c, now);
    }
    removeClosed();
    if (polled[1].revents != 0) accept(now);
  }

  void run() {
    while (!stopping) {
      try {
        serveOnce();
      } catch (const std::bad_alloc&) {
        // A simulation that is shown meanwhile must not end for want of memory to show it.
        connections.clear();
        waiting.clear();
        acceptFrom = Clock::now() + kLookAgain;
      }
    }
    connections.clear();
    listener.reset(-1);
  }
};

HttpServer::HttpServer(Handler handler, std::string headers, HttpLimits limits)
    : impl_(std::make_unique<Impl>(std::move(handler), std::move(headers), limits)) {}

HttpServer::~HttpServer() { stop(); }

void HttpServer::serve(const std::string& path, std::string_view type, std::string body) {
  impl_->fixed[path] = {.type = type, .body = std::make_shared<const std::string>(std::move(body))};
}

int HttpServer::listen(int port, int count) {
  impl_->wakeUp.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  const int last = port == 0 ? 0 : std::min(port + count - 1, 65535);
  bool bound = false;
  for (int p = port; p <= last && !bound; ++p) bound = impl_->bind(p);
  if (!bound || impl_->wakeUp.get() < 0)
    throw Error(ErrorKind::Limit, port == last ? fmt::format("cannot listen on port {}", port)
                                               : fmt::format("no free port from {} to {}", port, last))
        .hint("give another one with --port, or 0 for any");
  impl_->worker = std::thread([this] { impl_->work(); });
  impl_->sockets = std::thread([this] { impl_->run(); });
  return impl_->port;
}

void HttpServer::stop() {
  {
    const std::lock_guard guard(impl_->lock);
    impl_->stopping = true;
  }
  impl_->asked.notify_one();
  impl_->wake();
  if (impl_->sockets.joinable()) impl_->sockets.join();
  if (impl_->worker.joinable()) impl_->worker.join();
}

}  // namespace sunder::show

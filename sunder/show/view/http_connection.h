// One client of the HTTP server: its socket, the bytes it has sent and the answer it is being sent. No call
// blocks, and a client cannot make a connection keep more than one head (32 kB) and one answer in memory.
//
// A connection is Reading until a request is complete, Waiting while its answer is computed, Writing until
// the answer is sent, then Reading again; or Draining before it is Closed, so that the client gets the whole
// answer although bytes that it sent were never read. Every state but Waiting has a deadline that bytes which
// trickle in do not move.
#pragma once

#include "sunder/show/view/http_request.h"

#include <chrono>
#include <memory>
#include <string>

namespace sunder::show {

struct HttpAnswer {
  int status = 200;
  std::string_view type = "text/plain; charset=utf-8";  // of text that outlives the server
  std::shared_ptr<const std::string> body;              // none: no bytes
};

struct HttpLimits {
  using Time = std::chrono::milliseconds;
  size_t connections = 64;           // at once; a new one takes the place of the slowest
  size_t bytesInMemory = 256 << 20;  // of answers; above it no further answer is computed
  Time idle{15000};                  // for a request to begin
  Time head{5000};                   // for a request that has begun to be complete
  Time answer{10000};                // for an answer to be sent, plus its bytes over `slowest`
  double slowest = 1e6;              // bytes a second that a client must read of a long answer
  Time drain{1000};                  // for the client to close after the last answer
  Time stalled{1000};                // a client that reads nothing for so long makes room if memory is short
};

class HttpConnection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { Reading, Waiting, Writing, Draining, Closed };

  // Takes the socket, which must not block. `headers` are added to every answer, each line with CR LF; both
  // references must outlive the connection.
  HttpConnection(int socket, const HttpLimits& limits, const std::string& headers, Clock::time_point now);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  State state() const { return state_; }
  int socket() const { return socket_; }
  short events() const;  // what poll() should wait for
  // The deadline of the state; far away while Waiting.
  Clock::time_point deadline() const { return deadline_; }
  // When the state was entered; while Writing, when the client read something last.
  Clock::time_point since() const { return since_; }
  // Bytes have arrived that were not looked at yet: the connection must be served without poll().
  bool hasMore() const { return state_ == State::Reading && more_; }
  size_t bytesInMemory() const { return body_ ? body_->capacity() : 0; }

  // Reads what has arrived. A request that is complete makes the state Waiting; one that is refused is
  // answered at once.
  void read(Clock::time_point now);
  const HttpRequest& request() const { return request_; }  // Waiting
  void answer(HttpAnswer answer, Clock::time_point now);   // Waiting
  void write(Clock::time_point now);                       // sends what the socket takes
  void expire(Clock::time_point now);                      // the deadline has passed
  void close();

 private:
  void enter(State state, HttpLimits::Time time, Clock::time_point now);
  void parse(Clock::time_point now);
  void refuse(int status, std::string_view reason, Clock::time_point now);
  void finish(Clock::time_point now);

  int socket_;
  const HttpLimits& limits_;
  const std::string& headers_;
  State state_ = State::Reading;
  Clock::time_point since_, deadline_;
  std::string received_;
  bool more_ = false;
  HttpRequest request_;
  std::string head_;                         // of the answer
  std::shared_ptr<const std::string> body_;  // none: not sent
  size_t sent_ = 0;                          // bytes of both
};

}  // namespace sunder::show

#include "sunder/show/view/http_connection.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sunder::show {

namespace {

constexpr size_t kReadAtOnce = 16 << 10;    // bytes
constexpr size_t kWriteAtOnce = 256 << 10;  // bytes; then it is the turn of other connections

std::string_view statusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

// As HTTP wants it: "Sun, 06 Nov 1994 08:49:37 GMT". strftime would use the names of the user's language.
std::string dateText() {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                     kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

bool tryAgain() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

HttpConnection::HttpConnection(int socket, const HttpLimits& limits, const std::string& headers,
                               Clock::time_point now)
    : socket_(socket), limits_(limits), headers_(headers) {
  enter(State::Reading, limits_.idle, now);
}

HttpConnection::~HttpConnection() { close(); }

void HttpConnection::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  state_ = State::Closed;
  body_.reset();
}

void HttpConnection::enter(State state, HttpLimits::Time time, Clock::time_point now) {
  state_ = state;
  since_ = now;
  deadline_ = now + time;
}

short HttpConnection::events() const {
  if (state_ == State::Writing) return POLLOUT;
  return state_ == State::Waiting ? 0 : POLLIN;  // one request at a time: the next stays in the socket
}

void HttpConnection::read(Clock::time_point now) {
  if (hasMore()) return parse(now);
  char bytes[kReadAtOnce];
  const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
  if (count < 0 && tryAgain()) return;
  if (count <= 0) return close();
  if (state_ != State::Reading) return;  // nobody wants the rest
  if (received_.empty()) deadline_ = now + limits_.head;
  received_.append(bytes, size_t(count));
  parse(now);
}

void HttpConnection::parse(Clock::time_point now) {
  more_ = false;
  ParsedRequest parsed = parseRequest(received_);
  if (parsed.state == ParsedRequest::State::Incomplete) return;
  request_ = std::move(parsed.request);
  if (parsed.state == ParsedRequest::State::Refused) {
    request_.headOnly = received_.starts_with("HEAD ");
    received_ = {};
    return refuse(parsed.status, parsed.reason, now);
  }
  received_.erase(0, parsed.bytes);
  state_ = State::Waiting;
  since_ = now;
  deadline_ = Clock::time_point::max();
}

void HttpConnection::refuse(int status, std::string_view reason, Clock::time_point now) {
  request_.keepAlive = false;
  answer({.status = status, .body = std::make_shared<const std::string>(fmt::format("{}\n", reason))}, now);
}

void HttpConnection::answer(HttpAnswer answer, Clock::time_point now) {
  const size_t size = answer.body ? answer.body->size() : 0;
  head_ = fmt::format(
      "HTTP/1.1 {} {}\r\nDate: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nAccept-Ranges: none\r\n{}{}"
      "Connection: {}\r\n\r\n",
      answer.status, statusText(answer.status), dateText(), answer.type, size, headers_,
      answer.status == 405 ? "Allow: GET, HEAD\r\n" : "", request_.keepAlive ? "keep-alive" : "close");
  body_ = request_.headOnly ? nullptr : std::move(answer.body);
  sent_ = 0;
  enter(State::Writing, limits_.answer + HttpLimits::Time(int64_t(double(size) * 1000 / limits_.slowest)),
        now);
  write(now);
}

void HttpConnection::write(Clock::time_point now) {
  const size_t whole = head_.size() + (body_ ? body_->size() : 0);
  // What is left of the head and of the body, and never a byte beyond either.
  iovec parts[2];
  size_t count = 0;
  if (sent_ < head_.size()) parts[count++] = {head_.data() + sent_, head_.size() - sent_};
  if (body_ && sent_ < whole) {
    const size_t at = std::max(sent_, head_.size()) - head_.size();
    parts[count++] = {const_cast<char*>(body_->data()) + at, std::min(kWriteAtOnce, body_->size() - at)};
  }
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
  if (sent < 0 && tryAgain()) return;
  if (sent < 0) return close();
  if (sent > 0) since_ = now;
  sent_ += size_t(sent);
  if (sent_ == whole) finish(now);
}

void HttpConnection::finish(Clock::time_point now) {
  head_ = {};
  body_.reset();
  if (!request_.keepAlive) {
    ::shutdown(socket_, SHUT_WR);
    return enter(State::Draining, limits_.drain, now);
  }
  more_ = !received_.empty();
  enter(State::Reading, more_ ? limits_.head : limits_.idle, now);
}

void HttpConnection::expire(Clock::time_point now) {
  if (state_ != State::Reading || received_.empty()) return close();
  received_ = {};
  request_ = {};
  refuse(408, "the request took too long", now);
}

}  // namespace sunder::show

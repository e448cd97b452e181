// A client for tests of the HTTP server that sends exactly the bytes it is told, and nothing it is not.
#pragma once

#include "sunder/base/stopwatch.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sunder::show {

class HttpClient {
 public:
  explicit HttpClient(int port) : port_(port), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(uint16_t(port));
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  HttpClient(HttpClient&& other) noexcept
      : port_(other.port_),
        socket_(std::exchange(other.socket_, -1)),
        received_(std::move(other.received_)) {}
  ~HttpClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  // Returns false if the server has closed the connection.
  bool send(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += size_t(n);
    }
    return true;
  }
  bool get(const std::string& path, const std::string& fields = "", const std::string& method = "GET") {
    return send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n" +
                fields + "\r\n");
  }
  void endInput() { ::shutdown(socket_, SHUT_WR); }
  // Goes away without a word, which the server sees as an error.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(std::exchange(socket_, -1));
  }

  struct Answer {
    int status = 0;  // 0: the connection was closed, or nothing came within the time
    std::string head, body;
    std::string field(const std::string& name) const {
      const size_t at = head.find("\r\n" + name + ": ");
      if (at == head.npos) return "";
      const size_t start = at + name.size() + 4;
      return head.substr(start, head.find("\r\n", start) - start);
    }
  };
  // The next answer; `headOnly` if the request was HEAD.
  Answer answer(bool headOnly = false, double seconds = 5) {
    const Stopwatch watch;
    size_t end;
    while ((end = received_.find("\r\n\r\n")) == received_.npos)
      if (!receive(seconds - watch.seconds())) return {};
    Answer answer;
    answer.head = received_.substr(0, end + 2);
    received_.erase(0, end + 4);
    answer.status = std::atoi(answer.head.c_str() + 9);
    const size_t length = headOnly ? 0 : size_t(std::atol(answer.field("Content-Length").c_str()));
    while (received_.size() < length)
      if (!receive(seconds - watch.seconds())) return {};
    answer.body = received_.substr(0, length);
    received_.erase(0, length);
    return answer;
  }
  // True if the server closes the connection within the time and sends nothing more before.
  bool closes(double seconds = 5) {
    if (!received_.empty()) return false;
    pollfd polled{socket_, POLLIN, 0};
    if (::poll(&polled, 1, int(seconds * 1000)) <= 0) return false;
    char byte;
    return ::recv(socket_, &byte, 1, 0) <= 0;
  }

 private:
  bool receive(double seconds) {
    pollfd polled{socket_, POLLIN, 0};
    if (seconds <= 0 || ::poll(&polled, 1, int(seconds * 1000) + 1) <= 0) return false;
    char bytes[65536];
    const ssize_t n = ::recv(socket_, bytes, sizeof bytes, 0);
    if (n > 0) received_.append(bytes, size_t(n));
    return n > 0;
  }

  int port_, socket_;
  std::string received_;
};

}  // namespace sunder::show

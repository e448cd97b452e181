#include "sunder/show/view/http_server.h"

#include "sunder/base/error.h"
#include "sunder/base/stopwatch.h"

#include "show/http_client.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

std::string patternText(size_t count) {
  std::string text(count, ' ');
  for (size_t i = 0; i < count; ++i) text[i] = char('a' + i * i % 23);
  return text;
}

const std::string kSmall = patternText(80);
const std::string kLarge = patternText(8 << 20);

// Copies of kLarge that are in memory, now and at most.
std::atomic<int> copies{0}, mostCopies{0};

std::shared_ptr<const std::string> largeAnswer() {
  mostCopies = std::max(mostCopies.load(), ++copies);
  return {new std::string(kLarge), [](const std::string* text) {
            delete text;
            --copies;
          }};
}

std::atomic<bool> hold{false};  // the answer to "/held" is not ready

// Serves "/" (fixed), "/small", "/large", "/held", "/slow" (takes 300 ms), "/throw" and "/memory".
HttpAnswer sampleAnswer(const HttpRequest& request) {
  static const auto small = std::make_shared<const std::string>(kSmall);
  if (request.path == "/small") return {.body = small};
  if (request.path == "/large") return {.body = largeAnswer()};
  if (request.path == "/slow") std::this_thread::sleep_for(300ms);
  while (request.path == "/held" && hold) std::this_thread::sleep_for(1ms);
  if (request.path == "/slow" || request.path == "/held") return {.body = small};
  if (request.path == "/throw") throw Error(ErrorKind::Format, "the file is damaged");
  if (request.path == "/memory") throw std::bad_alloc();
  return {.status = 404, .body = {}};
}

struct SampleServer {
  explicit SampleServer(HttpLimits limits = {}) : server(sampleAnswer, "X-Mark: yes\r\n", limits) {
    server.serve("/", "text/html", "page");
    port = server.listen(0);
  }
  HttpServer server;
  int port;
};

size_t openFiles() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(HttpServer, EveryRangeGetsTheWholeAnswer) {
  SampleServer served;
  for (const char* range :
       {"bytes=0-99999999", "bytes=0-0", "bytes=79-80", "bytes=80-", "bytes=200-300", "bytes=-5",
        "bytes=-99999999", "bytes=50-10", "bytes=-", "bytes=0-0,5-99999999,-3",
        "bytes=0-18446744073709551615", "bytes=18446744073709551615-", "bytes=-18446744073709551616",
        "bytes=9223372036854775807-9223372036854775808", "bytes=0--1", "bytes=a-b", "lines=0-3", "",
        "bytes=0-1\r\nRange: bytes=2-3"}) {
    for (const auto& [path, whole] : {std::pair("/small", kSmall), std::pair("/", std::string("page"))}) {
      HttpClient client(served.port);
      client.get(path, "Range: " + std::string(range) + "\r\n");
      const HttpClient::Answer answer = client.answer();
      EXPECT_EQ(answer.status, 200) << range;
      EXPECT_EQ(answer.body, whole) << range;
      EXPECT_EQ(answer.field("Content-Length"), std::to_string(whole.size())) << range;
      EXPECT_EQ(answer.field("Accept-Ranges"), "none");
      EXPECT_EQ(answer.field("Content-Range"), "");
      client.get("/none", "Connection: close\r\n");  // nothing came after the body
      EXPECT_EQ(client.answer().status, 404);
      EXPECT_TRUE(client.closes());
    }
  }
}

TEST(HttpServer, HeadHasTheFieldsOfGetAndNoBody) {
  SampleServer served;
  HttpClient client(served.port);
  for (const char* path : {"/", "/small", "/large", "/none"}) {
    client.get(path, "Range: bytes=0-9\r\n", "HEAD");
    const HttpClient::Answer head = client.answer(true);
    client.get(path);
    const HttpClient::Answer get = client.answer();
    EXPECT_EQ(head.status, get.status);
    EXPECT_EQ(head.field("Content-Length"), get.field("Content-Length"));
    EXPECT_EQ(head.field("Content-Type"), get.field("Content-Type"));
    EXPECT_EQ(head.field("X-Mark"), "yes");
  }
  client.get("/", "Content-Length: 3\r\n", "HEAD");
  EXPECT_EQ(client.answer(true).status, 413);
  EXPECT_TRUE(client.closes());
}

TEST(HttpServer, OtherMethodsAreRefusedWithoutReadingTheirBody) {
  SampleServer served;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"}) {
    HttpClient client(served.port);
    client.get("/", "Content-Length: 1000000000\r\n", method);
    client.send(patternText(100000));
    const HttpClient::Answer answer = client.answer();
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.field("Allow"), "GET, HEAD");
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_TRUE(client.closes()) << method;
  }
  // A body is not taken for the next request.
  HttpClient client(served.port);
  client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\nGET /small HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.answer().status, 405);
  EXPECT_TRUE(client.closes());
}

TEST(HttpServer, LongAndBrokenHeadsAreRefused) {
  SampleServer served;
  const std::string host = "Host: 127.0.0.1:" + std::to_string(served.port) + "\r\n";
  for (const auto& [text, status] :
       {std::pair("GET / HTTP/1.1\r\n" + host + "A: " + patternText(64 << 10) + "\r\n\r\n", 431),
        std::pair("GET /" + patternText(100000) + " HTTP/1.1\r\n" + host + "\r\n", 414),
        std::pair(patternText(1000000), 414), std::pair("GET /\0 HTTP/1.1\r\n\r\n"s, 400),
        std::pair(std::string(4, '\0') + "\r\n\r\n", 400),
        std::pair(std::string("GET / HTTP/1.1\r\n\r\n"), 400),
        std::pair(std::string("GET / HTTP/3.0\r\n\r\n"), 505)}) {
    HttpClient client(served.port);
    client.send(text);
    EXPECT_EQ(client.answer().status, status) << text.substr(0, 40);
    EXPECT_TRUE(client.closes());
  }
  for (const char* path : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/small/",
                           "/%73mall", "/small%00", "/.", "/\\", "/Small"}) {
    HttpClient client(served.port);
    client.get(path);
    EXPECT_EQ(client.answer().status, 404) << path;
  }
}

TEST(HttpServer, ForeignHostsAndOriginsGetNothing) {
  SampleServer served;
  for (const char* path : {"/", "/small"}) {
    HttpClient client(served.port);
    client.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    EXPECT_EQ(client.answer().status, 403);
    client.get(path, "Origin: http://evil.example\r\n");
    EXPECT_EQ(client.answer().status, 403);
    client.get(path, "Sec-Fetch-Site: cross-site\r\n");
    EXPECT_EQ(client.answer().status, 403);
    client.get(path, "Origin: http://127.0.0.1:" + std::to_string(served.port) + "\r\n");
    EXPECT_EQ(client.answer().status, 200);
  }
}

TEST(HttpServer, RequestsOnOneConnectionAreAnsweredInOrder) {
  SampleServer served;
  HttpClient client(served.port);
  const std::string host = " HTTP/1.1\r\nHost: localhost:" + std::to_string(served.port) + "\r\n\r\n";
  std::string text;
  constexpr int kTimes = 300;
  for (int i = 0; i < kTimes; ++i) text += "GET /" + host + "GET /small" + host + "HEAD /small" + host;
  ASSERT_TRUE(client.send(text));
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_EQ(client.answer().body, "page") << i;
    ASSERT_EQ(client.answer().body, kSmall) << i;
    ASSERT_EQ(client.answer(true).status, 200) << i;
  }
  // Byte by byte.
  for (const char c : "GET /small" + host) client.send(std::string(1, c));
  EXPECT_EQ(client.answer().body, kSmall);
  client.get("/large", "Connection: close\r\n");
  EXPECT_EQ(client.answer().body, kLarge);
  EXPECT_TRUE(client.closes());
  HttpClient old(served.port);
  old.send("GET /small HTTP/1.0\r\nHost: 127.0.0.1:" + std::to_string(served.port) + "\r\n\r\n");
  EXPECT_EQ(old.answer().body, kSmall);
  EXPECT_TRUE(old.closes());
  HttpClient half(served.port);  // sends no more, but wants its answer
  half.get("/large");
  half.endInput();
  EXPECT_EQ(half.answer().body, kLarge);
  EXPECT_TRUE(half.closes());
}

TEST(HttpServer, WhatAHandlerThrowsIsAnswered) {
  SampleServer served;
  HttpClient client(served.port);
  client.get("/throw");
  HttpClient::Answer answer = client.answer();
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "the file is damaged\n");
  client.get("/memory");
  answer = client.answer();
  EXPECT_EQ(answer.status, 500);
  EXPECT_NE(answer.body.find("memory"), std::string::npos);
  client.get("/small");
  EXPECT_EQ(client.answer().status, 200);
}

TEST(HttpServer, FixedAnswersDoNotWaitForOthers) {
  SampleServer served;
  HttpClient held(served.port), quick(served.port);
  hold = true;
  held.get("/held");
  quick.get("/");
  EXPECT_EQ(quick.answer().body, "page");
  EXPECT_EQ(held.answer(false, 0.05).status, 0);
  hold = false;
  EXPECT_EQ(held.answer().body, kSmall);
}

TEST(HttpServer, ARequestThatTricklesInHasADeadline) {
  HttpLimits limits;
  limits.head = 300ms;
  limits.idle = 200ms;
  SampleServer served(limits);
  HttpClient idle(served.port), trickle(served.port);
  const Stopwatch watch;
  trickle.send("GET /small HTTP/1.1\r\nA: ");
  while (watch.seconds() < 5 && trickle.send("a")) {
    const HttpClient::Answer answer = trickle.answer(false, 0.01);
    if (answer.status == 0) continue;
    EXPECT_EQ(answer.status, 408);
    break;
  }
  EXPECT_GT(watch.seconds(), 0.25);
  EXPECT_LT(watch.seconds(), 2);
  EXPECT_TRUE(idle.closes(2));
}

TEST(HttpServer, AnAnswerThatIsNotReadHasADeadline) {
  HttpLimits limits;
  limits.answer = 200ms;
  limits.slowest = 1e9;
  SampleServer served(limits);
  const size_t before = openFiles();
  std::vector<HttpClient> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(served.port).get("/large");
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(openFiles(), before + clients.size());  // the server has closed its ends
  for (HttpClient& client : clients) EXPECT_EQ(client.answer().status, 0);
}

// Three times as many clients as there are connections, of every slow kind.
TEST(HttpServer, SlowClientsKeepNobodyOut) {
  SampleServer served;
  std::vector<HttpClient> slow;
  const Stopwatch watch;
  for (int i = 0; i < 200; ++i) {
    slow.emplace_back(served.port);
    if (i % 4 == 1) slow.back().send("GET /small HTTP/1.1\r\nHost: ");
    if (i % 4 == 2) slow.back().get("/large");
    if (i % 4 == 3) slow.back().get("/slow");
  }
  for (int i = 0; i < 20; ++i) {
    for (HttpClient& client : slow) client.send("a");
    const Stopwatch asked;
    HttpClient client(served.port);
    client.get("/");
    EXPECT_EQ(client.answer(false, 1).body, "page") << i;
    EXPECT_LT(asked.seconds(), 1);
  }
  EXPECT_LT(watch.seconds(), 20);
}

TEST(HttpServer, SixtyTricklingClientsDelayNoAnswer) {
  SampleServer served;
  std::vector<HttpClient> slow;
  for (int i = 0; i < 60; ++i) slow.emplace_back(served.port).send("GET /small HTTP/1.1\r\n");
  HttpClient client(served.port);
  for (int i = 0; i < 50; ++i) {
    for (HttpClient& other : slow) other.send("a");
    const Stopwatch asked;
    client.get(i % 2 ? "/small" : "/large");
    EXPECT_EQ(client.answer(false, 1).body, i % 2 ? kSmall : kLarge);
    EXPECT_LT(asked.seconds(), 1);
  }
}

TEST(HttpServer, MemoryOfAnswersThatNobodyReadsIsLimited) {
  HttpLimits limits;
  limits.bytesInMemory = 2 * kLarge.size();
  limits.stalled = 100ms;
  limits.connections = 40;
  SampleServer served(limits);
  mostCopies = 0;
  std::vector<HttpClient> slow;
  for (int i = 0; i < 12; ++i) slow.emplace_back(served.port).get("/large");
  // They make room for one that reads: each of those before it is given up after a while.
  HttpClient client(served.port);
  client.get("/large");
  EXPECT_EQ(client.answer(false, 15).body, kLarge);
  EXPECT_LE(mostCopies, 2);
}

TEST(HttpServer, VanishingClientsLeaveNothingBehind) {
  SampleServer served;
  const size_t before = openFiles();
  const auto visit = [&](int i) {
    HttpClient client(served.port);
    if (i % 5 == 1) client.send("GET /sm");
    if (i % 5 >= 2) client.get(i % 5 == 2 ? "/large" : i % 5 == 3 ? "/small" : "/");
    if (i % 2) client.reset();
  };
  for (int i = 0; i < 2000; ++i) visit(i);
  HttpClient client(served.port);
  client.get("/small", "Connection: close\r\n");
  EXPECT_EQ(client.answer().body, kSmall);
  EXPECT_TRUE(client.closes());
  const Stopwatch watch;
  while ((openFiles() > before + 1 || copies > 0) && watch.seconds() < 5) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(openFiles(), before + 1);  // that of `client`
  EXPECT_EQ(copies, 0);
}

TEST(HttpServer, StopsAtOnceUnderLoad) {
  std::vector<HttpClient> clients;
  auto served = std::make_unique<SampleServer>();
  for (int i = 0; i < 60; ++i) {
    clients.emplace_back(served->port);
    if (i % 3 == 0) clients.back().send("GET /");
    if (i % 3 == 1) clients.back().get("/large");
    if (i % 3 == 2) clients.back().get("/slow");
  }
  std::this_thread::sleep_for(50ms);
  const Stopwatch watch;
  served->server.stop();
  EXPECT_LT(watch.seconds(), 1);
  served->server.stop();
  const int port = served->port;
  EXPECT_THROW(HttpClient{port}, std::runtime_error);
  served.reset();
  // The port can be taken again although connections to it were just closed.
  HttpServer next(sampleAnswer);
  EXPECT_EQ(next.listen(port), port);
}

TEST(HttpServer, APortInUseIsLeftToTheNext) {
  SampleServer first;
  HttpServer second(sampleAnswer), third(sampleAnswer);
  EXPECT_THROW(third.listen(first.port), Error);
  EXPECT_GT(second.listen(first.port, 100), first.port);
}

TEST(HttpServer, AServerThatNeverListenedStops) {
  HttpServer server(sampleAnswer);
  server.stop();
}

}  // namespace
}  // namespace sunder::show

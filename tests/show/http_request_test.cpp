#include "sunder/show/view/http_request.h"

#include <string>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

using namespace std::string_literals;
using RequestState = ParsedRequest::State;

std::string getText(const std::string& target, const std::string& fields = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:80\r\n" + fields + "\r\n";
}

int statusOf(const std::string& text) {
  const ParsedRequest parsed = parseRequest(text);
  EXPECT_NE(parsed.state, RequestState::Incomplete) << text.substr(0, 80);
  return parsed.state == RequestState::Complete ? 200 : parsed.status;
}

TEST(HttpRequest, IsCompleteAtItsLastByteAndNotBefore) {
  const std::string text = "\r\n" + getText("/api/run?x=1", "Accept:  a, b \r\nX-Empty:\r\n");
  for (size_t n = 0; n < text.size(); ++n)
    EXPECT_EQ(parseRequest(text.substr(0, n)).state, RequestState::Incomplete) << n;
  for (const char* after : {"", "GET /next", "\r\n"}) {
    const ParsedRequest parsed = parseRequest(text + after);
    ASSERT_EQ(parsed.state, RequestState::Complete);
    EXPECT_EQ(parsed.bytes, text.size());
    EXPECT_EQ(parsed.request.path, "/api/run");
    EXPECT_FALSE(parsed.request.headOnly);
    EXPECT_TRUE(parsed.request.keepAlive);
    EXPECT_EQ(parsed.request.field("accept"), "a, b");
    EXPECT_EQ(parsed.request.field("x-empty"), "");
    EXPECT_EQ(parsed.request.field("absent"), "");
  }
}

TEST(HttpRequest, ConnectionsAreKeptByVersionAndField) {
  const auto keeps = [](const std::string& version, const std::string& field) {
    return parseRequest("GET / HTTP/" + version + "\r\nHost: a\r\n" + field + "\r\n").request.keepAlive;
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("1.1", "CONNECTION: te, Close\r\n"));
  EXPECT_TRUE(keeps("1.1", "Connection: keep-alive, closer\r\n"));
}

TEST(HttpRequest, WhatIsNotARequestIsRefused) {
  const std::string host = "Host: a\r\n";
  for (const std::string& text : {std::string("nonsense\r\n\r\n"),
                                  "GET /\r\n" + host + "\r\n",
                                  "GET  HTTP/1.1\r\n" + host + "\r\n",
                                  "GET / HTTP/1.1 \r\n" + host + "\r\n",
                                  "GET / HTTPS/1.1\r\n" + host + "\r\n",
                                  "GET / http/1.1\r\n" + host + "\r\n",
                                  " GET / HTTP/1.1\r\n" + host + "\r\n",
                                  "G@T / HTTP/1.1\r\n" + host + "\r\n",
                                  "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s,
                                  "GET /a b HTTP/1.1\r\n" + host + "\r\n",
                                  "GET /\xc3\xa9 HTTP/1.1\r\n" + host + "\r\n",
                                  "GET http://127.0.0.1/ HTTP/1.1\r\n" + host + "\r\n",
                                  "GET * HTTP/1.1\r\n" + host + "\r\n",
                                  std::string("GET / HTTP/1.1\r\n\r\n"),
                                  "GET / HTTP/1.1\r\n" + host + host + "\r\n",
                                  "GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n",
                                  "GET / HTTP/1.1\r\n" + host + ": no name\r\n\r\n",
                                  "GET / HTTP/1.1\r\n" + host + "A : blank before the colon\r\n\r\n",
                                  "GET / HTTP/1.1\r\n" + host + "A: folded\r\n over lines\r\n\r\n",
                                  "GET / HTTP/1.1\r\n" + host + "A: \0\r\n\r\n"s,
                                  "GET / HTTP/1.1\r\n" + host + "A: b\nC: d\r\n\r\n",
                                  "GET / HTTP/1.1\r\n" + host + "A: b\rC\r\n\r\n",
                                  "GET / HTTP/1.1\r\n" + host + "A: \x7f\r\n\r\n"})
    EXPECT_EQ(statusOf(text), 400) << text;
}

TEST(HttpRequest, OnlyGetAndHeadWithoutABodyAreTaken) {
  EXPECT_TRUE(parseRequest("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n").request.headOnly);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "GETS"})
    EXPECT_EQ(statusOf(std::string(method) + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 405) << method;
  EXPECT_EQ(statusOf("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 405);
  EXPECT_EQ(statusOf("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(statusOf("GET / HTTP/0.9\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(statusOf(getText("/", "Content-Length: 0\r\n")), 200);
  for (const char* length : {"1", "-1", "00", "0, 0", "99999999999999999999", "x", ""})
    EXPECT_EQ(statusOf(getText("/", "Content-Length: " + std::string(length) + "\r\n")), 413) << length;
  EXPECT_EQ(statusOf(getText("/", "transfer-encoding: chunked\r\n")), 413);
}

TEST(HttpRequest, LengthsAreLimited) {
  const size_t words = std::string("GET  HTTP/1.1").size();
  const std::string longest = "/" + std::string(kLongestRequestLine - words - 1, 'a');
  EXPECT_EQ(statusOf(getText(longest)), 200);
  EXPECT_EQ(statusOf(getText(longest + "a")), 414);
  // A line or a head that does not end is refused as soon as it is too long.
  EXPECT_EQ(statusOf("GET /" + std::string(100000, 'a')), 414);
  EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nHost: a\r\nA: " + std::string(kLongestHead, 'a')), 431);
  EXPECT_EQ(statusOf(getText("/", "A: " + std::string(64 << 10, 'a') + "\r\n")), 431);
  std::string empty;
  while (empty.size() <= kLongestHead) empty += "\r\n";
  EXPECT_EQ(statusOf(empty), 431);
  std::string fields;
  for (size_t i = 1; i < kMostFields; ++i) fields += "A: b\r\n";
  EXPECT_EQ(statusOf(getText("/", fields)), 200);
  EXPECT_EQ(statusOf(getText("/", fields + "A: b\r\n")), 431);
}

TEST(HttpRequest, OtherHostsAndPagesAreRefused) {
  const auto refusedWith = [](const std::string& host, const std::string& fields, const char* path = "/") {
    const ParsedRequest parsed =
        parseRequest("GET " + std::string(path) + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n");
    EXPECT_EQ(parsed.state, RequestState::Complete);
    return !refusedOrigin(parsed.request, 8321).empty();
  };
  for (const char* host : {"127.0.0.1:8321", "localhost:8321"}) EXPECT_FALSE(refusedWith(host, "")) << host;
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:80", "127.0.0.1:83210",
                           "evil.example:8321", "127.0.0.1.evil.example:8321", "0.0.0.0:8321", "[::1]:8321",
                           "a@127.0.0.1:8321", "127.0.0.1:8321, evil.example"})
    EXPECT_TRUE(refusedWith(host, "")) << host;
  const std::string ours = "localhost:8321";
  EXPECT_FALSE(refusedWith(ours, "Origin: http://localhost:8321\r\n"));
  EXPECT_FALSE(refusedWith(ours, "Origin: http://127.0.0.1:8321\r\n"));
  for (const char* origin : {"http://evil.example", "null", "https://localhost:8321", "http://localhost:3000",
                             "http://localhost:8321.evil.example", ""})
    EXPECT_TRUE(refusedWith(ours, "Origin: " + std::string(origin) + "\r\n")) << origin;
  EXPECT_TRUE(refusedWith(ours, "Origin: http://localhost:8321\r\nOrigin: http://evil.example\r\n"));
  for (const char* site : {"same-origin", "none"})
    EXPECT_FALSE(refusedWith(ours, "Sec-Fetch-Site: " + std::string(site) + "\r\n", "/api/run")) << site;
  for (const char* site : {"cross-site", "same-site", "other"})
    EXPECT_TRUE(refusedWith(ours, "Sec-Fetch-Site: " + std::string(site) + "\r\n", "/api/run")) << site;
  // A link on another page may lead to the viewer, but not to its data, and not into a frame.
  const std::string link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: ";
  EXPECT_FALSE(refusedWith(ours, link + "document\r\n"));
  EXPECT_TRUE(refusedWith(ours, link + "document\r\n", "/api/run"));
  EXPECT_TRUE(refusedWith(ours, link + "iframe\r\n"));
}

TEST(HttpRequest, Port80NeedsNoNumber) {
  EXPECT_TRUE(refusedOrigin(parseRequest("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").request, 80).empty());
}

}  // namespace
}  // namespace sunder::show

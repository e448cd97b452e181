#include "sunder/meshio/vtk_xml_arrays.h"

#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <array>

#include <zlib.h>

namespace sunder::meshio {

namespace {

// Deflate's best: a 258-byte match for two bits; see zlib's technical notes. The constant covers a tiny
// block's frame.
constexpr uint64_t kDeflateRatio = 1032;
constexpr uint64_t kDeflateSlack = 64;

Error formatError(const VtkXmlArray& source, const VtkXmlEncoding& encoding, const std::string& message) {
  return Error(ErrorKind::Format, "array '" + source.name + "': " + message)
      .inFile(encoding.fileName)
      .atByte(source.place);
}

std::optional<VtkScalar> scalarNamed(std::string_view type) {
  constexpr std::array<std::string_view, 10> kNames = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                       "UInt32", "Int64", "UInt64", "Float32", "Float64"};
  const auto at = std::find(kNames.begin(), kNames.end(), type);
  if (type == "String") return VtkScalar::Int8;  // characters, each string ended by a zero
  if (at == kNames.end()) return {};
  return static_cast<VtkScalar>(at - kNames.begin());
}

// Encoded bytes of one array, wherever they are. take() gives the first n decoded ones, or fewer at the end.
struct Encoded {
  Bytes raw;
  std::string_view base64;
  bool isBase64 = false;
  std::vector<std::byte> decoded;

  // An upper bound of what is there, without decoding it.
  uint64_t mostBytes() const { return isBase64 ? base64.size() / 4 * 3 + 3 : raw.size(); }
  Bytes take(uint64_t n) {
    if (!isBase64) return raw.subspan(0, std::min<uint64_t>(n, raw.size()));
    if (decoded.size() < n) decoded = decodeBase64(base64, std::min(n, mostBytes()));
    return Bytes(decoded).subspan(0, std::min<uint64_t>(n, decoded.size()));
  }
};

void checkLength(uint64_t bytes, size_t size, std::optional<uint64_t> count, const VtkXmlArray& source,
                 const VtkXmlEncoding& encoding) {
  if (bytes % size != 0)
    throw formatError(source, encoding,
                      std::to_string(bytes) + " bytes are no whole number of " + source.type + " values");
  if (count && bytes / size != *count)
    throw formatError(
        source, encoding,
        "has " + std::to_string(bytes / size) + " values where " + std::to_string(*count) + " are needed");
}

void decodeText(VtkArray& array, const VtkXmlArray& source, const VtkXmlEncoding& encoding,
                std::optional<uint64_t> count) {
  const bool real = isReal(array.type);
  array.type = real ? VtkScalar::Float64 : VtkScalar::Int64;
  array.swap = false;
  TextScanner scanner(source.text, encoding.fileName, '\0', SIZE_MAX);
  if (count && *count > source.text.size() / 2 + 1)
    throw formatError(source, encoding,
                      "cannot hold " + std::to_string(*count) + " values in " +
                          std::to_string(source.text.size()) + " characters");
  if (count) array.storage.reserve(*count * sizeof(double));
  uint64_t found = 0;
  auto add = [&](auto value) {
    static_assert(sizeof value == 8);
    const auto bytes = std::bit_cast<std::array<std::byte, 8>>(value);
    array.storage.insert(array.storage.end(), bytes.begin(), bytes.end());
  };
  for (std::string_view word = scanner.word(); !word.empty(); word = scanner.word(), ++found) {
    const char* const last = word.data() + word.size();
    double realValue = 0;
    int64_t value = 0;
    if (real ? parseDouble(word.data(), last, realValue) != last : parseInt(word.data(), last, value) != last)
      throw formatError(
          source, encoding,
          std::string("expected ") + (real ? "a number" : "an integer") + ", found " + quoted(word));
    if (real)
      add(realValue);
    else
      add(value);
  }
  if (count && found != *count)
    throw formatError(
        source, encoding,
        "has " + std::to_string(found) + " values where " + std::to_string(*count) + " are needed");
  array.bytes = array.storage;
}

void decompress(VtkArray& array, Encoded& encoded, const VtkXmlArray& source, const VtkXmlEncoding& encoding,
                std::optional<uint64_t> count) {
  const uint64_t word = encoding.wideHeader ? 8 : 4;
  auto header = [&](Bytes bytes, uint64_t i) -> uint64_t {
    const std::byte* const at = bytes.data() + i * word;
    return encoding.wideHeader ? loadValue<uint64_t>(at, encoding.swap)
                               : loadValue<uint32_t>(at, encoding.swap);
  };
  auto truncated = [&] { return formatError(source, encoding, "ends before its data do"); };
  Bytes head = encoded.take(word);
  if (head.size() < word) throw truncated();
  const uint64_t blocks = header(head, 0);
  if (blocks == 0) return checkLength(0, sizeOf(array.type), count, source, encoding);
  if (encoded.mostBytes() / word < 3 || blocks > encoded.mostBytes() / word - 3)
    throw formatError(source, encoding,
                      "claims " + std::to_string(blocks) + " compressed blocks, more than fit");
  const uint64_t headBytes = (3 + blocks) * word;
  head = encoded.take(headBytes);
  if (head.size() < headBytes) throw truncated();
  const uint64_t blockSize = header(head, 1), lastSize = header(head, 2);
  if (blockSize == 0 || lastSize > blockSize)
    throw formatError(source, encoding, "has impossible block sizes");

  struct Block {
    uint64_t from, packed, to, unpacked;
  };
  std::vector<Block> list(blocks);
  uint64_t from = 0, to = 0;
  for (uint64_t b = 0; b < blocks; ++b) {
    const uint64_t packed = header(head, 3 + b);
    const uint64_t unpacked = b + 1 == blocks && lastSize != 0 ? lastSize : blockSize;
    if (packed > encoded.mostBytes() - std::min(encoded.mostBytes(), headBytes + from)) throw truncated();
    if (unpacked > kDeflateRatio * packed + kDeflateSlack)
      throw formatError(source, encoding,
                        "block " + std::to_string(b) + " claims " + std::to_string(unpacked) +
                            " bytes from " + std::to_string(packed) + ", more than zlib can do");
    list[b] = {from, packed, to, unpacked};
    from += packed;
    to += unpacked;
  }
  checkLength(to, sizeOf(array.type), count, source, encoding);
  const Bytes all = encoded.take(headBytes + from);
  if (all.size() < headBytes + from) throw truncated();
  array.storage.resize(to);
  std::vector<uint8_t> good(blocks, 0);
  parallelFor(
      blocks,
      [&](size_t b) {
        const Block& block = list[b];
        uLongf size = block.unpacked;
        const int code = ::uncompress(reinterpret_cast<Bytef*>(array.storage.data() + block.to), &size,
                                      reinterpret_cast<const Bytef*>(all.data() + headBytes + block.from),
                                      static_cast<uLong>(block.packed));
        good[b] = code == Z_OK && size == block.unpacked;
      },
      1);
  const auto bad = std::find(good.begin(), good.end(), 0);
  if (bad != good.end())
    throw formatError(source, encoding,
                      "compressed block " + std::to_string(bad - good.begin()) + " is damaged");
  array.bytes = array.storage;
}

void decodePlain(VtkArray& array, Encoded& encoded, const VtkXmlArray& source, const VtkXmlEncoding& encoding,
                 std::optional<uint64_t> count) {
  const uint64_t word = encoding.wideHeader ? 8 : 4;
  const Bytes head = encoded.take(word);
  if (head.size() < word) throw formatError(source, encoding, "has no data");
  const uint64_t length = encoding.wideHeader ? loadValue<uint64_t>(head.data(), encoding.swap)
                                              : loadValue<uint32_t>(head.data(), encoding.swap);
  if (length > encoded.mostBytes() - word)
    throw formatError(source, encoding,
                      "claims " + std::to_string(length) + " bytes, but at most " +
                          std::to_string(encoded.mostBytes() - word) + " are there");
  checkLength(length, sizeOf(array.type), count, source, encoding);
  const Bytes all = encoded.take(word + length);
  if (all.size() < word + length) throw formatError(source, encoding, "ends before its data do");
  if (encoded.isBase64) array.storage = std::move(encoded.decoded);
  array.bytes = (encoded.isBase64 ? Bytes(array.storage) : all).subspan(word, length);
}

}  // namespace

std::vector<std::byte> decodeBase64(std::string_view text, size_t most) {
  static constexpr std::array<uint8_t, 256> kValues = [] {
    std::array<uint8_t, 256> values{};
    values.fill(255);
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < kDigits.size(); ++i)
      values[static_cast<uint8_t>(kDigits[i])] = static_cast<uint8_t>(i);
    return values;
  }();
  std::vector<std::byte> out;
  out.reserve(std::min(most, text.size() / 4 * 3 + 3));
  uint32_t bits = 0;
  unsigned digits = 0;
  for (const char c : text) {
    if (out.size() >= most) break;
    const uint8_t value = kValues[static_cast<uint8_t>(c)];
    if (value < 64) {
      bits = bits << 6 | value;
      if (++digits < 4) continue;
      for (int shift = 16; shift >= 0 && out.size() < most; shift -= 8)
        out.push_back(static_cast<std::byte>(bits >> shift & 255u));
    } else if (c == '=') {
      // The last bytes of a run; a second '=' finds no digits left.
      if (digits >= 2) out.push_back(static_cast<std::byte>(bits >> (digits == 2 ? 4 : 10) & 255u));
      if (digits == 3 && out.size() < most) out.push_back(static_cast<std::byte>(bits >> 2 & 255u));
    } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      continue;
    } else {
      break;
    }
    bits = digits = 0;
  }
  return out;
}

VtkXmlParts splitVtkXml(Bytes bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  VtkXmlParts parts;
  // Told at once, before a search through what may be gigabytes of something else.
  const size_t first = text.substr(0, 4096).find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos || text[first] != '<')
    throw Error(ErrorKind::Format, "this is not an XML file").inFile(name).atByte(0);
  const size_t zero = text.find('\0');
  const size_t tag = text.substr(0, zero).find("<AppendedData");
  if (tag == std::string_view::npos && zero != std::string_view::npos)
    throw Error(ErrorKind::Format, "a zero byte in the XML").inFile(name).atByte(zero);
  if (tag == std::string_view::npos) {
    parts.xml = text;
    return parts;
  }
  auto fail = [&](const char* message) { return Error(ErrorKind::Format, message).inFile(name).atByte(tag); };
  const size_t close = text.find('>', tag);
  if (close == std::string_view::npos) throw fail("the AppendedData element does not end");
  const bool isEmpty = text[close - 1] == '/';
  parts.xml = std::string(text.substr(0, isEmpty ? close - 1 : close)) + "/></VTKFile>";
  if (isEmpty) return parts;
  const size_t start = text.find_first_not_of(" \t\r\n", close + 1);
  if (start == std::string_view::npos || text[start] != '_')
    throw fail("the appended data must start with '_'");
  size_t end = text.rfind("</AppendedData");
  if (end == std::string_view::npos || end <= start) end = text.size();
  parts.appended = bytes.subspan(start + 1, end - start - 1);
  parts.appendedAt = start + 1;
  return parts;
}

VtkArray decodeArray(const VtkXmlArray& source, const VtkXmlEncoding& encoding,
                     std::optional<uint64_t> count) {
  VtkArray array;
  array.name = source.name;
  array.components = source.components;
  array.place = source.place;
  const std::optional<VtkScalar> type = scalarNamed(source.type);
  if (!type)
    throw Error(ErrorKind::Unsupported,
                "array '" + source.name + "': type " + meshio::quoted(source.type) + " is not read")
        .inFile(encoding.fileName)
        .atByte(source.place);
  array.type = *type;
  array.swap = encoding.swap;
  if (source.format == "ascii") {
    decodeText(array, source, encoding, count);
    return array;
  }
  Encoded encoded;
  if (source.format == "binary") {
    encoded.isBase64 = true;
    encoded.base64 = source.text;
  } else if (source.format == "appended") {
    if (source.offset > encoding.appended.size())
      throw formatError(source, encoding,
                        "its offset " + std::to_string(source.offset) + " is beyond the " +
                            std::to_string(encoding.appended.size()) + " bytes of appended data");
    const Bytes rest = encoding.appended.subspan(source.offset);
    encoded.isBase64 = encoding.appendedBase64;
    encoded.base64 = {reinterpret_cast<const char*>(rest.data()), rest.size()};
    encoded.raw = rest;
    array.place = encoding.appendedAt + source.offset;
  } else {
    throw formatError(source, encoding, "format " + meshio::quoted(source.format) + " is unknown");
  }
  // An empty element stands for an empty array.
  if (encoded.isBase64 && encoded.take(1).empty())
    checkLength(0, sizeOf(array.type), count, source, encoding);
  else if (encoding.compressed)
    decompress(array, encoded, source, encoding, count);
  else
    decodePlain(array, encoded, source, encoding, count);
  return array;
}

}  // namespace sunder::meshio

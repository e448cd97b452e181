#include "sunder/base/image.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"

#include <string>

#include <png.h>

namespace sunder {

void writePng(const std::filesystem::path& path, const Image& image) {
  if (image.width == 0 || image.height == 0 || image.pixels.size() != image.width * image.height)
    throw Error(ErrorKind::Usage, "a picture without pixels cannot be written").inFile(path.string());
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr))
    throw Error(ErrorKind::Write, std::string("the picture cannot be compressed: ") + header.message)
        .inFile(path.string());
  bytes.resize(size);
  writeFile(path, bytes);
}

}  // namespace sunder

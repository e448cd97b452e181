// A scene file with everything it includes, as one JSON document that knows where each part came from.
// Reading it applies --set, checks it against the schema and makes the paths of mesh files absolute; what the
// values mean is the business of scene.h.
//
// Included files come first, in order, then the file itself: its keys of `world` and `recording`, its
// materials and shapes replace those of the same name; bodies, arrays, joints and forces are appended. A file
// is taken in once, a file that includes itself, also through others, is an error that names the chain.
//
// Errors: Error (Missing, Format, Usage) with file and line, what is wanted and the nearest known key.
#pragma once

#include "sunder/base/error.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sunder {
class Json;
}

namespace sunder::world {

class SceneDocument {
 public:
  // `sets` are assignments "a.b=c": keys, indices and ids of bodies, arrays, joints and forces lead to the
  // place, the value is JSON or else text.
  static SceneDocument read(const std::filesystem::path& path, const std::vector<std::string>& sets = {});
  // A document from text, as recordings hold it. `name` is for messages, paths are relative to `folder`.
  static SceneDocument parse(std::string text, const std::string& name, const std::filesystem::path& folder,
                             const std::vector<std::string>& sets = {});

  // A document that a program wrote: errors name the part, not a line. Paths are relative to the folder that
  // the program is in.
  static SceneDocument ofProgram(std::string text);

  SceneDocument();  // of no file: empty()
  ~SceneDocument();
  SceneDocument(const SceneDocument&);  // shares the content
  SceneDocument& operator=(const SceneDocument&);
  SceneDocument(SceneDocument&&) noexcept;
  SceneDocument& operator=(SceneDocument&&) noexcept;

  bool empty() const { return sources_.empty(); }
  const Json& json() const { return *json_; }
  Json& json();                                      // of this copy alone
  const std::string& name() const { return name_; }  // of the file, without folder and ending

  // An error (Format) at the place of a JSON pointer, with file and line.
  Error error(const std::string& pointer, const std::string& message,
              ErrorKind kind = ErrorKind::Format) const;

  // Throws an error of another room again, with the place in the document that asked for what failed.
  [[noreturn]] void rethrow(const Error& error, const std::string& pointer) const;

  // Whether an error has a place in the document already.
  bool placed(const Error& error) const;

  // One text without includes that gives the same run.
  std::string text() const;

 private:
  struct Source {
    std::string file;
    std::shared_ptr<const std::string> text;  // none: of a --set, or of a program
  };
  struct Origin {
    size_t source;
    std::string pointer;
  };
  void take(std::string text, const std::string& file, const std::filesystem::path& folder,
            std::vector<std::string>& chain);
  void set(const std::string& assignment);
  void check() const;

  std::string name_;
  std::shared_ptr<Json> json_;
  std::vector<Source> sources_;
  std::map<std::string, Origin> origins_;  // by the pointer of the part
  std::vector<std::string> taken_;         // canonical paths of the files
};

}  // namespace sunder::world

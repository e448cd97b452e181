// sunder completion bash: a completion script made from the verbs and options that the command really has.
#include "sunder/base/error.h"
#include "sunder/shapes/catalogue.h"

#include "command.h"
#include "query.h"

#include <iostream>
#include <memory>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

std::string bashScript(const App& root) {
  std::string verbs, cases;
  for (const auto& verb : root.verbs()) {
    std::string words;
    for (const std::string& name : verb->longOptions()) words += "--" + name + " ";
    verbs += verb->name() + " ";
    cases += fmt::format("    {}) options=\"{}\" ;;\n", verb->name(), words);
  }
  std::string shapes;
  for (const shapes::ShapeInfo& shape : shapes::shapeCatalogue()) shapes += std::string(shape.name) + " ";
  std::string asked;
  for (const Question& question : questions()) asked += std::string(question.name) + " ";
  std::string script =
      "# bash completion for sunder; load it with:  source <(sunder completion bash)\n"
      "_sunder() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} "
      "options=\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"@VERBS@--help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb in\n@CASES@  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
      "  elif [ \"$verb\" = shape ] && [ \"$COMP_CWORD\" = 2 ]; then\n"
      "    COMPREPLY=($(compgen -W \"@SHAPES@\" -- \"$word\"))\n"
      "  elif [ \"$verb\" = query ] && [ \"$COMP_CWORD\" = 3 ]; then\n"
      "    COMPREPLY=($(compgen -W \"@QUESTIONS@\" -- \"$word\"))\n"
      "  elif [ \"$verb\" = describe ] && [ \"$COMP_CWORD\" = 2 ]; then\n"
      "    COMPREPLY=($(compgen -W \"shapes formats questions exit-codes\" -- \"$word\"))\n"
      "  elif [ \"$verb\" = describe ] && [ \"$previous\" = shapes ]; then\n"
      "    COMPREPLY=($(compgen -W \"@SHAPES@\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _sunder sunder\n";
  const auto put = [&script](std::string_view mark, const std::string& text) {
    for (size_t at = script.find(mark); at != std::string::npos; at = script.find(mark, at + text.size()))
      script.replace(at, mark.size(), text);
  };
  put("@VERBS@", verbs);
  put("@CASES@", cases);
  put("@SHAPES@", shapes);
  put("@QUESTIONS@", asked);
  return script;
}

}  // namespace

Verb addCompletion(App& root) {
  auto shell = std::make_shared<std::string>("bash");
  App* app = root.addVerb("completion", "Print a shell completion script");
  app->addOption("SHELL", *shell, "bash")->check(oneOf({"bash"}));
  app->footer(
      "Examples:\n"
      "  source <(sunder completion bash)\n"
      "  sunder completion bash > ~/.local/share/bash-completion/completions/sunder");
  return {app, [&root, shell](const Settings& settings) {
            const std::string script = bashScript(root);
            if (settings.json)
              printJson({{"shell", *shell}, {"script", script}});
            else
              std::cout << script;
            return 0;
          }};
}

}  // namespace sunder::cli

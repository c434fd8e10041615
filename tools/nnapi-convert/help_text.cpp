// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/help_text.h"

#include <fmt/format.h>

#include <sstream>

namespace nnapi_convert {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kColumn = 27;  // the column at which descriptions begin
constexpr const char* kCommonGroup = "Options";

// Returns `first` and then the words, wrapped into lines that begin at the column.
std::string wrapped(std::string first, const std::string& words, size_t column) {
  std::string text;
  if (first.size() + 2 > column && !words.empty()) {
    text = first + "\n";
    first.clear();
  }
  std::string line = words.empty() ? first : fmt::format("{:<{}}", first, column);
  std::istringstream stream(words);
  bool is_begun = false;
  for (std::string word; stream >> word; is_begun = true) {
    if (is_begun && line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = std::string(column, ' ') + word;
    } else {
      line += (is_begun ? " " : "") + word;
    }
  }
  return text + line + "\n";
}

// An option's value, which CLI11 keeps in one text: "NAME:{a,b}" or "N:INT in [1 - 8]".
struct Value {
  std::string name;
  std::string choices;  // "{a, b}" or "(1 to 8)"
};

Value value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t colon = type.find(':');
  Value value = {type.substr(0, colon), ""};
  if (value.name == "TEXT") value.name = "NAME";
  if (value.name.empty() || value.name == " " || option.get_type_size() == 0) value.name.clear();
  if (colon == std::string::npos) return value;
  const size_t brace = type.find('{', colon), bracket = type.find('[', colon);
  if (brace != std::string::npos) {
    for (const char letter : type.substr(brace)) {
      value.choices += letter == ',' ? std::string(", ") : std::string{letter};
    }
  } else if (bracket != std::string::npos) {
    value.choices = "(" + type.substr(bracket + 1, type.find(']') - bracket - 1) + ")";
    const size_t dash = value.choices.find(" - ");
    if (dash != std::string::npos) value.choices.replace(dash, 3, " to ");
  }
  return value;
}

std::string option_text(const CLI::Option& option) {
  const Value value = value_of(option);
  std::string first = "  " + option.get_name(option.get_positional(), !option.get_positional());
  const bool takes_value = option.get_type_size() != 0 && option.get_expected_max() > 0 && !option.get_positional();
  if (takes_value && !value.name.empty()) first += " " + value.name;
  if (takes_value && option.get_expected_max() == CLI::detail::expected_max_vector_size) first += " ...";
  std::string words = option.get_description();
  if (!value.choices.empty()) words += " " + value.choices;
  if (takes_value && !option.get_default_str().empty()) words += " [" + option.get_default_str() + "]";
  return wrapped(first, words, kColumn);
}

std::string group_text(const CLI::App& app, const std::string& group) {
  std::string text;
  for (const bool is_positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() == group && option->get_positional() == is_positional) text += option_text(*option);
    }
  }
  return text.empty() ? "" : "\n" + group + ":\n" + text;
}

std::string exit_codes_text(const ExitCodes& exit_codes, bool is_list) {
  if (is_list) {
    std::string text = "\nExit codes:\n";
    for (const auto& [code, meaning] : exit_codes) text += fmt::format("  {:<5}{}\n", code, meaning);
    return text;
  }
  std::string words;
  for (const auto& [code, meaning] : exit_codes) {
    words += fmt::format("{}{} {}", words.empty() ? "" : "; ", code, meaning);
  }
  return "\n" + wrapped("Exit codes:", words, std::string("Exit codes: ").size() + 1);
}

std::string usage(const CLI::App& app) {
  std::string text = "Usage: " + app.get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const bool is_list = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string name = option->get_name(true, false) + (is_list ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  for (const CLI::Option* option : app.get_options()) {
    // --output is needed, except in the rare command that writes only another file.
    const bool is_needed = option->get_required() || option->check_lname("output");
    if (option->get_positional() || !is_needed) continue;
    const bool is_short = !option->get_snames().empty();
    text +=
        (is_short ? " -" + option->get_snames()[0] : " --" + option->get_lnames()[0]) + " " + value_of(*option).name;
  }
  return text + " [OPTIONS]\n";
}

}  // namespace

bool has_more_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != kCommonGroup) return true;
  }
  return false;
}

std::string help_text(const CLI::App& app, const ExitCodes& exit_codes, bool is_whole) {
  const bool has_more = has_more_options(app);
  std::string text = app.get_description();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text += "\n\n" + usage(app);
  text += group_text(app, kCommonGroup);
  if (is_whole || !has_more) {
    for (const std::string& group : app.get_groups()) {
      if (group != kCommonGroup) text += group_text(app, group);
    }
    if (!app.get_footer().empty()) text += "\n" + app.get_footer();
  }
  return text + exit_codes_text(exit_codes, is_whole || !has_more);
}

}  // namespace nnapi_convert

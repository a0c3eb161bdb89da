// Commands and their options. CLI11, which reads them, is known to options.cpp alone: it takes long
// to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heddle::cli {

// The options of every command that reports.
struct ReportOptions {
  bool json = false;
  bool plain = false;
};

// Options that contradict one another, or would be without effect: throw it.
struct WrongUse {
  std::string option, text;
};

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required();
  Option shows_default();
  // What is wrong with a value; empty: nothing.
  Option check(std::string (*wrong)(const std::string& value));
  Option not_empty();
  Option one_of(const std::vector<std::string>& words);
  Option from_to(std::int64_t least, std::int64_t most);
  // Several values with commas between them.
  Option commas();
  Option called(const std::string& type);

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  Command add(const std::string& name, const std::string& about);
  void on_run(std::function<void()> work);
  void footer(const std::string& text);
  // Where the command is a group of others and none was named.
  bool is_alone() const;
  std::string help() const;

  Option flag(const std::string& names, bool& value, const std::string& about);
  Option option(const std::string& names, std::string& value, const std::string& about);
  Option option(const std::string& names, std::optional<std::string>& value,
                const std::string& about);
  Option option(const std::string& names, std::optional<double>& value, const std::string& about);
  Option option(const std::string& names, int& value, const std::string& about);
  Option option(const std::string& names, std::int64_t& value, const std::string& about);
  // May be given again and again, one value each.
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& about);
  // All words that are left.
  Option words(const std::string& name, std::vector<std::string>& values, const std::string& about);

  // What many commands have.
  void program_file(std::string& file);
  void report(ReportOptions& options);

 private:
  CLI::App* app_;
};

// Runs the command that the words name. A wrong command line ends in Exit with what was wrong.
void run_command_line(int argc, char** argv);

}  // namespace heddle::cli

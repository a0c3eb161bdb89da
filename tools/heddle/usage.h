// Help, and answers to a wrong command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heddle::cli {

// Sets how help is laid out. Before the commands are added: they take it over.
void prepare_help(CLI::App& app);

// What was wrong in one line, and where to read on.
std::string usage_message(const CLI::App& app, const CLI::ParseError& mistake, int argc,
                          char** argv);

}  // namespace heddle::cli

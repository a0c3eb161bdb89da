// The ranks of a run: how this process is connected to others.
#pragma once

#include <memory>
#include <string>

#include "heddle/interpreter.h"
#include "heddle/transport.h"
#include "options.h"

namespace heddle::cli {

struct RankRequest {
  std::string transport = "auto";
  std::string watchdog = {};  // seconds; empty: the usual ones

  WatchdogOptions watchdog_options() const;
};

void add_rank_options(Command& command, RankRequest& request);

// The transport to the other processes; null where this one is alone. All but the first rank are
// quiet from then on: their standard output goes nowhere. Throws what is wrong.
std::unique_ptr<Transport> connect_ranks(const RankRequest& request);

// Who runs the processes of interpreter.run_parallel; nothing where the interpreter does.
ParallelRunner parallel_runner(const RankRequest& request, Transport* ranks);

}  // namespace heddle::cli

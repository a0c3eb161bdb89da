// heddle: the command line.
#include <fcntl.h>
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <string>

#include "base/printable.h"
#include "command_line.h"
#include "commands.h"
#include "frontend/message_place.h"
#include "heddle/error.h"
#include "heddle/log.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

// A closed stream must not be taken by the next file that is opened. Reading a closed input and
// writing to a closed output then fail.
void keep_standard_streams() {
  for (const int stream : {0, 1, 2}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == 1 ? O_RDONLY : O_WRONLY);
  }
}

// Who asked for JSON gets it, unless a report that says the same is there already.
int complain(const std::string& message, int status) {
  write_stderr(fmt::format("heddle: {}\n", printable(message, true)));
  if (!asks_for_json() || has_written_stdout()) return status;
  try {
    write_stdout(failure_report(message, status));
  } catch (...) {  // there is nobody to tell
  }
  return status;
}

}  // namespace
}  // namespace heddle::cli

int main(int argc, char** argv) {
  using namespace heddle::cli;
  keep_standard_streams();
  keep_command_line(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  heddle::log_level();  // reads HEDDLE_LOG now, so that a wrong value is told whatever is run
  try {
    run_command_line(argc, argv);
    return 0;
  } catch (const Exit& exit) {
    return exit.message.empty() ? exit.status : complain(exit.message, exit.status);
  } catch (const heddle::Error& error) {
    return complain(heddle::with_source_line(error.what()), kExitFailed);
  } catch (const heddle::InternalError& error) {
    return complain(error.what(), kExitInternal);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kExitFailed);
  } catch (const std::exception& error) {
    return complain(heddle::InternalError("no stray exception", error.what()).what(),
                    kExitInternal);
  }
}

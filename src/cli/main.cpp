#include <csignal>

#include "cli/app.h"

int main(int argc, char** argv) {
  // A limit of file sizes and a reader that went away are errors of write, told like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  return kvtool::cli::run(argc, argv);
}

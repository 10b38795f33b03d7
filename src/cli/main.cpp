#include <csignal>

#include "cli/app.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is an error of write, told like any other
  return kvtool::cli::run(argc, argv);
}

#include "cli/app.h"

int main(int argc, char** argv) { return kvtool::cli::run(argc, argv); }

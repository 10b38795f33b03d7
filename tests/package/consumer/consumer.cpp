// consumer FILE: what kind of dump it is and its version word, by way of the installed library.
#include <kvtool/open.h>

#include <iostream>

int main(int, char** argv) {
  const kvtool::Dump dump = kvtool::open_dump(argv[1]);
  if (dump.dialect.container == kvtool::Container::slot) std::cout << "slot ";
  std::cout << dump.dialect.version << '\n';
}

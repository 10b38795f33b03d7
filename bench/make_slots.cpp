// make-slots FOLDER: many slot files that begin alike, as a server leaves them, for bench/prefix.
//
// All files begin with one system prompt; those of a group share more, then each goes on by itself.
// Tensors are holes. Beside each slot file, in FOLDER.heads, lies a file with just the bytes before
// its cells: what a tool that looks at tokens has to read in any case.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "kvtool/tokens.h"
#include "support/made_dump.h"
#include "support/made_file.h"

namespace {

namespace fs = std::filesystem;
using kvtool::TokenId;
using kvtool::test::MadeFile;
using kvtool::test::Shape;

struct Options {
  std::string folder;
  std::uint32_t files = 10000;
  std::uint32_t groups = 100;
  std::uint32_t system_tokens = 4000;  // shared by all
  std::uint32_t group_tokens = 2000;   // and by a group
  Shape shape;
};

void append_random(std::vector<TokenId>& ids, std::uint32_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<TokenId>(random() % 128000));
}

std::vector<TokenId> prompt(const Options& options, std::uint32_t file) {
  std::vector<TokenId> ids;
  append_random(ids, options.system_tokens, 1);
  append_random(ids, options.group_tokens, 2 + file % options.groups);
  append_random(ids, options.shape.cells - options.system_tokens - options.group_tokens,
                1000000 + file);
  return ids;
}

// Keeps the first bytes of what is written.
class HeadSink final : public kvtool::test::MadeSink {
 public:
  explicit HeadSink(std::size_t most) : most_(most) {}
  void write(std::span<const std::byte> bytes) override {
    const std::size_t room = most_ - bytes_.size();
    bytes_.insert(bytes_.end(), bytes.begin(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(std::min(room, bytes.size())));
  }
  void hole(std::uint64_t) override {}
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::size_t most_;
  std::vector<std::byte> bytes_;
};

void make_file(kvtool::Dump& facts, const Options& options, std::uint32_t number) {
  facts.tokens.words = kvtool::encode_payload(prompt(options, number), {});
  const std::string name = fmt::format("slot{:05}.ggsq", number);
  MadeFile file((fs::path(options.folder) / name).string());
  kvtool::test::write_made_sparse(facts, file);
  file.close();
  HeadSink head(12 + facts.tokens.words.size() * 4);
  kvtool::test::write_made_sparse(facts, head);
  MadeFile head_file((fs::path(options.folder + ".heads") / name).string());
  head_file.write(head.bytes());
  head_file.close();
}

void make(Options options) {
  options.shape.container = kvtool::Container::slot;
  options.shape.version = 4;
  fs::create_directories(options.folder);
  fs::create_directories(options.folder + ".heads");
  kvtool::Dump facts = kvtool::test::made_facts(options.shape);
  for (std::uint32_t f = 0; f < options.files; ++f) make_file(facts, options, f);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Makes many slot files that begin alike.", "make-slots");
  Options options;
  options.shape.cells = 8000;
  options.shape.layers = 32;
  options.shape.width = 1024;
  app.add_option("folder", options.folder, "where to make them")->required();
  app.add_option("--files", options.files, "how many")->capture_default_str();
  app.add_option("--groups", options.groups, "among them")->capture_default_str();
  app.add_option("--system", options.system_tokens, "tokens all begin with")->capture_default_str();
  app.add_option("--group", options.group_tokens, "tokens a group shares then")->capture_default_str();
  app.add_option("--cells", options.shape.cells, "tokens of each")->capture_default_str();
  app.add_option("--layers", options.shape.layers, "layers")->capture_default_str();
  app.add_option("--window", options.shape.window, "a window cache of so many positions");
  app.add_flag("--recurrent", options.shape.recurrent, "a recurrent state");
  CLI11_PARSE(app, argc, argv);
  try {
    make(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make-slots: {}: {}\n", options.folder, error.what());
    return 2;
  }
  return 0;
}

#include "cli/pack_options.h"

#include <algorithm>
#include <thread>

#include "kvtool/error.h"
#include "kvtool/output.h"

namespace kvtool::cli {
namespace {

// Where output goes that nobody wants to keep.
class CountingSink final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override { count_ += bytes.size(); }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

// Passes everything on and counts it.
class CountedOutput final : public Sink {
 public:
  explicit CountedOutput(Sink& sink) : sink_(sink) {}
  void write(std::span<const std::byte> bytes) override {
    sink_.write(bytes);
    count_ += bytes.size();
  }
  void copy(const Source& source, std::uint64_t offset, std::uint64_t size) override {
    sink_.copy(source, offset, size);
    count_ += size;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  Sink& sink_;
  std::uint64_t count_ = 0;
};

}  // namespace

void add_packing(CLI::App& verb, PackingOptions& options) {
  verb.add_option("-o,--output", options.output, "write here; - is standard output")
      ->type_name("OUT");
  verb.add_option("-T,--threads", options.threads, "threads; 0: one for each core")
      ->check(CLI::Range(0U, 1024U))
      ->type_name("N")
      ->capture_default_str();
  verb.add_flag("--force", options.force, "replace OUT if it exists");
  verb.add_flag("--json", options.json, "print the figures as JSON");
  verb.add_flag("-q,--quiet", options.quiet, "print no figures");
  verb.add_flag("--no-progress", options.no_progress, "no progress bar on a terminal");
}

unsigned threads_of(const PackingOptions& options) {
  return options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

std::uint64_t produce_output(const PackingOptions& options, const Source& source,
                             const Producer& produce) {
  Progress progress(source.size(), !options.no_progress);
  if (options.dry_run) {
    CountingSink sink;
    produce(sink, progress);
    return sink.count();
  }
  if (options.output.empty()) throw Error(ErrorKind::usage, "where to? give -o OUT");
  const auto output = open_output(options.output, {options.force, source.mode()});
  CountedOutput sink(*output);
  produce(sink, progress);
  output->commit();
  return sink.count();
}

bool reports(const PackingOptions& options) {
  return options.dry_run || options.output != "-";
}

Json packing_json(const PackingOptions& options, const Source& source) {
  Json json = json_document(source.name());
  json["output"] = options.dry_run ? Json(nullptr) : Json(options.output);
  json["dry_run"] = options.dry_run;
  return json;
}

}  // namespace kvtool::cli

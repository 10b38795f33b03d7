#include "io/fault_jobs.h"

#include "kvtool/convert.h"
#include "kvtool/edit.h"
#include "kvtool/extract.h"
#include "kvtool/merge.h"
#include "kvtool/open.h"
#include "kvtool/pack.h"
#include "kvtool/sequences.h"
#include "kvtool/share.h"

namespace kvtool::test {
namespace {

using DumpPointer = std::shared_ptr<const Dump>;
using Jobs = std::map<std::string, Job>;

const std::string session = "modern/b11118/llama-multi-uni.ggsn";
const std::string slot = "modern/b11118/llama-simple.seq0.ggsq";
const std::string with_checkpoints = "server/b0.7.0/gemma3.ggsq";
const std::string old_slot = "history/v6-20240430-9c67c2773-frag-seq1.ggsq";
const std::string transposed = "history/v6-20240430-9c67c2773-frag.ggsn";

template <class Make>
Job plan_job(const std::string& file, Make make) {
  return {file, [make](const DumpPointer& dump, Sink& sink) { write_plan(make(dump), sink); }};
}

// `change` has at the edit of a dump.
template <class Change>
Job edit_job(const std::string& file, Change change) {
  return plan_job(file, [change](const DumpPointer& dump) {
    SequenceEdit edit = SequenceEdit::of(dump);
    change(edit);
    return std::move(edit.plan);
  });
}

// `aim` says what the conversion is for.
template <class Aim>
Job conversion_job(const std::string& file, Aim aim) {
  return plan_job(file, [aim](const DumpPointer& dump) {
    Target target;
    aim(target);
    return convert(dump, target).plan;
  });
}

void add_orders(Jobs& all) {
  all["swap"] = plan_job(session, [](const DumpPointer& d) { return swap(d, {0, 0, 1}, {0, 0, 9}); });
  all["swap-transposed"] =
      plan_job(transposed, [](const DumpPointer& d) { return swap(d, {0, 0, 1}, {0, 0, 5}); });
  all["move"] = plan_job(session, [](const DumpPointer& d) { return move(d, {0, 0, 1}, 7, 2); });
  all["defrag"] = plan_job(session, [](const DumpPointer& d) { return defrag(d); });
  all["defrag-share"] = plan_job(session, [](const DumpPointer& d) {
    Plan plan = Plan::of(d);
    static_cast<void>(share_equal_cells(plan));
    return plan;
  });
}

void add_sequences(Jobs& all) {
  all["seq-rm"] = edit_job(
      session, [](SequenceEdit& e) { change_positions(e, {SequenceId{1}, {{0, 9999}}, {}}); });
  all["seq-cp"] = edit_job(session, [](SequenceEdit& e) { copy_sequence(e, 0, 7, {0, 9999}); });
  all["seq-keep"] = edit_job(session, [](SequenceEdit& e) { keep_sequence(e, 0); });
  all["seq-rename"] = edit_job(session, [](SequenceEdit& e) { rename_sequence(e, 0, 7); });
  all["seq-shift"] = edit_job(slot, [](SequenceEdit& e) {  // of the labels only
    change_positions(e, {std::nullopt, {}, {{{0, 9999}, 5}}});
  });
  all["truncate"] = plan_job(slot, [](const DumpPointer& d) { return truncate(d, 5); });
  all["truncate-checkpoint"] = plan_job(
      with_checkpoints, [](const DumpPointer& d) { return truncate_to_checkpoint(d, 0); });
  all["extract"] = plan_job(session, [](const DumpPointer& d) { return extract_sequence(d, 0).plan; });
  all["merge"] = plan_job(session, [](const DumpPointer& d) {
    return merge_dumps({d, d}, {.renumber = true, .unified = true, .arch = {}}).plan;
  });
  all["merge-append"] =
      plan_job(slot, [](const DumpPointer& d) { return append_dumps({d, d}, {}).plan; });
}

void add_conversions(Jobs& all) {
  all["transpose"] = conversion_job(slot, [](Target& t) { t.flash_attention = false; });
  all["version"] = conversion_job(slot, [](Target& t) { t.era = era_of_loader("b10256"); });
  all["types"] = conversion_job(slot, [](Target& t) { t.type_k = t.type_v = ElementType::f32; });
  all["version-old"] = conversion_job(old_slot, [](Target& t) { t.era = era_of_loader("0.7.0"); });
}

void add_compressed(Jobs& all) {
  all["pack"] = {session, [](const DumpPointer& d, Sink& sink) { pack(*d, sink); }};
  all["pack-threads"] = {session, [](const DumpPointer& d, Sink& sink) {
                           PackOptions options;
                           options.threads = 3;
                           pack(*d, sink, options);
                         }};
  all["pack-plain"] = {session,
                       [](const DumpPointer& d, Sink& sink) { pack_plain(*d->source, sink); }};
  all["unpack"] = {session, [](const DumpPointer& d, Sink& sink) {
                     MemorySink packed;
                     pack(*d, packed);
                     unpack(*open_packed(memory_source("packed", packed.bytes()), {}), sink);
                   }};
}

}  // namespace

const Jobs& jobs() {
  static const Jobs all = [] {
    Jobs jobs;
    add_orders(jobs);
    add_sequences(jobs);
    add_conversions(jobs);
    add_compressed(jobs);
    return jobs;
  }();
  return all;
}

}  // namespace kvtool::test

// store: one verb for a store of named dumps, each thing to do with it a verb of its own below it.
#include "cli/parts.h"
#include "cli/store_verbs.h"

namespace kvtool::cli {
namespace {

constexpr VerbPart parts[] = {
    {"init", "make a store", add_store_init},
    {"put", "keep a dump under a name", add_store_put},
    {"get", "write the dump of a name as a file", add_store_get},
    {"ls", "list the entries", add_store_ls},
    {"show", "all about one entry", add_store_show},
    {"best", "which entry saves the most work on a prompt", add_store_best},
    {"pin", "protect entries from eviction", add_store_pin},
    {"rm", "forget entries", add_store_rm},
    {"gc", "take away what no entry needs, and keep a budget", add_store_gc},
    {"verify", "read everything and compare it with its hashes", add_store_verify},
    {"du", "what the entries take", add_store_du},
};

}  // namespace

Action add_store(CLI::App& verb) { return add_parts(verb, parts); }

}  // namespace kvtool::cli

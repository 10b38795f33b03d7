// tokens: the stored ids, the words they are stored in, the media between them, or the text.
#include <fmt/format.h>

#include "cli/input.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/facts.h"
#include "kvtool/gguf.h"
#include "kvtool/vocab.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  bool json = false;
  bool raw = false;
  bool media = false;
  bool text = false;
  std::string vocabulary;
};

Json media_json(const MediaSpan& span) {
  return {{"kind", span.kind},           {"start", span.start}, {"tokens", span.tokens},
          {"positions", span.positions}, {"id", span.id},       {"bytes", span.bytes}};
}

Vocab vocabulary_of(const Options& options) {
  if (options.vocabulary.empty())
    throw Error(ErrorKind::usage, "--text needs --vocab MODEL.gguf");
  return load_vocab(open_gguf(open_source(options.vocabulary)));
}

Json tokens_json(const Dump& dump, const Options& options) {
  const TokenArea& tokens = dump.tokens;
  Json json = json_document(dump.source->name());
  json["payload"] = tokens.form == TokenForm::payload;
  json["count"] = tokens.ids.size();
  json["ids"] = tokens.ids;
  json["media"] = Json::array();
  for (const MediaSpan& span : tokens.media) json["media"].push_back(media_json(span));
  json["problem"] = tokens.problem.empty() ? Json(nullptr) : Json(tokens.problem);
  if (options.raw) json["words"] = tokens.words;
  if (options.text) json["text"] = vocabulary_of(options).text(tokens.ids);
  return json;
}

void print_media(const TokenArea& tokens, Printer& out) {
  out.line("kind\tstart\ttokens\tpositions\tbytes\tid");
  for (const MediaSpan& span : tokens.media)
    out.line("{}\t{}\t{}\t{}\t{}\t{}", span.kind, span.start, span.tokens, span.positions,
             span.bytes, span.id.empty() ? "-" : printable(span.id));
}

void require_tokens(const Dump& dump) {
  if (kind_of(dump) == "state")
    throw Error(ErrorKind::refused, "a bare state holds no tokens").in_file(dump.source->name());
}

int run(const Options& options) {
  const auto dump = open(options.input);
  require_tokens(*dump);
  const TokenArea& tokens = dump->tokens;
  Printer out;
  if (options.json)
    out.json(tokens_json(*dump, options));
  else if (options.text)
    out.line("{}", vocabulary_of(options).text(tokens.ids));
  else if (options.media)
    print_media(tokens, out);
  else
    for (const std::int32_t word : options.raw ? tokens.words : tokens.ids) out.line("{}", word);
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_tokens(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  verb.add_flag("--json", options->json, "print JSON");
  auto* raw = verb.add_flag("--raw", options->raw, "the words as stored, payload and all");
  auto* media = verb.add_flag("--media", options->media, "the images and sounds between the ids");
  auto* text = verb.add_flag("--text", options->text, "decode the ids; needs --vocab");
  verb.add_option("--vocab", options->vocabulary, "a model whose vocabulary decodes the ids")
      ->type_name("MODEL.gguf");
  raw->excludes(media)->excludes(text);
  media->excludes(text);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli

#include "convert/header_filler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "convert/header_values.h"
#include "format/container.h"
#include "format/dialect.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

using format::HeaderField;
using format::HeaderFieldKind;
using format::HeaderLayout;

using MaybeValue = std::optional<FieldValue>;

constexpr const char* context_field = "n_ctx";

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::refused, why); }

// One value for all layers is as good as one for each.
bool same_value(const FieldValue& a, const FieldValue& b) {
  const std::size_t n = std::max(a.words.size(), b.words.size());
  auto at = [](const FieldValue& v, std::size_t i) {
    return v.words.size() == 1 ? v.words[0] : v.words[i];
  };
  for (const FieldValue* v : {&a, &b})
    if (v->words.size() != 1 && v->words.size() != n) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (at(a, i) != at(b, i)) return false;
  return true;
}

class Filler {
 public:
  Filler(const HeaderLayout& layout, const HeaderSources& sources, Missing& missing)
      : layout_(layout), sources_(sources), missing_(missing) {}

  FilledHeader run() {
    filled_.bytes.assign(layout_.size, std::byte{0});
    keep_padding();
    for (const HeaderField& field : layout_.fields) fill(field);
    tell_missing();
    if (lacking_.empty()) need_sound();
    tell_origin();
    return std::move(filled_);
  }

 private:
  // The bytes between the fields of the same struct in another dump: no build set them.
  void keep_padding() {
    if (sources_.known != nullptr && sources_.known->dialect.header == layout_.id)
      filled_.bytes = sources_.known->header;
  }

  MaybeValue said(const HeaderField& field) const {
    const auto text = sources_.fields->find(field.name);
    MaybeValue value;
    if (text != sources_.fields->end()) value = value_in_text(field, text->second);
    if (field.name != context_field || !sources_.n_ctx) return value;
    FieldValue context{{*sources_.n_ctx}, fmt::format("--ctx-size {}", *sources_.n_ctx), true};
    if (value && !same_value(*value, context))
      throw Error(ErrorKind::usage,
                  fmt::format("{} and {} contradict each other", value->said_by, context.said_by));
    return context;
  }

  MaybeValue known(const HeaderField& field) const {
    if (field.name == context_field && sources_.known_n_ctx > 0)
      return FieldValue{{sources_.known_n_ctx}, {}, true};
    if (sources_.known == nullptr) return std::nullopt;
    const HeaderLayout& from = format::header_layout(sources_.known->dialect.header);
    return value_in_header(from, sources_.known->header, layout_, field);
  }

  MaybeValue in_model(const HeaderField& field) const {
    if (sources_.model == nullptr) return std::nullopt;
    return value_in_model(*sources_.model, layout_, field);
  }

  std::string of_model(const HeaderField& field, const FieldValue& value) const {
    return fmt::format("{} of {} is {}", value.said_by, sources_.model->source().name(),
                       spelled(field, value));
  }

  void need_agreement(const HeaderField& field, const MaybeValue& option, const MaybeValue& known,
                      const MaybeValue& model) const {
    if (!model || !model->stated) return;
    if (option && !same_value(*option, *model))
      refuse(fmt::format("{} contradicts the model: {}", option->said_by, of_model(field, *model)));
    if (!option && known && !same_value(*known, *model))
      refuse(fmt::format("{} is {} in {}, and {}: they are not of the same model", field.name,
                         spelled(field, *known), sources_.known->source->name(),
                         of_model(field, *model)));
  }

  void fill(const HeaderField& field) {
    const MaybeValue option = said(field);
    const MaybeValue before = known(field);
    const MaybeValue model = in_model(field);
    need_agreement(field, option, before, model);
    if (option && before && !same_value(*option, *before))
      filled_.changes.push_back(fmt::format("{}: {} -> {}", field.name, spelled(field, *before),
                                            spelled(field, *option)));
    if (option) return put(field, *option);
    if (before) return put(field, *before);
    if (model) ++(model->stated ? stated_ : assumed_);
    if (model) return put(field, *model);
    lacking_.push_back(&field);
  }

  // Elements of an array behind the last layer are 0.
  void put(const HeaderField& field, FieldValue value) {
    if (field.kind == HeaderFieldKind::boolean || field.kind == HeaderFieldKind::bits) {
      filled_.bytes[field.offset] = static_cast<std::byte>(value.words.front());
      return;
    }
    if (field.name == "n_layer") layers_ = value.words.front();
    if (field.count > 1) spread(field, value);
    value.words.resize(field.count);
    std::memcpy(filled_.bytes.data() + field.offset, value.words.data(), field.bytes());
  }

  void spread(const HeaderField& field, FieldValue& value) const {
    if (layers_ > field.count)
      refuse(fmt::format("{} layers do not fit into header struct {}, which has room for {}",
                         layers_, layout_.name, field.count));
    if (value.words.size() == 1) value.words.resize(layers_, value.words.front());
    if (layers_ > 0 && value.words.size() != layers_)
      refuse(
          fmt::format("{} has {} values for {} layers", field.name, value.words.size(), layers_));
  }

  void tell_missing() const {
    if (lacking_.empty()) return;
    std::string names;
    std::string options = needs_model() ? "--model MODEL.gguf" : "";
    auto add = [](std::string& list, const std::string& part) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", part);
    };
    for (const HeaderField* field : lacking_) {
      add(names, field->name);
      if (field->name == context_field)
        add(options, "--ctx-size N");
      else if (sources_.model != nullptr || !is_of_models(layout_, *field))
        add(options, fmt::format("--set {}=N", field->name));
    }
    const bool all = lacking_.size() == layout_.fields.size();
    missing_.add(fmt::format("the model parameters{}{} (header struct {})", all ? "" : " ",
                             all ? "" : names, layout_.name),
                 options);
  }

  // How many values are the model's own.
  void tell_origin() {
    if (stated_ + assumed_ == 0) return;
    filled_.changes.push_back(fmt::format(
        "header struct {}: {} fields from {}, {} as builds of the time took what it leaves open",
        layout_.name, stated_, sources_.model->source().name(), assumed_));
  }

  bool needs_model() const {
    return sources_.model == nullptr &&
           std::ranges::any_of(lacking_, [&](auto* f) { return is_of_models(layout_, *f); });
  }

  void need_sound() const {
    const format::HeaderFlaw flaw = format::flaw_of_header(layout_.id, filled_.bytes);
    if (!flaw.problem.empty())
      refuse(fmt::format("the header struct {} would be of no model: {}: {}", layout_.name,
                         flaw.field, flaw.problem));
  }

  const HeaderLayout& layout_;
  const HeaderSources& sources_;
  Missing& missing_;
  FilledHeader filled_;
  std::vector<const HeaderField*> lacking_;
  std::uint32_t layers_ = 0;
  std::size_t stated_ = 0;
  std::size_t assumed_ = 0;
};

bool has_field(const HeaderLayout& layout, const std::string& name) {
  return std::ranges::any_of(layout.fields, [&](const HeaderField& f) { return f.name == name; });
}

std::string names_of(const HeaderLayout& layout) {
  std::string names;
  for (const HeaderField& field : layout.fields)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  return names;
}

}  // namespace

FilledHeader fill_header(const HeaderLayout& layout, const HeaderSources& sources,
                         Missing& missing) {
  return Filler(layout, sources, missing).run();
}

std::optional<std::uint64_t> number_of(const std::map<std::string, std::string>& fields,
                                       const char* name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || stop != text.data() + text.size())
    throw Error(ErrorKind::usage, fmt::format("--set {}={}: expected a number", name, text));
  return value;
}

void need_fields_of(const Dialect& to, const std::map<std::string, std::string>& fields) {
  for (const auto& [name, text] : fields) {
    if (!format::is_old_session(to) || to.header == HeaderStruct::none)
      throw Error(ErrorKind::usage, fmt::format("--set {}: {} has no such field; only sessions of "
                                                "before August 2024 have",
                                                name, format::name_of(to)));
    const bool pool = name == pool_size_field && to.body < Body::output_ids;
    const bool capacity = name == logits_capacity_field && to.body < Body::lean;
    const HeaderLayout& layout = format::header_layout(to.header);
    if (!pool && !capacity && !has_field(layout, name))
      throw Error(ErrorKind::usage,
                  fmt::format("--set {}: {} has no such field; its header struct has {}", name,
                              format::name_of(to), names_of(layout)));
  }
}

}  // namespace kvtool::convert_steps

#include "support/tiny_old_dump.h"

#include <map>
#include <string>
#include <vector>

#include "support/tiny_parts.h"

namespace kvtool::test {
namespace {

constexpr std::size_t padded_rng_bytes = 65536;

// The header structs, a letter for each field in its order:
//   V n_vocab  C n_ctx  X n_ctx_train  E n_embd  H n_head  K n_head_kv  L n_layer  F any other size
//   e epsilon  b rope base  s scale  k v head widths of K and V  c n d SSM conv, inner, state
//   i rope scaling type  T B a byte of one, of zero  z a word of zero  G an array of head counts
const std::map<HeaderStruct, std::string>& header_letters() {
  using enum HeaderStruct;
  static const std::map<HeaderStruct, std::string> letters = {
      {j32, "VCEFHLFF"},
      {j40, "VCEFHLFbsF"},
      {j48, "VCEFHKLFsbsF"},
      {j52, "VCEFHKLFsebsF"},
      {g48, "VXCEHKLFFebs"},
      {g52, "VXCEHKLFFeebs"},
      {s52, "BVXEHKLFFeebs"},
      {s60, "BVXEHKLFFeebszz"},
      {s68, "BVXEHKLFFeebsFBzz"},
      {s76, "BVXEHKLFFzzeebsFBzz"},
      {s84a, "BVXEHKLFkvFzzeebsFBzz"},
      {s84b, "BBVXEHKLFkvFzzeebsFizz"},
      {s92, "BBVXEHKLFkvFzzzeebsFizzTB"},
      {s96, "BBVXEHKLFkvFzzzeebsFizzTBz"},
      {s100a, "BBVXEHKLFkvFzzzeebsFizzTBzz"},
      {s100b, "BBVXEHKLFkvFzzzeebsFzzTBzzi"},
      {s116, "BBVXEHKLFkvFzzzeebsFcndzzzTBzzi"},
      {s120, "BBVXEHKLFkvFzzzeebsFcndzzzzTBzzi"},
      {s124, "BBBVXEHKLFkvFzzzeezbsFcndzzzzTBzzi"},
      {s152, "BBBVXEHKLFkvFzzzzzzzzzeezbsFzcndzzzzTBzzi"},
      {s156, "BBBVXEHKLFkvFzzzzzzzzzzeezbsFzcndzzzzTBzzi"},
      {s164, "BBBVXEHKLFkvFzzzzzzzzzzeezzzbsFzcndzzzzTBBzzi"},
      {s168, "BBBVXEHKLFFkvFzzzzzzzzzzeezzzbsFzcndzzzzTBBzzi"},
      {s176, "BBBVXEHKLFFkvFzzzzzzzzzzzeezzzbsFzcndzzzzTBBzzzi"},
      {s3236, "BBBVXELFFkvzzzzGGGzzzzzzzeezzzbsFzcndzzzzTBBzzzi"},
      {s6308, "BBBVXELFFkvzzzzGGGzzzzzzzeezzzbsFzcndzzzzTBBzzzi"},
  };
  return letters;
}

// What the letters stand for.
class Model {
 public:
  explicit Model(const TinyDump& tiny) : tiny_(tiny), header_(tiny.dialect.header) {}

  [[nodiscard]] bool recurrent() const { return tiny_.pieces.front() == Piece::recurrent; }
  [[nodiscard]] std::uint32_t context() const { return tiny_.cells + 2; }
  // Elements of a row.
  [[nodiscard]] std::uint32_t k_width() const {
    if (recurrent()) return (conv - 1) * inner;
    return tiny_.dialect.scrambled ? embedding() : tiny_.k_width;
  }
  [[nodiscard]] std::uint32_t v_width() const {
    if (recurrent()) return state * inner;
    return header_ < HeaderStruct::s84a ? k_width() : tiny_.v_width;
  }
  [[nodiscard]] std::uint32_t element() const { return recurrent() || tiny_.single ? 4 : 2; }

  void put_header(Bytes& out) const {
    std::size_t bytes = 0;  // of a run that is padded to a word
    for (const char letter : header_letters().at(header_)) {
      if (letter == 'B' || letter == 'T') {
        out.u8(letter == 'T' ? 1 : 0);
        ++bytes;
        continue;
      }
      for (; bytes % 4 != 0; ++bytes) out.u8(0);
      bytes = 0;
      put_word(out, letter);
    }
    for (; bytes % 4 != 0; ++bytes) out.u8(0);
  }

 private:
  static constexpr std::uint32_t conv = 2;
  static constexpr std::uint32_t inner = 2;
  static constexpr std::uint32_t state = 3;

  // Four heads share one of K from when the struct can say so.
  [[nodiscard]] bool groups() const { return header_ >= HeaderStruct::j48; }
  [[nodiscard]] std::uint32_t embedding() const { return tiny_.k_width * (groups() ? 4 : 1); }
  [[nodiscard]] std::uint32_t heads_kv() const { return recurrent() ? 0 : 1; }

  void put_array(Bytes& out) const {
    const std::uint32_t length = header_ == HeaderStruct::s3236 ? 256 : 512;
    for (std::uint32_t i = 0; i < length; ++i) out.u32(i < tiny_.layers ? heads_kv() : 0);
  }

  void put_word(Bytes& out, char letter) const {
    const bool ssm = recurrent();
    switch (letter) {
      case 'V': out.u32(300); return;
      case 'C': out.u32(context()); return;
      case 'X': out.u32(64); return;
      case 'E': out.u32(embedding()); return;
      case 'H': out.u32(ssm ? 0 : groups() ? 4 : 1); return;
      case 'K': out.u32(heads_kv()); return;
      case 'L': out.u32(tiny_.layers); return;
      case 'F': out.u32(2); return;
      case 'e': out.f32(1e-5F); return;
      case 'b': out.f32(10000); return;
      case 's': out.f32(1); return;
      case 'k': out.u32(ssm ? 0 : tiny_.k_width); return;
      case 'v': out.u32(ssm ? 0 : tiny_.v_width); return;
      case 'c': out.u32(ssm ? conv : 0); return;
      case 'n': out.u32(ssm ? inner : 0); return;
      case 'd': out.u32(ssm ? state : 0); return;
      case 'i': out.i32(-1); return;
      case 'G': return put_array(out);
      default: out.u32(0); return;
    }
  }

  const TinyDump& tiny_;
  HeaderStruct header_;
};

// Random generator, outputs, embeddings.
void put_outputs(Bytes& out, const Dialect& d) {
  const bool padded = d.body < Body::lean;
  out.u64(rng_bytes);
  put_rng(out);
  if (padded)
    for (std::size_t i = rng_bytes; i < padded_rng_bytes; ++i) out.u8(0);
  if (d.body >= Body::output_ids) out.u64(1).i32(0);
  if (padded) out.u64(4);
  out.u64(3).f32(1).f32(2).f32(3);
  if (padded) out.f32(9);
  out.u64(2).f32(4).f32(5);
}

class OldBody {
 public:
  OldBody(Bytes& out, const TinyDump& tiny)
      : out_(out), tiny_(tiny), d_(tiny.dialect), model_(tiny) {}

  void put() {
    const std::size_t cells = d_.body == Body::pool ? model_.context() : tiny_.cells;
    k_bytes_ = cells * model_.k_width() * model_.element();
    v_bytes_ = cells * model_.v_width() * model_.element();
    const std::size_t all = tiny_.layers * (k_bytes_ + v_bytes_);
    if (d_.body == Body::pool) return put_pool(all);
    put_words(all);
    put_tensors();
    if (d_.body >= Body::cells) put_cells();
  }

 private:
  // Records of 32 and 176 or 208 bytes before K and V; the first tells its object's size.
  void put_record(std::size_t data) {
    const std::size_t record = d_.long_records ? 208 : 176;
    out_.u64(0).u64(record + data).filler(16 + record);
  }

  void put_pool(std::size_t all) {
    constexpr std::size_t slack = std::size_t{2} << 20U;
    const std::size_t records = 2 * (32 + (d_.long_records ? 208U : 176U));
    out_.u64(all + slack).i32(0);
    put_record(tiny_.layers * k_bytes_);
    out_.filler(tiny_.layers * k_bytes_);
    put_record(tiny_.layers * v_bytes_);
    out_.filler(tiny_.layers * v_bytes_);
    for (std::size_t i = records; i < slack; ++i) out_.u8(0);
  }

  // A pool is as large as the whole context, and a little more; later words say what follows.
  void put_words(std::size_t all) {
    const std::size_t pool = all / tiny_.cells * model_.context() + 32;
    out_.u64(d_.body >= Body::output_ids ? all : pool).u32(tiny_.cells);
    if (d_.body < Body::cells) return;
    out_.u32(model_.context());
    if (d_.used_word) out_.u32(used());
    if (d_.body == Body::v_flag) out_.u32(tiny_.transposed ? 1 : 0);
  }

  void put_tensors() {
    if (d_.body >= Body::by_layer) {
      for (std::uint32_t l = 0; l < tiny_.layers; ++l) out_.filler(k_bytes_).filler(v_bytes_);
    } else {
      out_.filler(tiny_.layers * k_bytes_).filler(tiny_.layers * v_bytes_);
    }
  }

  // What is listed: the cells with data; where all are listed, also one that is in use behind them,
  // and one that is not. (With two ids the first two cells would be as long as the V that f32 has and
  // f16 has not, and the file of a session 4 would read in both ways.)
  [[nodiscard]] std::vector<TinyCell> listed() const {
    std::vector<TinyCell> cells;
    for (std::uint32_t i = 0; i < tiny_.cells; ++i) {
      cells.push_back(cell_of(tiny_, 0, i));
      if (!tiny_.tables.empty()) continue;
      cells.back().ids = {0};
      if (model_.recurrent())  // cell i is the state of sequence i
        cells.back().ids = {static_cast<std::int32_t>(i)};
      else if (i == 0)
        cells.back().ids = {0, 1, 2};
    }
    if (!d_.lists_all) return cells;
    cells.push_back({static_cast<std::int32_t>(tiny_.cells), {0}});
    cells.push_back({-1, {}});
    return cells;
  }

  [[nodiscard]] std::uint32_t used() const {
    std::uint32_t n = 0;
    for (const TinyCell& cell : listed()) n += cell.ids.empty() ? 0 : 1;
    return n;
  }

  void put_cells() {
    for (const TinyCell& cell : listed()) {
      out_.i32(cell.position).u64(cell.ids.size());
      for (const std::int32_t id : cell.ids) out_.i32(id);
    }
  }

  Bytes& out_;
  const TinyDump& tiny_;
  const Dialect& d_;
  Model model_;
  std::size_t k_bytes_ = 0;  // of a layer
  std::size_t v_bytes_ = 0;
};

void put_typed_slot(Bytes& out, const TinyDump& tiny) {
  const std::uint64_t k_row = bytes_of_type(tiny.type, tiny.k_width);
  const std::uint64_t v_row = bytes_of_type(tiny.type, tiny.v_width);
  out.u32(8).u32(tiny.cells).u32(tiny.layers).u32(tiny.v_width);
  for (std::uint32_t i = 0; i < tiny.cells; ++i) out.i32(cell_of(tiny, 0, i).position);
  for (std::uint32_t l = 0; l < tiny.layers; ++l) put_rows(out, tiny.type, k_row, tiny.cells);
  for (std::uint32_t l = 0; l < tiny.layers; ++l) {
    out.u32(tiny.type).u64(tiny.transposed ? v_row / tiny.v_width : v_row);
    out.filler(static_cast<std::size_t>(v_row) * tiny.cells);
  }
}

}  // namespace

ByteVector build_old(const TinyDump& tiny) {
  const Dialect& d = tiny.dialect;
  Bytes out;
  if (d.container == Container::session) out.text("nsgg").u32(d.version);
  if (d.container == Container::slot) out.text("qsgg").u32(d.version);
  if (d.header != HeaderStruct::none) Model(tiny).put_header(out);
  if (d.container != Container::sequence_state) put_tokens(out, tiny.cells);
  if (d.body == Body::typed_slot) {
    put_typed_slot(out, tiny);
  } else {
    put_outputs(out, d);
    OldBody(out, tiny).put();
  }
  return out.get();
}

namespace {

Dialect session(std::uint32_t version, Body body, HeaderStruct header) {
  Dialect d;
  d.version = version;
  d.body = body;
  d.header = header;
  d.streams = false;
  d.rng_text = d.outputs = true;
  d.lists_all = body == Body::cells || body == Body::by_layer;
  return d;
}

Dialect typed_slot(Container container) {
  Dialect d;
  d.container = container;
  d.version = container == Container::slot ? 1 : 0;
  d.body = Body::typed_slot;
  d.streams = d.sequence_ids = false;
  return d;
}

class List {
 public:
  // The next calls change what was added last.
  List& add(const char* layout, const Dialect& dialect) {
    all_.push_back({layout, dialect});
    all_.back().transposed = dialect.body != Body::typed_slot;
    return *this;
  }
  List& with(bool Dialect::*choice, bool value = true) {
    all_.back().dialect.*choice = value;
    return *this;
  }
  List& rows() {
    all_.back().transposed = false;
    return *this;
  }
  List& columns() {
    all_.back().transposed = true;
    return *this;
  }
  List& single() {
    all_.back().single = true;
    return *this;
  }
  List& recurrent() {
    all_.back().pieces = {Piece::recurrent};
    return *this;
  }
  std::vector<TinyDump> done() { return std::move(all_); }

 private:
  std::vector<TinyDump> all_;
};

void add_first(List& list) {
  using enum HeaderStruct;
  const Dialect pool = session(0, Body::pool, j32);
  list.add("ggsn0.j32/kv", pool);
  list.add("ggsn0.j32.r208/kv", pool).with(&Dialect::long_records);
  auto v1 = [](HeaderStruct header) { return session(1, Body::k_then_v, header); };
  list.add("ggsn1.j32/kv", v1(j32)).single().add("ggsn1.j40/kv", v1(j40));
  list.add("ggsn1.j48/kv", v1(j48)).add("ggsn1.j52/kv", v1(j52));
  list.add("ggsn1.j48.scrambled/kv", v1(j48)).with(&Dialect::scrambled);
  list.add("ggsn1.g48/kv", v1(g48)).add("ggsn1.g52/kv", v1(g52)).add("ggsn1.s52/kv", v1(s52));
}

void add_with_cells(List& list) {
  using enum HeaderStruct;
  auto v2 = [](HeaderStruct header) { return session(2, Body::cells, header); };
  list.add("ggsn2.s52.noused/kv", v2(s52)).with(&Dialect::used_word, false);
  list.add("ggsn2.s60.noused/kv", v2(s60)).with(&Dialect::used_word, false);
  list.add("ggsn2.s68.noused/kv", v2(s68)).with(&Dialect::used_word, false);
  list.add("ggsn2.s68/kv", v2(s68));
  auto v3 = [](HeaderStruct header) { return session(3, Body::by_layer, header); };
  list.add("ggsn3.s68/kv", v3(s68)).add("ggsn3.s76/kv", v3(s76));
  list.add("ggsn3.s84a/kv", v3(s84a)).single();
  auto v4 = [](HeaderStruct header) { return session(4, Body::lean, header); };
  list.add("ggsn4.s84a.all/kv", v4(s84a)).with(&Dialect::lists_all);
  list.add("ggsn4.s84b.all/kv", v4(s84b)).with(&Dialect::lists_all);
  list.add("ggsn4.s92.all/kv", v4(s92)).with(&Dialect::lists_all);
  list.add("ggsn4.s96.all/kv", v4(s96)).with(&Dialect::lists_all);
  list.add("ggsn4.s100a.all/kv", v4(s100a)).with(&Dialect::lists_all);
  list.add("ggsn4.s100b/kv", v4(s100b)).add("ggsn4.s116/kv", v4(s116));
  list.add("ggsn4.s116/recurrent", v4(s116)).recurrent().add("ggsn4.s120/kv", v4(s120));
}

void add_last(List& list) {
  using enum HeaderStruct;
  list.add("ggsn5.s120/kv", session(5, Body::output_ids, s120));
  auto v6 = [](HeaderStruct header) { return session(6, Body::v_flag, header); };
  list.add("ggsn6.s120/kv", v6(s120)).rows().add("ggsn6.s124/kv", v6(s124));
  list.add("ggsn6.s152/kv", v6(s152)).add("ggsn6.s156/kv", v6(s156)).rows().single();
  list.add("ggsn6.s164/recurrent", v6(s164)).recurrent();
  list.add("ggsn6.s168/kv", v6(s168)).add("ggsn6.s176/kv", v6(s176));
  list.add("ggsn6.s3236/kv", v6(s3236));
  list.add("ggsn7.s6308/kv", session(7, Body::v_flag, s6308)).rows();
  list.add("ggsq1/kv", typed_slot(Container::slot));
  list.add("ggsq1/kv", typed_slot(Container::slot)).columns();
  list.add("rawseq/kv", typed_slot(Container::sequence_state)).columns();
}

}  // namespace

std::vector<TinyDump> tiny_old_dumps() {
  List list;
  add_first(list);
  add_with_cells(list);
  add_last(list);
  return list.done();
}

}  // namespace kvtool::test

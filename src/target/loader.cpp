// What a user calls a loader: a release, a build, a day, a month or an era.
#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "kvtool/error.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

struct Release {
  std::uint32_t number;  // major * 1000000 + minor * 1000 + patch
  const char* name;
  const char* era;
  std::uint32_t build;  // 0: not known
};

// The releases whose files were seen, in order.
constexpr Release releases[] = {
    {4000, "0.4.0", "10/3", 10829},
    {5000, "0.5.0", "10/3", 0},
    {6000, "0.6.0", "11/4", 0},
    {7000, "0.7.0", "11/4", 11669},
};

const Era* era_called(std::string_view name) {
  if (name == "ik_llama.cpp") return &fork_eras().back();
  for (const auto* list : {&eras(), &old_eras(), &fork_eras()})
    for (const Era& era : *list)
      if (era.name == name) return &era;
  return nullptr;
}

// Those of llama.cpp in order of their days.
const std::vector<Era>& dated_eras() {
  static const std::vector<Era> all = [] {
    std::vector<Era> list = old_eras();
    list.insert(list.end(), eras().begin(), eras().end());
    return list;
  }();
  return all;
}

// What was asked for, and with which option, for messages.
struct Request {
  const std::string& name;
  const std::string& option;
};

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

// "the layout changed around here": both neighbours, as they can be passed.
[[noreturn]] void refuse_between(const Request& asked, const Era& before, const Era& after) {
  refuse(
      fmt::format("{0} {1}: the layout changed about then, between {2} ({3}) and {4} ({5}); "
                  "pass {0} {2} or {0} {4}",
                  asked.option, asked.name, before.name, before.summary, after.name, after.summary));
}

[[noreturn]] void refuse_newer(const Request& asked) {
  const Era& last = eras().back();
  refuse(
      fmt::format("{0} {1}: newer than what kvtool knows (llama.cpp {2}, b{3}); if its files "
                  "are of version {4}, pass {0} {4}",
                  asked.option, asked.name, std::end(releases)[-1].name, last.last_build,
                  last.name));
}

[[noreturn]] void refuse_older_build(const Request& asked) {
  refuse(
      fmt::format("{} {}: older than b{} of {}, the first build that kvtool knows by number; pass "
                  "a day or month (2024-06)",
                  asked.option, asked.name, eras().front().first_build, eras().front().from));
}

[[noreturn]] void refuse_older(const Request& asked) {
  refuse(fmt::format("{} {}: older than the first session files (2023-04-28)", asked.option,
                     asked.name));
}

// Digits and nothing else.
std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = text.find(mark, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

std::optional<std::vector<std::uint32_t>> numbers(std::string_view text, char mark) {
  std::vector<std::uint32_t> values;
  for (const std::string_view part : split(text, mark)) {
    const auto value = number(part);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

Loader loader_of_build(const Request& asked, std::uint32_t build) {
  const Era* before = nullptr;
  for (const Era& era : eras()) {
    if (era.first_build == 0) continue;
    if (build < era.first_build) {
      if (before == nullptr) refuse_older_build(asked);
      refuse_between(asked, *before, era);
    }
    if (build <= era.last_build) return {era, build};
    before = &era;
  }
  refuse_newer(asked);
}

// A release between two known ones of one era is of that era.
Loader loader_of_release(const Request& asked, std::uint32_t wanted) {
  const Release* before = nullptr;
  for (const Release& release : releases) {
    const Era& era = *era_called(release.era);
    if (wanted == release.number) {
      Loader loader{era, std::nullopt};
      if (release.build != 0) loader.build = release.build;
      return loader;
    }
    if (wanted < release.number) {
      if (before == nullptr)
        refuse(
            fmt::format("{} {}: the first release that kvtool knows is {}; pass a build "
                        "(b10256) or a date",
                        asked.option, asked.name, release.name));
      if (before->era != release.era) refuse_between(asked, *era_called(before->era), era);
      return {era, std::nullopt};
    }
    before = &release;
  }
  refuse_newer(asked);
}

// An old era had one header struct after the other: which ones, its days say.
Era on_days(const Era& era, const std::string& first, const std::string& last) {
  Era narrow = era;
  if (!era.is_old()) return narrow;
  narrow.from = first;
  narrow.until = last;
  return narrow;
}

// Days as YYYY-MM-DD compare as text.
Loader loader_of_days(const Request& asked, const std::string& first, const std::string& last) {
  const Era* before = nullptr;
  for (const Era& era : dated_eras()) {
    if (first >= era.from && last <= era.until) return {on_days(era, first, last), std::nullopt};
    if (first < era.from) {
      if (before == nullptr) refuse_older(asked);
      refuse_between(asked, *before, era);
    }
    if (last > era.until && first <= era.until && &era != &dated_eras().back())
      refuse_between(asked, era, *(&era + 1));
    before = &era;
  }
  refuse_newer(asked);
}

bool is_calendar(const std::vector<std::uint32_t>& date) {
  return date[0] >= 2000 && date[0] < 10000 && date[1] >= 1 && date[1] <= 12 &&
         (date.size() < 3 || (date[2] >= 1 && date[2] <= 31));
}

std::optional<Loader> loader_of_date(const Request& asked) {
  const auto date = numbers(asked.name, '-');
  if (!date || (date->size() != 2 && date->size() != 3) || !is_calendar(*date)) return std::nullopt;
  const auto day = [&](std::uint32_t d) {
    return fmt::format("{:04}-{:02}-{:02}", (*date)[0], (*date)[1], d);
  };
  if (date->size() == 3) return loader_of_days(asked, day((*date)[2]), day((*date)[2]));
  // A month is of an era when its days 1 and 28 are: eras that end later in a month fill it.
  return loader_of_days(asked, day(1), day(28));
}

std::optional<Loader> loader_of_version(const Request& asked) {
  const std::string_view name = asked.name;
  const std::string_view digits = name[0] == 'v' ? name.substr(1) : name;
  const auto parts = numbers(digits, '.');
  if (!parts || parts->size() != 3) return std::nullopt;
  for (const std::uint32_t part : *parts)
    if (part > 999) return std::nullopt;
  return loader_of_release(asked, (*parts)[0] * 1000000 + (*parts)[1] * 1000 + (*parts)[2]);
}

}  // namespace

Loader loader_named(const std::string& name, const std::string& option) {
  const Request asked{name, option};
  if (const Era* era = era_called(name)) return {*era, std::nullopt};
  if (!name.empty()) {
    if (const auto build = number(std::string_view(name).substr(1)); build && name[0] == 'b')
      return loader_of_build(asked, *build);
    if (auto loader = loader_of_version(asked)) return *loader;
    if (auto loader = loader_of_date(asked)) return *loader;
  }
  refuse(
      fmt::format("{} {}: not a release (0.7.0), a build (b10256), a month (2026-05), a day "
                  "(2026-05-17), an era (11/4) or ik_llama.cpp",
                  option, name));
}

const Era& era_of_loader(const std::string& loader) {
  return *era_called(loader_named(loader).era.name);
}

}  // namespace kvtool

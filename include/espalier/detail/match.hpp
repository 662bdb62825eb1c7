// Whether two trees whose types agree also agree in what types do not know: sizes, map keys, which optionals are
// engaged, which alternatives are held, aux data.
#pragma once

#include <espalier/describe_value.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/encode.hpp>
#include <espalier/errors.hpp>
#include <espalier/leaf_if.hpp>
#include <espalier/path_view.hpp>

namespace espalier::detail {

// Reporters: the first compares no further after a difference and costs no more than the comparisons.
struct any_mismatch {
  static constexpr bool stops = true;
  static constexpr bool compares_aux = true;
  template <class Path, class Describe> constexpr void operator()(const Path&, Describe&&) const {}
};
struct all_mismatches {
  static constexpr bool stops = false;
  static constexpr bool compares_aux = true;
  std::vector<mismatch>& found;
  template <class Describe> void operator()(const path_view& path, Describe&& describe) {
    mismatch m = describe();
    m.path = path.to_string() + m.path;
    found.push_back(std::move(m));
  }
};

// The same, of trees whose aux data may differ.
struct any_mismatch_but_aux : any_mismatch {
  static constexpr bool compares_aux = false;
};
struct all_mismatches_but_aux : all_mismatches {
  static constexpr bool compares_aux = false;
};

inline std::string count_text(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

template <class Report, class Path, class A, class B>
constexpr bool match(Report& report, Path path, const A& a, const B& b);

template <class Report, class Path, class A, class B>
bool match_aux(Report& report, Path path, const A& a, const B& b) {
  const auto aux_a = node_of<A>::aux(a);
  const auto aux_b = node_of<B>::aux(b);
  constexpr std::size_t n = std::tuple_size_v<decltype(aux_a)>;
  if constexpr (n != std::tuple_size_v<decltype(aux_b)>) {
    report(path, [] {
      return mismatch{"", count_text(n, "aux value"), count_text(std::tuple_size_v<decltype(aux_b)>, "aux value")};
    });
    return false;
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&]<std::size_t J>(index<J>) {
        const auto& x = std::get<J>(aux_a);
        const auto& y = std::get<J>(aux_b);
        bool same = false;
        if constexpr (std::is_same_v<decltype(x), decltype(y)>) same = same_encoding(x, y);
        if (!same) {
          report(path, [&] {
            std::string name;
            if constexpr (requires { node_of<A>::template aux_key<J>(); })
              print_key(name, node_of<A>::template aux_key<J>());
            return mismatch{name, "aux " + describe_value(x), "aux " + describe_value(y)};
          });
        }
        return same;
      };
      bool same = true;
      (void)((same &= one(index<I>{}), same || !Report::stops) && ...);
      return same;
    }(std::make_index_sequence<n>{});
  }
}

// Whether b has a's structure down to a's leaves (or to where the report ends), or down to b's, where the types let b
// be the shallower one.
template <class Report, class Path, class A, class B>
constexpr bool match(Report& report, Path outside, const A& a, const B& b) {
  constexpr node_kind kind = kind_of<A>;
  if constexpr (ends_at<Report, A> || kind_of<B> == node_kind::leaf || (is_static<A> && is_static<B>)) {
    return true;
  } else {
    const auto path = entered<A>(outside);
    bool same = true;
    if constexpr (is_product<A>) {
      if constexpr (Report::compares_aux && (node_of<A>::has_aux || node_of<B>::has_aux)) {
        if (!match_aux(report, path, a, b)) same = false;
      }
    } else if constexpr (kind == node_kind::sequence) {
      const std::size_t n = node_of<A>::size(a);
      const std::size_t m = node_of<B>::size(b);
      if (n != m) {
        report(path, [&] { return mismatch{"", count_text(n, "element"), count_text(m, "element")}; });
        if constexpr (!Report::stops) {
          for (std::size_t i = 0; i < (n < m ? n : m); ++i) {
            match(report, path / index_key{i}, elements_of(a)[i], elements_of(b)[i]);
          }
        }
        return false;
      }
      if constexpr (is_static<typename node_of<A>::element> && is_static<typename node_of<B>::element>) return true;
    } else if constexpr (kind == node_kind::map) {
      using entry = map_key<typename node_of<A>::key>;
      const auto less = node_of<A>::order(a);
      const auto& entries_a = map_entries(a);
      const auto& entries_b = map_entries(b);
      auto i = entries_a.begin();
      auto j = entries_b.begin();
      while (i != entries_a.end() || j != entries_b.end()) {
        const bool only_a = j == entries_b.end() || (i != entries_a.end() && less(i->first, j->first));
        const bool only_b = i == entries_a.end() || (j != entries_b.end() && less(j->first, i->first));
        if (only_a || only_b) {
          report(path / entry{only_a ? i->first : j->first}, [&] {
            return only_a ? mismatch{"", "this key", "no such key"} : mismatch{"", "no such key", "this key"};
          });
          same = false;
          if constexpr (Report::stops) return false;
        } else if (!match(report, path / entry{i->first}, i->second, j->second)) {
          same = false;
          if constexpr (Report::stops) return false;
        }
        if (!only_b) ++i;
        if (!only_a) ++j;
      }
      return same;
    } else if constexpr (kind == node_kind::maybe) {
      if (static_cast<bool>(a) != static_cast<bool>(b)) {
        report(path, [&] { return mismatch{"", a ? "a value" : "None", b ? "a value" : "None"}; });
        return false;
      }
    } else if constexpr (kind == node_kind::variant) {
      if (a.index() != b.index()) {
        report(path, [&] {
          return mismatch{"", "alternative " + std::to_string(a.index()), "alternative " + std::to_string(b.index())};
        });
        return false;
      }
    }
    if constexpr (Report::stops) {
      if (!same) return false;
    }
    for_each_child(
        [&](const auto& key, const auto& child_a, const auto& child_b) {
          if (!same && Report::stops) return;
          if (!match(report, path / key, child_a, child_b)) same = false;
        },
        a, b);
    return same;
  }
}

// Apart from the check, and not inlined, so that the check is small.
template <class Stops, class First, class Rest>
[[noreturn, gnu::noinline, gnu::cold]] void throw_mismatches(const char* operation, std::size_t position,
                                                             const First& first, const Rest& rest) {
  std::vector<mismatch> found;
  with_stops<Stops, all_mismatches> report{all_mismatches{found}};
  match(report, path_view{}, first, rest);
  throw structure_error("espalier: " + std::string(operation) + ": tree " + std::to_string(position + 1) +
                            " does not have the structure of the first tree:",
                        std::move(found));
}

// Throws a structure_error that names every place where a rest tree differs.
template <class Stops = types<>, class First, class Rest>
ESPALIER_INLINE constexpr void require_match([[maybe_unused]] const char* operation,
                                             [[maybe_unused]] std::size_t position, [[maybe_unused]] const First& first,
                                             [[maybe_unused]] const Rest& rest) {
  if constexpr (!(is_static<First> && is_static<Rest>)) {
    with_stops<Stops, any_mismatch> quick{};
    if (!match(quick, no_path{}, first, rest)) [[unlikely]]
      throw_mismatches<Stops>(operation, position, first, rest);
  }
}

template <class First, class Rest>
[[noreturn, gnu::noinline, gnu::cold]] void throw_mismatches_but_aux(const char* what, const First& first,
                                                                     const Rest& rest) {
  std::vector<mismatch> found;
  all_mismatches_but_aux report{{found}};
  match(report, path_view{}, first, rest);
  throw structure_error("espalier: " + std::string(what) + ":", std::move(found));
}

// The same in the caller's words, for arithmetic on trees, which aux data does not enter: it may differ.
template <class First, class Rest>
ESPALIER_INLINE constexpr void require_same([[maybe_unused]] const First& first, [[maybe_unused]] const Rest& rest,
                                            [[maybe_unused]] const char* what) {
  if constexpr (!(is_static<First> && is_static<Rest>)) {
    any_mismatch_but_aux quick;
    if (!match(quick, no_path{}, first, rest)) [[unlikely]]
      throw_mismatches_but_aux(what, first, rest);
  }
}

}  // namespace espalier::detail

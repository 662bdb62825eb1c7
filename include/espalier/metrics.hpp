// Metrics of a run as files for people and tools: a row for each step that is logged, of any tree of numbers and
// strings; a column is named by the dotted key path of its leaf.
//
//   struct metrics { float loss; double learning_rate; };
//   espalier::csv_metrics log("run.csv");                  // espalier::jsonl_metrics log("run.jsonl");
//   log.write(100, metrics{1.25f, 3e-4});                  // {"step": 100, "loss": 1.25, "learning_rate": 0.0003}
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/detail/json.hpp>
#include <espalier/errors.hpp>
#include <espalier/visit.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// A file of metrics that cannot be written, is none, or has other columns. what() names the file.
struct metrics_error : error {
  using error::error;
};

namespace detail {

// One metric as text.
struct metric {
  enum class kind { number, not_finite, text };

  std::string name;  // the leaf's dotted key path, "value" where the tree is the leaf
  kind which;
  std::string text;
};

template <class Leaf> struct no_metric {
  static_assert(always_false<Leaf>,
                "espalier: metrics: a leaf of this tree is neither a number nor a string. Map it to one first: "
                "tree_map([](const mx::array& a) { return a.item<float>(); }, metrics)");
};

inline std::string metric_name(const path_view& path) {
  std::string name = path.dotted();
  return name.empty() ? "value" : name;
}

// Throws metrics_error if two metrics have one name: a reader would lose one.
template <class Tree> std::vector<metric> metrics_of(const std::filesystem::path& file, const Tree& tree) {
  std::vector<metric> all;
  espalier::tree_visit_with_path(
      [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
        if constexpr (std::is_floating_point_v<Leaf>) {
          const auto which = std::isfinite(leaf) ? metric::kind::number : metric::kind::not_finite;
          all.push_back({metric_name(path), which, describe_value(leaf)});
        } else if constexpr (std::is_arithmetic_v<Leaf>) {
          all.push_back({metric_name(path), metric::kind::number, std::to_string(+leaf)});
        } else if constexpr (std::is_same_v<Leaf, std::string>) {
          all.push_back({metric_name(path), metric::kind::text, leaf});
        } else {
          static_assert(sizeof(no_metric<Leaf>));
        }
      },
      tree);
  std::vector<std::string_view> names{"step"};
  for (const metric& m : all) names.push_back(m.name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    throw metrics_error("espalier: " + file.string() + ": two metrics are named '" + std::string(*twice) +
                        "'; give one of the fields another name");
  }
  return all;
}

// As RFC 4180 has it: in quotes where a comma, a quote or a line's end asks for them.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

// A file to which rows are appended.
class metrics_file {
 public:
  // The text in front of a row's step; a CSV file has a line of names first, and lines may end within quotes there.
  struct format {
    std::string_view before_step;
    bool csv;
  };

  metrics_file(std::filesystem::path file, std::uint64_t first_step, format f) : file_(std::move(file)) {
    std::error_code none;
    if (first_step > 0 && std::filesystem::exists(file_, none)) keep_rows_before(first_step, f);
    out_.open(file_, std::ios::binary | (first_step > 0 ? std::ios::app : std::ios::trunc));
    if (!out_) fail("cannot be written. Check that its folder exists and that you may write there");
  }

  const std::filesystem::path& name() const { return file_; }
  const std::string& header() const { return header_; }

  void append(const std::string& line) {
    out_ << line << '\n' << std::flush;
    if (!out_) fail("could not be written on. Is the disk full?");
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw metrics_error("espalier: " + file_.string() + ": " + why);
  }

 private:
  // Cuts off what stands behind the rows of steps before first_step: rows of steps that are taken again, and half a
  // row that an interrupted run has left.
  void keep_rows_before(std::uint64_t first_step, const format& f) {
    std::ifstream in(file_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) fail("cannot be read");
    std::size_t kept = 0;
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (f.csv && text[at] == '"') quoted = !quoted;
      if (text[at] != '\n' || quoted) continue;
      const std::string_view row = std::string_view(text).substr(begin, at - begin);
      begin = at + 1;
      if (f.csv && kept == 0) {
        header_ = row;
        if (header_ != "step" && !header_.starts_with("step,")) fail("is no file of metrics: it has no column step");
      } else {
        const std::optional<std::uint64_t> step = step_of(row, f);
        if (!step) fail("is no file of metrics: a row has no step: " + std::string(row.substr(0, 40)));
        if (*step >= first_step) break;
      }
      kept = begin;
    }
    in.close();
    std::filesystem::resize_file(file_, kept);
  }

  static std::optional<std::uint64_t> step_of(std::string_view row, const format& f) {
    if (!row.starts_with(f.before_step)) return std::nullopt;
    std::uint64_t step = 0;
    const char* const first = row.data() + f.before_step.size();
    const auto [stop, fault] = std::from_chars(first, row.data() + row.size(), step);
    return fault == std::errc{} ? std::optional(step) : std::nullopt;
  }

  std::filesystem::path file_;
  std::string header_;
  std::ofstream out_;
};

}  // namespace detail

// Metrics as CSV (RFC 4180): a line of names, then a line for each row, which pandas.read_csv reads. Numbers stand in
// the fewest digits that give the same number back; those that are not finite are nan, inf, -inf.
class csv_metrics {
 public:
  // Starts a new file in place of what was there; with first_step, where a resumed run takes its next step, goes on
  // with the file that is there: rows of that step and later ones, which the run repeats, are cut off. Throws
  // metrics_error if the file cannot be written, or is no file of metrics.
  explicit csv_metrics(std::filesystem::path file, std::uint64_t first_step = 0)
      : file_(std::move(file), first_step, {"", true}), header_(file_.header()) {}

  // Appends a row and flushes the file. Throws metrics_error if it cannot be written, or if the names are not those of
  // the rows before. Costs a small string for each metric.
  template <class Tree> void write(std::uint64_t step, const Tree& metrics) {
    std::string names = "step";
    std::string row = std::to_string(step);
    for (const detail::metric& m : detail::metrics_of(file_.name(), metrics)) {
      names.append(",").append(detail::csv_field(m.name));
      row.append(",").append(detail::csv_field(m.text));
    }
    if (header_.empty()) {
      file_.append(names);
      header_ = names;
    } else if (header_ != names) {
      file_.fail("expected the columns " + header_ + ", found " + names +
                 ". Give every row the same metrics, or start another file");
    }
    file_.append(row);
  }

 private:
  detail::metrics_file file_;
  std::string header_;
};

// Metrics as JSON Lines: an object for each row, which pandas.read_json(…, lines=True) reads. Numbers that are not
// finite, which JSON does not have, are null. Rows may have different metrics.
class jsonl_metrics {
 public:
  // As csv_metrics.
  explicit jsonl_metrics(std::filesystem::path file, std::uint64_t first_step = 0)
      : file_(std::move(file), first_step, {"{\"step\": ", false}) {}

  // Appends a row and flushes the file. Throws metrics_error if it cannot be written, or if a string or a name is not
  // UTF-8. Costs a small string for each metric.
  template <class Tree> void write(std::uint64_t step, const Tree& metrics) {
    std::string row = "{\"step\": " + std::to_string(step);
    for (const detail::metric& m : detail::metrics_of(file_.name(), metrics)) {
      if (!detail::is_utf8(m.name) || !detail::is_utf8(m.text)) {
        file_.fail("the metric '" + m.name + "' has a name or a text that is not UTF-8");
      }
      row.append(", ");
      detail::write_json_string(row, m.name);
      row.append(": ");
      if (m.which == detail::metric::kind::text) {
        detail::write_json_string(row, m.text);
      } else {
        row.append(m.which == detail::metric::kind::number ? m.text : "null");
      }
    }
    file_.append(row + "}");
  }

 private:
  detail::metrics_file file_;
};

}  // namespace espalier

// Metrics for TensorBoard: any tree of numbers as scalars, tagged by key path (`norms/layers/0/weight`), so that
// TensorBoard shows a chart for each leaf, grouped by the first field.
//
//   espalier::tensorboard_metrics board("runs/first");
//   board.write(100, metrics{1.25f, 3e-4});                // tensorboard --logdir runs
#pragma once

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <espalier/metrics.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace espalier {

namespace detail {

// --- The few fields of TensorFlow's event.proto and summary.proto that scalars need, as Protocol Buffers encode them.

inline void append_varint(std::string& out, std::uint64_t x) {
  for (; x >= 0x80; x >>= 7) out.push_back(static_cast<char>(x | 0x80));
  out.push_back(static_cast<char>(x));
}

template <class Integer> void append_little_endian(std::string& out, Integer x) {
  for (std::size_t i = 0; i < sizeof x; ++i) out.push_back(static_cast<char>(x >> (8 * i)));
}

inline void append_bytes_field(std::string& out, int field, std::string_view bytes) {
  append_varint(out, static_cast<std::uint64_t>(field) << 3 | 2);
  append_varint(out, bytes.size());
  out.append(bytes);
}

// Event{wall_time = 1, step = 2}, which the field that says what happened follows. (A zero is left out.)
inline std::string event_head(double wall_time, std::uint64_t step) {
  std::string event{1 << 3 | 1};
  append_little_endian(event, std::bit_cast<std::uint64_t>(wall_time));
  if (step != 0) {
    event.push_back(2 << 3);
    append_varint(event, step);
  }
  return event;
}

// Event{file_version = 3}: what a file begins with.
inline std::string version_event(double wall_time) {
  std::string event = event_head(wall_time, 0);
  append_bytes_field(event, 3, "brain.Event:2");
  return event;
}

// Event{session_log = 7: SessionLog{status = 1: START}}: what older files say of this step and later ones is void.
inline std::string restart_event(double wall_time, std::uint64_t step) {
  std::string event = event_head(wall_time, step);
  append_bytes_field(event, 7, "\x08\x01");
  return event;
}

// Summary.Value{tag = 1, simple_value = 2}, as one of the values (field 1) of a Summary.
inline void append_scalar(std::string& summary, std::string_view tag, float x) {
  std::string value;
  append_bytes_field(value, 1, tag);
  value.push_back(2 << 3 | 5);
  append_little_endian(value, std::bit_cast<std::uint32_t>(x));
  append_bytes_field(summary, 1, value);
}

// Event{summary = 5}.
inline std::string summary_event(double wall_time, std::uint64_t step, std::string_view summary) {
  std::string event = event_head(wall_time, step);
  append_bytes_field(event, 5, summary);
  return event;
}

// --- The file around them: records as TensorFlow's TFRecord has them.

// CRC-32C, rotated and shifted, since a checksum of data that holds checksums is weak.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xa282ead8U;
}

inline std::string tf_record(std::string_view data) {
  std::string record;
  append_little_endian(record, static_cast<std::uint64_t>(data.size()));
  append_little_endian(record, masked_crc32c(record));
  record.append(data);
  append_little_endian(record, masked_crc32c(data));
  return record;
}

template <class Leaf> struct no_scalar {
  static_assert(always_false<Leaf>,
                "espalier: tensorboard_metrics: a leaf of this tree is no number. Map it to one first: "
                "tree_map([](const mx::array& a) { return a.item<float>(); }, metrics)");
};

}  // namespace detail

// Scalars in an event file of its own in `folder`, which is made if it is not there. TensorBoard reads all files of a
// folder as one run, in the order in which they were begun.
class tensorboard_metrics {
 public:
  // TensorBoard is told to forget what earlier files of the folder say of first_step, where a resumed run takes its next
  // step, and of later ones; so of a new run, all that they say. Throws metrics_error if the file cannot be written.
  explicit tensorboard_metrics(const std::filesystem::path& folder, std::uint64_t first_step = 0) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    const std::string name = "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(now())) + ".espalier.";
    int n = 0;
    while (std::filesystem::exists(file_ = folder / (name + std::to_string(n)), failed)) ++n;
    out_.open(file_, std::ios::binary);
    append(detail::version_event(now()));
    append(detail::restart_event(now(), first_step));
  }

  // Appends the leaves of a tree of numbers, as float32, and flushes the file. Throws metrics_error if it cannot be
  // written.
  template <class Tree> void write(std::uint64_t step, const Tree& metrics) {
    std::string summary;
    espalier::tree_visit_with_path(
        [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
          if constexpr (std::is_arithmetic_v<Leaf>) {
            std::string tag = detail::metric_name(path);
            std::replace(tag.begin(), tag.end(), '.', '/');
            detail::append_scalar(summary, tag, static_cast<float>(leaf));
          } else {
            static_assert(sizeof(detail::no_scalar<Leaf>));
          }
        },
        metrics);
    append(detail::summary_event(now(), step, summary));
  }

  const std::filesystem::path& file() const { return file_; }

 private:
  // Seconds since 1970.
  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  void append(const std::string& event) {
    out_ << detail::tf_record(event) << std::flush;
    if (!out_) {
      throw metrics_error("espalier: " + file_.string() +
                          ": cannot be written. Check that you may write there and that the disk is not full");
    }
  }

  std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace espalier

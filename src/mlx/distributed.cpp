#include <mlx/distributed/ops.h>
#include <mlx/ops.h>

#include <algorithm>
#include <boost/hash2/xxhash.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <espalier/mlx/distributed.hpp>
#include <espalier/mlx/distributed_check.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace espalier {

namespace mx = ::mlx::core;
namespace dist = mx::distributed;

namespace {

// `mlx.launch -n 1` gives a hostfile without hosts, at which MLX throws.
void forget_empty_hostfile() {
  const char* const file = std::getenv("MLX_HOSTFILE");
  std::error_code missing;
  if (file && std::filesystem::file_size(file, missing) <= 1 && !missing) unsetenv("MLX_HOSTFILE");
}

void prepare_process(int rank) {
  struct sigaction current{};
  if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
  if (rank > 0) {
    const auto folder = std::filesystem::temp_directory_path() / ("espalier_rank_" + std::to_string(rank));
    std::filesystem::create_directories(folder);
    setenv("TMPDIR", folder.c_str(), 1);
  }
}

}  // namespace

dist::Group distributed_group(const std::string& backend) {
  forget_empty_hostfile();
  dist::Group group = dist::init(backend != "any", backend);
  if (group.size() > 1) {
    [[maybe_unused]] static const bool prepared = (prepare_process(group.rank()), true);
  }
  return group;
}

namespace detail {
namespace {

// --- Buckets. --------------------------------------------------------------------------------------------------------

// Sends one-dimensional arrays; those of one kind together, until they are so many bytes. `send` gives a result whose
// last axis is the message's, for all that went into it. Each message needs the one before, so that all ranks send in
// one order whatever else they have to compute.
mlx_arrays in_buckets(mlx_arrays flat, const std::vector<int>& kinds, std::size_t bucket_bytes,
                      const std::function<mx::array(const mx::array&)>& send) {
  struct bucket {
    std::vector<std::size_t> members = {};
    std::size_t bytes = 0;
  };
  std::vector<bucket> buckets;
  std::map<int, std::size_t> open;  // of each kind, the bucket that is not full
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if (flat[i].size() == 0) continue;
    const auto [place, is_new] = open.try_emplace(kinds[i], buckets.size());
    if (is_new) buckets.emplace_back();
    bucket& b = buckets[place->second];
    b.members.push_back(i);
    b.bytes += flat[i].nbytes();
    if (b.bytes >= bucket_bytes) open.erase(place);
  }

  std::optional<mx::array> before;
  for (const auto& [members, bytes] : buckets) {
    mlx_arrays parts;
    mx::Shape ends;
    for (const std::size_t i : members) {
      parts.push_back(flat[i]);
      ends.push_back((ends.empty() ? 0 : ends.back()) + flat[i].shape(0));
    }
    ends.pop_back();
    mx::array message = parts.size() == 1 ? parts[0] : mx::concatenate(parts, 0);
    if (before) message = mx::depends({message}, {*before})[0];
    const mx::array result = send(message);
    before = result;
    parts = parts.size() == 1 ? mlx_arrays{result} : mx::split(result, ends, -1);
    for (std::size_t k = 0; k < members.size(); ++k) flat[members[k]] = parts[k];
  }
  return flat;
}

mx::array flattened(const mx::array& a) { return mx::reshape(a, {-1}); }

// What carries an element of so many bytes unchanged: integers that every back end can add to zero.
mx::Dtype carrier(std::size_t itemsize) { return itemsize == 8 ? mx::uint64 : itemsize == 4 ? mx::uint32 : mx::uint8; }

// Sends arrays as the integers that their bytes are; `carried` says what this rank sends of one. Elements of one size
// share messages, which keeps them aligned. `leading` is the shape that results have in front.
mlx_arrays exchange_bytes(const mlx_arrays& arrays, const mx::Shape& leading,
                          const std::function<mx::array(const mx::array&)>& carried,
                          const std::function<mx::array(const mx::array&)>& send) {
  mlx_arrays flat;
  std::vector<int> kinds;
  for (const mx::array& a : arrays) {
    flat.push_back(carried(mx::view(flattened(a), carrier(a.itemsize()))));
    kinds.push_back(static_cast<int>(a.itemsize()));
  }
  flat = in_buckets(std::move(flat), kinds, default_bucket_bytes, send);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    mx::Shape shape = leading;
    shape.insert(shape.end(), arrays[i].shape().begin(), arrays[i].shape().end());
    flat[i] = mx::reshape(mx::view(flat[i], arrays[i].dtype()), std::move(shape));
  }
  return flat;
}

}  // namespace

mlx_arrays average(const mlx_arrays& arrays, const average_options& options) {
  const auto& asked = options.communication_dtype;
  if (asked && !mx::issubdtype(*asked, mx::floating)) {
    throw distributed_error(
        "espalier: average_gradients: communication_dtype must be a floating-point dtype, such as bfloat16; found " +
        describe_value(mx::array(0, *asked)));
  }
  mlx_arrays flat;
  std::vector<int> kinds;
  for (const mx::array& a : arrays) {
    flat.push_back(flattened(a));
    kinds.push_back(static_cast<int>(a.dtype().val()));
  }
  const auto mean = [&](const mx::array& message) {
    const mx::Dtype own = message.dtype();
    const mx::Dtype sent = asked && mx::issubdtype(own, mx::floating) ? *asked : own;
    const mx::array sum = dist::all_sum(mx::astype(message, sent), options.group, options.stream);
    // Divided in the wider dtype: in the narrower one the sum may overflow, or the mean be rounded twice.
    const mx::Dtype wide = mx::promote_types(own, sent);
    return mx::astype(mx::astype(sum, wide) / mx::array(options.group.size(), wide), own);
  };
  flat = in_buckets(std::move(flat), kinds, options.bucket_bytes, mean);
  for (std::size_t i = 0; i < arrays.size(); ++i) flat[i] = mx::reshape(flat[i], arrays[i].shape());
  return flat;
}

mlx_arrays broadcast(const mlx_arrays& arrays, int root, const dist::Group& group) {
  if (root < 0 || root >= group.size()) {
    throw distributed_error("espalier: broadcast: root must be a rank from 0 to " + std::to_string(group.size() - 1) +
                            ", found " + std::to_string(root));
  }
  if (group.size() == 1) return arrays;
  const bool is_root = group.rank() == root;
  return exchange_bytes(
      arrays, {}, [&](const mx::array& a) { return is_root ? a : mx::zeros(a.shape(), a.dtype()); },
      [&](const mx::array& message) { return dist::all_sum(message, group); });
}

std::vector<mlx_arrays> all_gather(const mlx_arrays& arrays, const dist::Group& group) {
  const int ranks = group.size();
  if (ranks == 1) return {arrays};
  const mlx_arrays side_by_side = exchange_bytes(
      arrays, {ranks}, [](const mx::array& a) { return a; },
      [&](const mx::array& message) { return mx::reshape(dist::all_gather(message, group), {ranks, -1}); });
  std::vector<mlx_arrays> of_ranks(static_cast<std::size_t>(ranks));
  for (const mx::array& a : side_by_side) {
    const mlx_arrays parts = mx::split(a, ranks, 0);
    for (std::size_t rank = 0; rank < parts.size(); ++rank) of_ranks[rank].push_back(mx::squeeze(parts[rank], 0));
  }
  return of_ranks;
}

// --- Whether all ranks hold the same. --------------------------------------------------------------------------------

namespace {

// Every rank's text.
std::vector<std::string> gather_text(const std::string& mine, const dist::Group& group) {
  mx::array lengths = dist::all_gather(mx::array({static_cast<int>(mine.size())}), group);
  lengths.eval();
  const std::vector<int> of_rank(lengths.data<int>(), lengths.data<int>() + lengths.size());
  const int longest = *std::max_element(of_rank.begin(), of_rank.end());
  std::string padded = mine;
  padded.resize(static_cast<std::size_t>(longest));
  mx::array all = dist::all_gather(mx::array(padded.begin(), {longest}, mx::uint8), group);
  all.eval();
  std::vector<std::string> texts;
  const auto* text = reinterpret_cast<const char*>(all.data<std::uint8_t>());
  for (const int length : of_rank) {
    texts.emplace_back(text, static_cast<std::size_t>(length));
    text += longest;
  }
  return texts;
}

// "1f2e3d4c5b6a7988".
std::string hexadecimal(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

using entry = std::pair<std::string_view, std::string_view>;  // a path and what is there

std::vector<entry> entries_of(std::string_view text) {
  const auto next = [&] {
    const std::string_view word = text.substr(0, text.find('\0'));
    text.remove_prefix(word.size() + 1);
    return word;
  };
  std::vector<entry> entries;
  while (!text.empty()) {
    const std::string_view path = next();
    entries.emplace_back(path, next());
  }
  return entries;
}

// The first place at which two trees differ; the root, where the entries do not tell.
mismatch first_difference(const std::vector<entry>& expected, const std::vector<entry>& found) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  const auto has = [](const std::vector<entry>& entries, std::string_view path) {
    return std::any_of(entries.begin(), entries.end(), [&](const entry& e) { return e.first == path; });
  };
  if (a == expected.end() && b == found.end()) return {"", "the structure", "another one, with the same leaves"};
  if (a != expected.end() && b != found.end() && a->first == b->first) {
    return {std::string(a->first), std::string(a->second), std::string(b->second)};
  }
  if (a != expected.end() && !has(found, a->first)) return {std::string(a->first), std::string(a->second), "nothing"};
  return b == found.end() ? mismatch{std::string(a->first), std::string(a->second), "another order"}
                          : mismatch{std::string(b->first), "nothing", std::string(b->second)};
}

}  // namespace

void require_same(const rank_report& mine, const dist::Group& group) {
  boost::hash2::xxhash_64 state;
  state.update(mine.entries.data(), mine.entries.size());
  const std::uint64_t all_of_it = state.result();
  // As bytes: not every back end knows integers of 64 bits.
  const std::uint64_t words[] = {mine.structure_hash, all_of_it};
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words);
  mx::array gathered = dist::all_gather(mx::array(bytes, {1, sizeof words}, mx::uint8), group);
  gathered.eval();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> held(static_cast<std::size_t>(group.size()));
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    std::memcpy(&held[rank].first, gathered.data<std::uint8_t>() + 16 * rank, 8);
    std::memcpy(&held[rank].second, gathered.data<std::uint8_t>() + 16 * rank + 8, 8);
  }
  if (std::all_of(held.begin(), held.end(), [&](const auto& h) { return h == held[0]; })) return;

  const std::vector<std::string> texts = gather_text(mine.entries, group);
  const std::vector<entry> expected = entries_of(texts[0]);
  std::string hashes;
  std::vector<mismatch> differences;
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    const std::string name = "rank " + std::to_string(rank);
    hashes += (rank == 0 ? "" : ", ") + name + " " + hexadecimal(held[rank].first);
    if (held[rank] == held[0]) continue;
    mismatch m = first_difference(expected, entries_of(texts[rank]));
    differences.push_back({m.path, m.expected + " as on rank 0", m.found + " on " + name});
  }
  const bool same_hash = std::all_of(held.begin(), held.end(), [&](const auto& h) { return h.first == held[0].first; });
  throw structure_error("espalier: require_same_structure: the ranks hold different trees" +
                            (same_hash ? "" : " (structure hashes: " + hashes + ")") +
                            ". Start every rank with the same program, options and files. Where they first differ:",
                        std::move(differences));
}

}  // namespace detail

}  // namespace espalier

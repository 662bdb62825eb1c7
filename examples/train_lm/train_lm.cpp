// Trains a small language model, character by character: plain structs, one compiled training step, one compiled decode
// step.
//
//   cmake --build build/train --target train_lm_run         after `cmake --workflow --preset train`
#include <mlx/mlx.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <espalier/compile.hpp>
#include <espalier/describe_value.hpp>
#include <espalier/errors.hpp>
#include <espalier/metrics.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <espalier/progress.hpp>
#include <espalier/summary.hpp>
#include <espalier/tensorboard.hpp>
#include <espalier/visit.hpp>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../common/loss_curve.hpp"
#include "../common/results.hpp"
#include "decode.hpp"
#include "options.hpp"
#include "profile.hpp"
#include "text.hpp"
#include "training.hpp"

namespace train_lm {
namespace {

using namespace examples;

// The rows of text that begin at these places.
batch to_batch(std::span<const std::int32_t> tokens, std::span<const std::size_t> begins, std::size_t length) {
  std::vector<std::int32_t> inputs, targets;
  for (const std::size_t begin : begins) {
    const auto row = tokens.subspan(begin, length + 1);
    inputs.insert(inputs.end(), row.begin(), row.end() - 1);
    targets.insert(targets.end(), row.begin() + 1, row.end());
  }
  const mx::Shape shape{static_cast<int>(begins.size()), static_cast<int>(length)};
  return {mx::array(inputs.begin(), shape), mx::array(targets.begin(), shape)};
}

std::vector<batch> to_batches(std::span<const std::int32_t> tokens, const std::vector<std::size_t>& begins,
                              const settings& s) {
  const auto rows = static_cast<std::size_t>(s.batch_size);
  std::vector<batch> batches;
  for (std::size_t i = 0; i < begins.size(); i += rows) {
    batches.push_back(to_batch(tokens, std::span(begins).subspan(i, rows), static_cast<std::size_t>(s.context)));
  }
  return batches;
}

// A row of the metrics.
struct metrics {
  double loss;  // mean since the last row
  double held_out_loss;
  double learning_rate;
  float gradient_norm;
  std::map<std::string, float> gradient_norms;  // by key path
};
struct shown {
  double loss;
};

metrics to_metrics(double loss, double held_out, double rate, const step_report& r) {
  metrics row{loss, held_out, rate, r.gradient_norm.item<float>(), {}};
  espalier::tree_visit_with_path(
      [&](const espalier::path_view& path, mx::array norm) { row.gradient_norms[path.dotted()] = norm.item<float>(); },
      r.gradient_norms);
  return row;
}

// The checkpoint's settings must be those that were asked for.
void require_same(const settings& saved, const settings& asked, const std::filesystem::path& file) {
  std::vector<espalier::mismatch> differences;
  espalier::tree_visit_with_path(
      [&](const espalier::path_view& path, const auto& there, const auto& here) {
        if (there == here) return;
        differences.push_back({path.to_string(), espalier::describe_value(there), espalier::describe_value(here)});
      },
      saved, asked);
  if (differences.empty()) return;
  throw option_error(espalier::describe_mismatches(
      file.string() + " was trained with other settings. Give the same options, or leave out --resume", differences));
}

bool finite(const train_state& state) {
  bool all = true;
  espalier::tree_visit([&](const mx::array& a) { all = all && mx::all(mx::isfinite(a)).item<bool>(); }, state);
  return all;
}

// Writes text that goes on from the prompt.
std::string sample(const language_model& trained, const corpus& text, const options& o, phase& p) {
  const settings& s = o.run;
  const language_model model = in_precision(trained, s.dtype);
  decode_state state = make_decode_state(model, static_cast<int>(s.context), s.seed);
  auto next = espalier::compile<&next_token>();
  const espalier::dynamic<float> temperature(static_cast<float>(o.temperature));
  std::string written = o.prompt;
  std::vector<std::int32_t> tokens = encode(o.prompt, text.alphabet);
  while (written.size() < o.prompt.size() + o.sample) {
    std::int32_t drawn = 0;
    for (const std::int32_t token : tokens) {
      drawn = timed(p, next, state, model, mx::array({token}, {1, 1}), temperature).item<std::int32_t>();
    }
    tokens = {drawn};
    written.push_back(text.alphabet.at(static_cast<std::size_t>(drawn)));
  }
  return written;
}

void run(const options& o) {
  require_writable(o.checkpoint, "--checkpoint");
  require_writable(o.curve, "--curve");
  const corpus text = read_text(o.data);
  (void)encode(o.prompt, text.alphabet);  // better now than behind the training
  const double bigram = bigram_entropy(text);
  const settings& s = o.run;

  language_model model = make_model({static_cast<int>(text.alphabet.size()), o.width, o.heads, o.blocks}, s.seed);
  optimizer_state moments = make_optimizer(s).init(model);
  checkpoint saved{{std::move(model), std::move(moments)}, 0, s};
  if (o.resume) {
    espalier::load_safetensors(o.checkpoint, saved);
    require_same(saved.run, s, o.checkpoint);
    std::printf("resumed after step %lld from %s\n", static_cast<long long>(saved.step),
                full_name(o.checkpoint).c_str());
  }
  train_state& state = saved.state;
  std::printf("%zu characters, %zu different; a tenth is held out\n", text.tokens.size(), text.alphabet.size());
  std::printf("bigram entropy: %.4f nats per character\n\n%s\n", bigram, espalier::tree_summary(state.model).c_str());

  auto step = espalier::compile<&train_step>();
  auto evaluate = espalier::compile<&loss>();
  phase training{"training step"}, evaluation{"evaluation"}, decoding{"decode step"};

  const auto context = static_cast<std::size_t>(s.context);
  const auto rows = static_cast<std::size_t>(s.batch_size * s.accumulate);
  const std::vector<batch> held_out = to_batches(
      text.held_out(), even_rows(4 * static_cast<std::size_t>(s.batch_size), context, text.held_out().size()), s);
  const auto held_out_loss = [&] {
    double sum = 0;
    for (const batch& b : held_out) sum += timed(evaluation, evaluate, state.model, b, s.dtype).item<float>();
    return sum / static_cast<double>(held_out.size());
  };

  const auto first = static_cast<std::uint64_t>(saved.step);
  const auto last = static_cast<std::uint64_t>(o.stop_at > 0 ? std::min(o.stop_at, s.steps) : s.steps);
  const std::uint64_t goes_on = o.resume ? first + 1 : 0;
  espalier::csv_metrics csv(o.metrics, goes_on);
  std::optional<espalier::tensorboard_metrics> board;
  if (!o.tensorboard.empty()) board.emplace(o.tensorboard, goes_on);
  espalier::progress_line progress(static_cast<std::uint64_t>(s.steps));
  const rate_schedule rate = make_schedule(s);
  learning_curve curve{.levels = {{bigram, "bigram entropy of the text"}},
                       .title = "Training and held-out loss by step",
                       .along = "Step",
                       .loss = "Loss (nats per character)"};

  double held_out_now = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  std::uint64_t row_begin = first;
  bool written = o.resume;
  for (std::uint64_t done = first + 1; done <= last; ++done) {
    const auto begins = random_rows(rows, context, text.train().size(), s.seed, done);
    const std::vector<batch> batches = to_batches(text.train(), begins, s);
    const step_report report = timed(training, step, state, batches, s);
    const double loss_now = report.loss.item<float>();
    if (!std::isfinite(loss_now)) {
      throw training_error("step " + std::to_string(done) + ": the loss is " + std::to_string(loss_now) +
                           ". Training was stopped; try a smaller --learning-rate. " +
                           (written ? "The last good checkpoint is untouched: " + full_name(o.checkpoint)
                                    : std::string("No checkpoint was written.")));
    }
    sum += loss_now;
    curve.batch_loss.push_back({static_cast<double>(done), loss_now});
    progress.update(done, shown{loss_now});
    if (done % static_cast<std::uint64_t>(o.evaluate_every) != 0 && done != last) continue;

    if (!finite(state)) throw training_error("a parameter or moment is no number after step " + std::to_string(done));
    held_out_now = held_out_loss();
    curve.held_out_loss.push_back({static_cast<double>(done), held_out_now});
    const double mean = sum / static_cast<double>(done - row_begin);
    sum = 0;
    row_begin = done;
    const metrics row = to_metrics(mean, held_out_now, rate(done - 1), report);
    csv.write(done, row);
    if (board) board->write(done, row);
    char note[96];
    std::snprintf(note, sizeof note, "step %llu: loss %.4f, held-out %.4f", static_cast<unsigned long long>(done), mean,
                  held_out_now);
    progress.note(note);

    saved.step = static_cast<std::int64_t>(done);
    if (!written) {
      if (const auto previous = keep_previous(o.checkpoint)) {
        progress.note("the checkpoint that was there is now " + full_name(*previous));
      }
    }
    espalier::save_safetensors(o.checkpoint, saved);
    written = true;
  }
  progress.finish();
  if (!curve.held_out_loss.empty()) {
    write_svg(o.curve, curve);
    std::printf("\nheld-out loss %.4f nats per character: %s the bigram entropy, %.4f\n", held_out_now,
                held_out_now < bigram ? "below" : "not below", bigram);
  }
  if (o.sample > 0) std::printf("\n%s\n", sample(state.model, text, o, decoding).c_str());
  if (o.profile) std::printf("\n%s", table({training, evaluation, decoding}).c_str());
  std::printf("\ncheckpoint: %s\nmetrics: %s\nloss curve: %s\n", full_name(o.checkpoint).c_str(),
              full_name(o.metrics).c_str(), full_name(o.curve).c_str());
}

}  // namespace
}  // namespace train_lm

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    train_lm::options chosen{.data = ESPALIER_TEXT_FILE};
    if (examples::asks_for_help(arguments)) {
      std::printf("%s", train_lm::help_text(chosen).c_str());
      return 0;
    }
    examples::parse("train_lm", train_lm::options_of(chosen), arguments);
    train_lm::require_consistent(chosen);
    train_lm::run(chosen);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train_lm: %s\n", e.what());
    return 1;
  }
}

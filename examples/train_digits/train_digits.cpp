// Trains a multilayer perceptron on handwritten digits: plain structs, one compiled training step.
//
//   cmake --workflow --preset train            from the repository's root
//   mlx.launch -n 2 -- train_digits            on two processes; docs/distributed.md
#include <mlx/mlx.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <espalier/espalier.hpp>
#include <espalier/mlx/distributed.hpp>
#include <espalier/mlx/distributed_check.hpp>
#include <espalier/mlx/distributed_shard.hpp>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/eval.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <espalier/visit.hpp>
#include <exception>
#include <string>

#include "../common/loss_curve.hpp"
#include "../common/results.hpp"
#include "digits_data.hpp"
#include "mlp.hpp"
#include "options.hpp"
#include "results.hpp"

namespace train_digits {
namespace {

using namespace examples;
using adam = espalier::optim::adam<double>;

// What a step changes, and what a checkpoint holds.
struct train_state {
  mlp model;
  espalier::optim::adam_state<mlp> optimizer;
};
struct checkpoint {
  train_state state;
  std::int64_t epoch;  // epochs that are done
  std::uint64_t seed;  // of the split, the first weights and the batches
};

// The whole training step: forward, backward, update. `state` is in-out because it is not const; the optimizer's
// numbers are constants of the trace. Of several processes each has its share of the batch: the means of their losses and
// gradients are those of the whole batch.
mx::array train_step(train_state& state, const batch& b, const adam& optimizer) {
  const auto [value, gradients] = espalier::average_gradients(espalier::value_and_grad(loss)(state.model, b));
  espalier::optim::apply_updates(state.model, optimizer.update(gradients, state.optimizer, state.model));
  return value;
}

batch to_batch(const digits& d) {
  const int n = static_cast<int>(d.size());
  return {mx::array(d.pixels.begin(), {n, static_cast<int>(pixels_per_image)}),
          mx::array(d.labels.begin(), {n}, mx::int32)};
}

// A last step may break the parameters although its loss, of before the step, is a number.
bool all_finite(const train_state& state) {
  bool finite = true;
  espalier::tree_visit([&](const mx::array& a) { finite = finite && mx::all(mx::isfinite(a)).item<bool>(); }, state);
  return finite;
}

void run(const options& chosen) {
  const auto group = espalier::distributed_group();  // of one, unless mlx.launch started several
  const bool first_rank = group.rank() == 0;         // alone prints, reads the checkpoint, and writes
  if (chosen.batch_size % static_cast<std::size_t>(group.size()) != 0) {
    throw option_error("option --batch-size: expected a multiple of the number of processes, " +
                       std::to_string(group.size()) + ", found " + std::to_string(chosen.batch_size));
  }
  if (first_rank) {
    require_writable(chosen.checkpoint, "--checkpoint");
    require_writable(chosen.curve, "--curve");
  }
  const auto [train, test] = split_train_test(read_digits(chosen.data), {.seed = chosen.seed});
  const batch test_batch = to_batch(test);

  std::vector<int> widths{static_cast<int>(pixels_per_image)};
  widths.insert(widths.end(), chosen.hidden.begin(), chosen.hidden.end());
  widths.push_back(digit_classes);

  const adam optimizer{.learning_rate = chosen.learning_rate};
  mlp model = make_mlp(widths, chosen.seed);
  auto moments = optimizer.init(model);
  checkpoint saved{{std::move(model), std::move(moments)}, 0, chosen.seed};
  if (chosen.resume && first_rank) espalier::load_safetensors(chosen.checkpoint, saved);
  espalier::require_same_structure(saved);
  saved = espalier::broadcast(saved);  // every process begins with the first one's
  if (saved.seed != chosen.seed) {
    throw option_error("--seed: " + chosen.checkpoint.string() + " was trained with --seed " +
                       std::to_string(saved.seed) + ", found " + std::to_string(chosen.seed) +
                       "; another seed would train on test images");
  }
  train_state& state = saved.state;
  if (first_rank) {
    if (chosen.resume) {
      std::printf("resumed after epoch %lld from %s\n", static_cast<long long>(saved.epoch),
                  full_name(chosen.checkpoint).c_str());
    }
    std::printf("%zu images to train on, %zu held out\n\n%s\n", train.size(), test.size(),
                espalier::tree_summary(state.model).c_str());
  }

  auto step = espalier::compile<&train_step>();
  auto recognised = espalier::compile<&hits>();

  learning_curve curve;
  const auto first = static_cast<std::size_t>(saved.epoch);
  const std::size_t last = first + chosen.epochs;
  double accuracy = 0;
  bool written = chosen.resume;
  const auto stop = [&](std::string what, std::size_t epoch, std::size_t steps) {
    throw diverged({std::move(what), epoch + 1, steps, chosen.learning_rate, chosen.checkpoint, written});
  };
  for (std::size_t epoch = first; epoch < last; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    double sum = 0;
    std::size_t seen = 0;
    std::size_t steps = 0;
    for (const auto& rows : mini_batches(train.size(), chosen.batch_size, chosen.seed, epoch)) {
      const auto mine = espalier::shard(rows, group);
      if (mine.empty()) break;  // the last batch has fewer images than there are processes
      mx::array value = step(state, to_batch(take(train, mine)), optimizer);
      espalier::eval(state, value);
      ++steps;
      const double batch_loss = value.item<float>();
      if (!std::isfinite(batch_loss)) stop("the loss is " + std::to_string(batch_loss), epoch, steps);
      const std::size_t images = mine.size() * static_cast<std::size_t>(group.size());
      seen += images;
      sum += batch_loss * static_cast<double>(images);
      curve.batch_loss.push_back(
          {static_cast<double>(epoch) + static_cast<double>(seen) / static_cast<double>(train.size()), batch_loss});
    }
    if (!all_finite(state)) stop("a parameter or moment is no number", epoch, steps);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    accuracy = recognised(state.model, test_batch).item<int>() / static_cast<double>(test.size());
    const double mean_loss = sum / static_cast<double>(seen);
    curve.epoch_loss.push_back({static_cast<double>(epoch) + 0.5, mean_loss});
    curve.test_accuracy.push_back({static_cast<double>(epoch) + 1, accuracy});
    saved.epoch = static_cast<std::int64_t>(epoch + 1);
    if (first_rank) {
      std::printf("epoch %3zu/%zu   loss %.4f   test accuracy %5.2f %%   %6.0f steps/s\n", epoch + 1, last, mean_loss,
                  100 * accuracy, static_cast<double>(steps) / seconds.count());
      std::fflush(stdout);
      if (!written) {
        if (const auto previous = keep_previous(chosen.checkpoint)) {
          std::printf("the checkpoint that was there is now %s\n", full_name(*previous).c_str());
        }
      }
      espalier::save_safetensors(chosen.checkpoint, saved);
    }
    written = true;
  }
  if (!first_rank) return;
  write_svg(chosen.curve, curve);
  const espalier::compile_stats stats = step.stats();
  std::printf("\ntest accuracy %.2f %% (the loss cannot fall below 0.50: its targets are smoothed)\n", 100 * accuracy);
  std::printf("training step: %s, one per batch shape; %s replayed one\n", counted(stats.traces, "trace").c_str(),
              counted(stats.hits, "call").c_str());
  if (!stats.last_retrace.empty()) std::printf("last retrace:\n%s\n", stats.last_retrace.c_str());
  std::printf("checkpoint: %s\nloss curve: %s\n", full_name(chosen.checkpoint).c_str(),
              full_name(chosen.curve).c_str());
}

}  // namespace
}  // namespace train_digits

int main(int argc, char** argv) {
  try {
    const train_digits::options defaults{.data = ESPALIER_DIGITS_FILE};
    const train_digits::options chosen = train_digits::parse_options({argv + 1, argv + argc}, defaults);
    if (chosen.help) {
      std::printf("%s", train_digits::help_text(defaults).c_str());
      return 0;
    }
    train_digits::run(chosen);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train_digits: %s\n", e.what());
    return 1;
  }
}

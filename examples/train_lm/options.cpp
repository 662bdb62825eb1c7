#include "options.hpp"

#include <limits>

namespace train_lm {

std::vector<examples::option> options_of(options& o) {
  using namespace examples;
  constexpr std::uint64_t many = 1'000'000;
  return {
      file("--data", o.data, "text to learn; its last tenth is held out"),
      whole_number("--steps", o.run.steps, 2, many, "training steps, over which the learning rate rises and falls"),
      whole_number("--warmup", o.run.warmup_steps, 1, many,
                   "steps over which the learning rate rises; less than --steps"),
      positive_number("--learning-rate", o.run.peak_rate, "its peak"),
      positive_number("--clip", o.run.clip, "largest norm of the gradient"),
      positive_number("--weight-decay", o.run.weight_decay, "of matrices; vectors do not decay"),
      whole_number("--batch-size", o.run.batch_size, 1, many, "rows of text in a micro-batch"),
      whole_number("--accumulate", o.run.accumulate, 1, 1024, "micro-batches whose gradients make one step"),
      whole_number("--context", o.run.context, 2, 65'536, "characters in a row"),
      whole_number("--width", o.width, 2, 65'536, "numbers for each character inside the model"),
      whole_number("--heads", o.heads, 1, 1024, "attention heads"),
      whole_number("--blocks", o.blocks, 1, 1024, "layers of attention and feed-forward"),
      one_of("--dtype", o.run.dtype, {{"float32", precision::float32}, {"bfloat16", precision::bfloat16}},
             "what the model is computed in; its parameters are float32"),
      whole_number("--seed", o.run.seed, 0, std::numeric_limits<std::uint64_t>::max(), "start of all randomness"),
      whole_number("--evaluate-every", o.evaluate_every, 1, many, "steps between held-out losses and checkpoints"),
      whole_number("--stop-at", o.stop_at, 0, many, "end after this step, as if interrupted; 0: at the end"),
      file("--checkpoint", o.checkpoint, "where the state is written, and read with --resume"),
      flag("--resume", o.resume, "go on from the checkpoint, to the same numbers as a run without a break"),
      file("--curve", o.curve, "where the picture of the loss is written (SVG)"),
      file("--metrics", o.metrics, "where losses, rates and gradient norms by path are written (CSV)"),
      file("--tensorboard", o.tensorboard, "folder where TensorBoard finds the same; none if not given"),
      text("--prompt", o.prompt, "how the sample begins"),
      whole_number("--sample", o.sample, 0, many, "characters to write at the end"),
      positive_number("--temperature", o.temperature, "of the sample: low is likely, high is wild"),
      flag("--profile", o.profile, "print where the time went"),
      flag("--help", o.help, "print this and stop"),
  };
}

void require_consistent(const options& o) {
  if (o.width % (2 * o.heads) != 0) {
    throw examples::option_error("option --width: expected a multiple of twice --heads (" +
                                 std::to_string(2 * o.heads) + "), found '" + std::to_string(o.width) + "'");
  }
  if (o.run.warmup_steps >= o.run.steps) {
    throw examples::option_error("option --warmup: expected less than --steps (" + std::to_string(o.run.steps) +
                                 "), found '" + std::to_string(o.run.warmup_steps) + "'");
  }
}

std::string help_text(options defaults) {
  defaults.prompt = "newline";
  return "Usage: train_lm [options]\n\n"
         "Trains a small language model on a text, character by character. Prints progress and, at the end, text of "
         "its\n"
         "own; writes a checkpoint, metrics and a picture of the loss. A checkpoint that is there already is kept as\n"
         "FILE.previous, unless it is resumed.\n\nOptions:\n" +
         examples::options_text(options_of(defaults)) +
         "\nA value in [brackets] is used where the option is not given.\n\n"
         "Examples:\n"
         "  train_lm                                      train with the defaults\n"
         "  train_lm --stop-at 150; train_lm --resume     the same in two parts\n"
         "  train_lm --blocks 6 --steps 2000 --profile    a larger model, and where the time goes\n";
}

}  // namespace train_lm

#include "results.hpp"

#include <locale>
#include <sstream>

namespace train_digits {

training_error diverged(const divergence& d) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "epoch " << d.epoch << ", step " << d.step << ": " << d.what << ", with --learning-rate " << d.learning_rate
       << ". Training was stopped; try a smaller learning rate. ";
  if (d.saved) {
    text << "The last good checkpoint is untouched: " << examples::full_name(d.checkpoint);
  } else {
    text << "No checkpoint was written.";
  }
  return training_error(text.str());
}

}  // namespace train_digits

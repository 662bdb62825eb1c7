// Metrics that are neither numbers nor strings.
#include <complex>
#include <espalier/metrics.hpp>
#include <espalier/progress.hpp>
#include <espalier/tensorboard.hpp>
#include <string>

using namespace espalier;

struct wave {
  std::complex<double> amplitude;
};
struct named {
  double loss;
  std::string stage;
};

void use() {
  csv_metrics("m.csv").write(1, named{0.5, "warm-up"});
  jsonl_metrics("m.jsonl").write(1, named{0.5, "warm-up"});
  tensorboard_metrics("runs").write(1, 0.5);
  progress_line(10).update(1, 0.5);
#ifdef CASE_csv_of_complex_numbers
  csv_metrics("m.csv").write(1, wave{});
#endif
#ifdef CASE_jsonl_of_complex_numbers
  jsonl_metrics("m.jsonl").write(1, wave{});
#endif
#ifdef CASE_tensorboard_of_text
  tensorboard_metrics("runs").write(1, named{});
#endif
#ifdef CASE_progress_of_text
  progress_line(10).update(1, named{});
#endif
}

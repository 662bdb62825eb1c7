#include "loss_curve.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace examples {
namespace {

constexpr double width = 640, height = 400, left = 80, right = 572, top = 44, bottom = 344;
constexpr const char* loss_color = "#0072b2";  // Okabe and Ito's blue and vermillion: told apart by everyone
constexpr const char* accuracy_color = "#d55e00";

std::string number(double x, int decimals) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(decimals) << x;
  return out.str();
}

std::string px(double x) { return number(x, 1); }

// digit x 10^exponent as it is set in print; SVG's own superscripts are not drawn alike everywhere.
std::string scientific(int digit, int exponent) {
  return (digit == 1 ? "" : std::to_string(digit) + "\u00d7") + "10<tspan dy=\"-5\" font-size=\"9\">" +
         (exponent < 0 ? "\u2212" : "") + std::to_string(std::abs(exponent)) + "</tspan>";
}

// Values from low to high along a straight stretch of the picture.
struct axis {
  double low, high, from, to;
  double operator()(double x) const { return from + (x - low) / (high - low) * (to - from); }
};

// 1, 2 or 5 times a power of ten, so that about `ticks` steps cover the range.
double round_step(double range, double ticks) {
  const double rough = range / ticks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (double step : {1.0, 2.0, 5.0}) {
    if (rough <= step * power * 1.0001) return step * power;
  }
  return 10 * power;
}

// The logarithm of the nearest 1, 2 or 5 times a power of ten, at or below x or (up) at or above it.
double round_log(double x, bool up) {
  const double decade = std::floor(std::log10(x));
  double below = decade;
  for (double digit : {1.0, 2.0, 5.0, 10.0}) {
    const double here = decade + std::log10(digit);
    if (up && here >= std::log10(x) - 1e-9) return here;
    if (here <= std::log10(x) + 1e-9) below = here;
  }
  return below;
}

struct picture {
  std::ostringstream out;

  void line(double x1, double y1, double x2, double y2, const char* color, double thick = 1, const char* dashes = "") {
    out << "<path d=\"M" << px(x1) << ' ' << px(y1) << 'L' << px(x2) << ' ' << px(y2) << "\" stroke=\"" << color
        << "\" stroke-width=\"" << px(thick) << '"';
    if (*dashes != 0) out << " stroke-dasharray=\"" << dashes << '"';
    out << "/>\n";
  }

  void text(double x, double y, const char* anchor, const char* color, std::string_view words, int turn = 0) {
    out << "<text x=\"" << px(x) << "\" y=\"" << px(y) << "\" text-anchor=\"" << anchor << "\" fill=\"" << color << '"';
    if (turn != 0) out << " transform=\"rotate(" << turn << ' ' << px(x) << ' ' << px(y) << ")\"";
    out << '>' << words << "</text>\n";
  }

  // Joins the points; x and y give a place in the picture, or NaN where there is none.
  template <class X, class Y>
  void series(const std::vector<curve_point>& points, X x, Y y, const char* color, double thick, double opacity,
              bool dots = false) {
    if (points.empty()) return;
    std::ostringstream path, marks;
    bool pen_down = false;
    for (const curve_point& p : points) {
      const double px_x = x(p.at), px_y = y(p.value);
      if (!std::isfinite(px_x) || !std::isfinite(px_y)) {
        pen_down = false;
        continue;
      }
      path << (pen_down ? 'L' : 'M') << px(px_x) << ' ' << px(px_y);
      pen_down = true;
      if (dots) marks << "<circle cx=\"" << px(px_x) << "\" cy=\"" << px(px_y) << "\" r=\"2.2\"/>\n";
    }
    out << "<g fill=\"" << color << "\" opacity=\"" << opacity << "\"><path d=\"" << path.str()
        << "\" fill=\"none\" stroke=\"" << color << "\" stroke-width=\"" << px(thick)
        << "\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n"
        << marks.str() << "</g>\n";
  }
};

}  // namespace

std::string to_svg(const learning_curve& curve) {
  // What the axes must cover.
  double first = 0, last = 1, least_loss = 1, most_loss = 1, least_accuracy = 0.95;
  bool any_point = false, any_loss = false, any_accuracy = false;
  const auto see = [](double x, double& least, double& most, bool& any) {
    least = any ? std::min(least, x) : x;
    most = any ? std::max(most, x) : x;
    any = true;
  };
  for (const auto* series : {&curve.batch_loss, &curve.epoch_loss, &curve.held_out_loss, &curve.test_accuracy}) {
    for (const curve_point& p : *series) {
      if (!std::isfinite(p.at) || !std::isfinite(p.value)) continue;
      see(p.at, first, last, any_point);
      double unused = 0;
      if (series == &curve.test_accuracy) {
        see(std::clamp(p.value, 0.0, 1.0), least_accuracy, unused, any_accuracy);
      } else if (p.value > 0) {
        see(p.value, least_loss, most_loss, any_loss);
      }
    }
  }
  for (const loss_level& level : curve.levels) {
    if (std::isfinite(level.loss) && level.loss > 0) see(level.loss, least_loss, most_loss, any_loss);
  }
  first = std::floor(first);
  last = std::max(std::ceil(last), first + 1);
  const double low_loss = round_log(least_loss, false);
  const double high_loss = std::max(round_log(most_loss, true), low_loss + 0.5);
  least_accuracy = std::min(least_accuracy, 0.95);  // one image more or less must not look like a cliff
  const double step_accuracy = round_step(100 * (1 - least_accuracy), 6);
  const double low_accuracy = std::floor(100 * least_accuracy / step_accuracy) * step_accuracy;

  const axis x{first, last, left, right};
  const axis log_loss{low_loss, high_loss, bottom, top};
  // 100 % stands a little below the frame, so that the best points are not drawn on it.
  const axis percent{low_accuracy, 100, bottom, top + 12};

  picture p;
  p.out.imbue(std::locale::classic());
  p.out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height << "\" width=\""
        << width << "\" height=\"" << height << "\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" "
        << "font-size=\"12\" fill=\"none\">\n"
        << "<title>" << curve.title << "</title>\n"
        << "<rect width=\"" << width << "\" height=\"" << height << "\" fill=\"#fff\"/>\n";

  const char *ink = "#222", *grid = "#e8e8e8";
  const bool wide = high_loss - low_loss > 2;  // then 2 and 5 need no label
  const bool as_decimals = low_loss >= -3 && high_loss <= 3;
  for (double decade = std::floor(low_loss); decade <= high_loss; ++decade) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double place = decade + std::log10(digit), y = log_loss(place);
      if (place < low_loss - 1e-9 || place > high_loss + 1e-9) continue;
      if (digit != 1 && (wide || (digit != 2 && digit != 5))) {
        p.line(left - 3, y, left, y, ink, 0.6);
        continue;
      }
      const int exponent = static_cast<int>(decade);
      p.line(left, y, right, y, grid);
      p.line(left - 6, y, left, y, ink);
      p.text(
          left - 10, y + 4, "end", loss_color,
          as_decimals ? number(digit * std::pow(10.0, decade), std::max(0, -exponent)) : scientific(digit, exponent));
    }
  }
  const double step_epoch = std::max(1.0, round_step(last - first, 8));
  for (double e = std::ceil(first / step_epoch) * step_epoch; e <= last; e += step_epoch) {
    p.line(x(e), top, x(e), bottom, grid);
    p.line(x(e), bottom, x(e), bottom + 6, ink);
    p.text(x(e), bottom + 20, "middle", ink, number(e, 0));
  }
  for (double a = 100; any_accuracy && a >= low_accuracy; a -= step_accuracy) {
    p.line(right, percent(a), right + 6, percent(a), ink);
    p.text(right + 10, percent(a) + 4, "start", accuracy_color, number(a, 0));
  }

  const auto loss = [&](double v) { return log_loss(std::log10(v)); };
  for (const loss_level& level : curve.levels) {
    if (!std::isfinite(level.loss) || level.loss <= 0) continue;
    p.line(left, loss(level.loss), right, loss(level.loss), ink, 1, "6 4");
    p.text(right - 6, loss(level.loss) - 6, "end", ink, level.name);
  }
  p.series(curve.batch_loss, x, loss, loss_color, 0.8, 0.3);
  p.series(curve.epoch_loss, x, loss, loss_color, 2, 1);
  p.series(curve.held_out_loss, x, loss, accuracy_color, 1.6, 1, curve.held_out_loss.size() <= 60);
  p.series(
      curve.test_accuracy, x, [&](double v) { return percent(100 * std::clamp(v, 0.0, 1.0)); }, accuracy_color, 1.6, 1,
      curve.test_accuracy.size() <= 60);

  p.out << "<rect x=\"" << left << "\" y=\"" << top << "\" width=\"" << right - left << "\" height=\"" << bottom - top
        << "\" stroke=\"" << ink << "\"/>\n";
  p.text((left + right) / 2, height - 16, "middle", ink, curve.along);
  p.text(20, (top + bottom) / 2, "middle", loss_color, curve.loss, -90);
  if (any_accuracy) p.text(width - 20, (top + bottom) / 2, "middle", accuracy_color, "Test accuracy (%)", 90);

  // The legend stands above the frame, where no curve can cross it.
  double legend = left;
  const auto entry = [&](bool wanted, const char* color, double thick, double opacity, const char* words, double room) {
    if (!wanted) return;
    p.series(
        {{legend, top - 20}, {legend + 22, top - 20}}, [](double v) { return v; }, [](double v) { return v; }, color,
        thick, opacity);
    p.text(legend + 28, top - 16, "start", ink, words);
    legend += room;
  };
  entry(!curve.batch_loss.empty(), loss_color, 0.8, 0.5, "Loss, each mini-batch", 176);
  entry(!curve.epoch_loss.empty(), loss_color, 2, 1, "Loss, mean of an epoch", 184);
  entry(!curve.held_out_loss.empty(), accuracy_color, 1.6, 1, "Loss, held-out", 130);
  entry(!curve.test_accuracy.empty(), accuracy_color, 1.6, 1, "Test accuracy", 0);
  p.out << "</svg>\n";
  return p.out.str();
}

void write_svg(const std::filesystem::path& file, const learning_curve& curve) {
  std::ofstream out(file, std::ios::binary);
  out << to_svg(curve) << std::flush;
  if (!out) {
    throw std::runtime_error(file.string() +
                             ": the learning curve could not be written. Check that the folder exists " +
                             "and may be written to, or give --curve another file.");
  }
}

}  // namespace examples

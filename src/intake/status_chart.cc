#include "intake/status_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "intake/status_html.h"

namespace sluice::intake {
namespace {

constexpr double kWidth = 600;
constexpr double kHeight = 100;

void AppendNumber(std::string& out, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  std::string_view view(text.data());
  if (view.ends_with(".0")) view.remove_suffix(2);
  out += view;
}

void AppendPoint(std::string& out, double x, double y) {
  AppendNumber(out, x);
  out += ',';
  AppendNumber(out, y);
  out += ' ';
}

double Y(double value, double top) {
  return kHeight - std::clamp(value / top, 0.0, 1.0) * (kHeight - 1);
}

void Open(std::string& out, std::string_view label, std::string_view css_class) {
  out += "<svg class=\"";
  out += css_class;
  out += "\" viewBox=\"0 0 600 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"";
  AppendHtml(out, label);
  out += "\">";
}

// One point of a curve: where it is, and the average of the values that it stands for.
template <class Value>
struct Point {
  double x;
  Value value;
};

// The newest value lies at the right edge; what is not there yet leaves room at the left.
template <class Value, class Average>
std::vector<Point<Value>> PointsOf(std::span<const Value> values, std::size_t steps,
                                   std::size_t points, Average average) {
  std::vector<Point<Value>> result;
  const std::size_t group = std::max<std::size_t>(1, steps / std::max<std::size_t>(points, 1));
  std::size_t end = values.size();
  double x = kWidth;
  while (end > 0) {
    const std::size_t begin = end > group ? end - group : 0;
    result.push_back({x, average(values.subspan(begin, end - begin))});
    x -= kWidth * static_cast<double>(group) / static_cast<double>(steps - group);
    end = begin;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

OutcomeRates AverageRates(std::span<const OutcomeRates> rates) {
  OutcomeRates sum;
  for (const OutcomeRates& rate : rates) {
    sum.accepted += rate.accepted;
    sum.refused += rate.refused;
    sum.failed += rate.failed;
  }
  const auto n = static_cast<float>(rates.size());
  return {sum.accepted / n, sum.refused / n, sum.failed / n};
}

float AverageOfPresent(std::span<const float> values) {
  float sum = 0;
  int n = 0;
  for (const float value : values) {
    if (value < 0) continue;
    sum += value;
    ++n;
  }
  return n > 0 ? sum / static_cast<float>(n) : -1;
}

}  // namespace

void AppendOutcomeChart(std::string& out, const OutcomeChart& chart) {
  Open(out, chart.label, chart.css_class);
  const auto points = PointsOf(chart.rates, chart.steps, chart.points, AverageRates);
  // From the top of the pile down, each over the one before.
  struct Layer {
    std::string_view css_class;
    float (*height)(const OutcomeRates&);
  };
  static constexpr std::array<Layer, 3> kLayers = {{
      {"failed", [](const OutcomeRates& r) { return r.accepted + r.refused + r.failed; }},
      {"refused", [](const OutcomeRates& r) { return r.accepted + r.refused; }},
      {"accepted", [](const OutcomeRates& r) { return r.accepted; }},
  }};
  for (const Layer& layer : kLayers) {
    if (points.empty()) break;
    out += "<polygon class=\"";
    out += layer.css_class;
    out += "\" points=\"";
    AppendPoint(out, points.front().x, kHeight);
    for (const auto& point : points)
      AppendPoint(out, point.x, Y(static_cast<double>(layer.height(point.value)), chart.top));
    AppendPoint(out, points.back().x, kHeight);
    out.back() = '"';
    out += "/>";
  }
  out += "</svg>";
}

void AppendLineChart(std::string& out, const LineChart& chart) {
  Open(out, chart.label, chart.css_class);
  const auto points = PointsOf(chart.values, chart.steps, chart.points, AverageOfPresent);
  bool drawing = false;
  const auto end_line = [&] {
    if (drawing) {
      out.back() = '"';
      out += "/>";
    }
    drawing = false;
  };
  for (const auto& point : points) {
    if (point.value < 0) {
      end_line();
      continue;
    }
    if (!drawing) out += "<polyline class=\"line\" points=\"";
    drawing = true;
    AppendPoint(out, point.x, Y(static_cast<double>(point.value), chart.top));
  }
  end_line();
  out += "</svg>";
}

double RoundTop(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace sluice::intake

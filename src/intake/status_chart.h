#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intake/status_history.h"

// Charts as inline SVG that stretch to the place they are given: no text inside, colours by class.
namespace sluice::intake {

// Outcomes over the last `steps` steps, on top of each other: classes accepted, refused, failed.
// `points` is how many points the curve has, neighbours are averaged. `top` is the value at the
// upper edge.
struct OutcomeChart {
  std::span<const OutcomeRates> rates;
  std::size_t steps;
  std::size_t points;
  double top;
  std::string_view label;  // for who does not see it; text
  std::string_view css_class;
};
void AppendOutcomeChart(std::string& out, const OutcomeChart& chart);

// One line, class `line`; negative values are gaps.
struct LineChart {
  std::span<const float> values;
  std::size_t steps;
  std::size_t points;
  double top;
  std::string_view label;
  std::string_view css_class;
};
void AppendLineChart(std::string& out, const LineChart& chart);

// A round number that is not below `value`: one digit, or 1.5, times a power of ten; 1 if there is
// nothing.
double RoundTop(double value);

}  // namespace sluice::intake

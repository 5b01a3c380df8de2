#include "intake/status_page.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/iso_time.h"
#include "intake/status_assets.h"
#include "intake/status_chart.h"
#include "intake/status_html.h"

namespace sluice::intake {
namespace {

constexpr std::size_t kShownStreams = 20;
constexpr std::size_t kChartPoints = 180;
constexpr std::size_t kSparkPoints = 60;
constexpr std::size_t kNowSteps = 6;  // "now" is the last half minute

// Nothing but what the page brings along; the icon and the refreshing script are its own.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Adds to a page: Raw what is HTML already, Text what is not.
class Html {
 public:
  Html& Raw(std::string_view html) {
    out_ += html;
    return *this;
  }
  Html& Text(std::string_view text) {
    AppendHtml(out_, text);
    return *this;
  }
  // A name, which may be broken behind its dots.
  Html& Name(std::string_view name) {
    while (!name.empty()) {
      const std::size_t dot = name.find_first_of("./_");
      const std::size_t size = dot == std::string_view::npos ? name.size() : dot + 1;
      Text(name.substr(0, size));
      name.remove_prefix(size);
      if (!name.empty()) out_ += "<wbr>";
    }
    return *this;
  }
  std::string& out() { return out_; }

 private:
  std::string out_;
};

OutcomeRates Now(const std::vector<OutcomeRates>& rates) {
  const std::size_t count = std::min(kNowSteps, rates.size());
  OutcomeRates now;
  for (std::size_t i = rates.size() - count; i < rates.size(); ++i) {
    now.accepted += rates[i].accepted / static_cast<float>(count);
    now.refused += rates[i].refused / static_cast<float>(count);
    now.failed += rates[i].failed / static_cast<float>(count);
  }
  return now;
}

struct Counts {
  double accepted = 0;
  double refused = 0;
  double failed = 0;
};

Counts CountsOf(const std::vector<OutcomeRates>& rates, double step) {
  Counts counts;
  for (const OutcomeRates& rate : rates) {
    counts.accepted += static_cast<double>(rate.accepted) * step;
    counts.refused += static_cast<double>(rate.refused) * step;
    counts.failed += static_cast<double>(rate.failed) * step;
  }
  return counts;
}

double TopOf(const std::vector<OutcomeRates>& rates) {
  double top = 0;
  for (const OutcomeRates& rate : rates) top = std::max(top, static_cast<double>(rate.sum()));
  return RoundTop(top);
}

// The upper edge for times: some spikes may stand out above it, or nothing else could be seen.
struct TimeScale {
  double top;
  double highest;
};

TimeScale ScaleOf(const std::vector<float>& values) {
  std::vector<float> present;
  for (const float value : values) {
    if (value >= 0) present.push_back(value);
  }
  if (present.empty()) return {1, 0};
  std::sort(present.begin(), present.end());
  const auto high = static_cast<double>(present[(present.size() - 1) * 95 / 100]);
  const auto highest = static_cast<double>(present.back());
  return {RoundTop(std::min(1.5 * high, highest)), highest};
}

std::string TimeText(std::chrono::system_clock::time_point time) {
  std::string text = core::FormatIsoTime(time);
  text[10] = ' ';
  return text.substr(0, 19) + " UTC";
}

void RenderHeader(Html& html, const StatusData& data) {
  const bool ready = std::all_of(data.conditions.begin(), data.conditions.end(),
                                 [](const ReadinessCondition& each) { return each.ok; });
  html.Raw("<header><h1>").Text(data.service).Raw("</h1><p class=\"state ");
  html.Raw(ready ? "good\">Taking events" : "bad\">Not ready for events");
  html.Raw("</p><p class=\"about\">Sluice ").Text(data.version).Raw(" · up ");
  html.Text(DurationText(data.uptime)).Raw(" · as of <time>").Text(TimeText(data.now));
  html.Raw("</time></p></header>\n");
}

void RenderConditions(Html& html, const StatusData& data) {
  html.Raw("<section aria-label=\"Health\"><ul class=\"health\">");
  for (const ReadinessCondition& condition : data.conditions) {
    const char* state = !condition.ok ? "bad" : condition.detail.empty() ? "good" : "warn";
    html.Raw("<li class=\"").Raw(state).Raw("\"><b>").Text(condition.name).Raw("</b>");
    html.Raw("<span>");
    if (!condition.detail.empty()) {
      html.Text(condition.detail);
    } else {
      html.Raw(condition.ok ? "good" : "bad");
    }
    html.Raw("</span></li>");
  }
  html.Raw("</ul></section>\n");
}

void RenderTile(Html& html, std::string_view name, std::string_view value, std::string_view note,
                std::string_view css_class) {
  html.Raw("<div class=\"tile ").Raw(css_class).Raw("\"><h3>").Text(name).Raw("</h3><p>");
  html.Text(value).Raw("</p><small>").Text(note).Raw("</small></div>");
}

void RenderTiles(Html& html, const StatusData& data) {
  const StatusTrends& trends = data.trends;
  const OutcomeRates now = Now(trends.rates);
  const Counts counts = CountsOf(trends.rates, trends.step.count());
  const auto in_window = [](double count) { return CountText(count) + " in 15 min"; };
  html.Raw("<section class=\"tiles\" aria-label=\"Now\">");
  RenderTile(html, "Accepted a second", RateText(static_cast<double>(now.accepted)),
             in_window(counts.accepted), "accepted");
  RenderTile(html, "Refused a second", RateText(static_cast<double>(now.refused)),
             in_window(counts.refused), counts.refused > 0 ? "refused" : "");
  RenderTile(html, "Failed a second", RateText(static_cast<double>(now.failed)),
             in_window(counts.failed), counts.failed > 0 ? "failed" : "");
  const auto newest = [](const std::vector<float>& values) {
    const auto found =
        std::find_if(values.rbegin(), values.rend(), [](float value) { return value >= 0; });
    return found == values.rend() ? -1.0 : static_cast<double>(*found);
  };
  const double p99 = newest(trends.p99_ms);
  RenderTile(html, "Answer time, 99 %", p99 < 0 ? "–" : MillisecondsText(p99),
             p99 < 0 ? "no request yet" : "half within " + MillisecondsText(newest(trends.p50_ms)),
             "");
  html.Raw("</section>\n");
}

void RenderAxis(Html& html) {
  html.Raw(
      "<div class=\"axis\" aria-hidden=\"true\"><span>15 min ago</span><span>10</span>"
      "<span><span>5</span><span>now</span></span></div></figure>");
}

void RenderCharts(Html& html, const StatusData& data) {
  const StatusTrends& trends = data.trends;
  const double top = TopOf(trends.rates);
  html.Raw("<section class=\"charts\"><figure><figcaption>Events a second<span class=\"key\">");
  html.Raw("<i class=\"accepted\"></i>accepted <i class=\"refused\"></i>refused ");
  html.Raw("<i class=\"failed\"></i>failed</span><span class=\"top\">");
  html.Text(RateText(top)).Raw("</span></figcaption>");
  AppendOutcomeChart(html.out(), {trends.rates, trends.steps, kChartPoints, top,
                                  "Events a second by outcome, last 15 minutes", "chart"});
  RenderAxis(html);
  const TimeScale scale = ScaleOf(trends.p99_ms);
  html.Raw("<figure><figcaption>Answer time, 99 %<span class=\"top\">");
  html.Text(MillisecondsText(scale.top));
  if (scale.highest > scale.top) html.Text(", highest " + MillisecondsText(scale.highest));
  html.Raw("</span></figcaption>");
  AppendLineChart(html.out(),
                  {trends.p99_ms, trends.steps, kChartPoints, scale.top,
                   "99th percentile of the time to the answer, last 15 minutes", "chart"});
  RenderAxis(html);
  html.Raw("</section>\n");
}

void RenderStream(Html& html, const StatusTrends& trends, const StatusTrends::Stream& stream) {
  const Counts counts = CountsOf(stream.rates, trends.step.count());
  html.Raw("<tr><th scope=\"row\">").Name(stream.name == "_other" ? "(all others)" : stream.name);
  html.Raw("</th><td class=\"spark\">");
  AppendOutcomeChart(html.out(), {stream.rates, trends.steps, kSparkPoints, TopOf(stream.rates),
                                  "Events of the last 15 minutes", "sparkline"});
  html.Raw("</td><td>").Text(RateText(static_cast<double>(Now(stream.rates).sum())));
  html.Raw("</td><td>").Text(CountText(counts.accepted));
  html.Raw(counts.refused > 0 ? "</td><td class=\"refused\">" : "</td><td class=\"none\">");
  html.Text(CountText(counts.refused));
  html.Raw(counts.failed > 0 ? "</td><td class=\"failed\">" : "</td><td class=\"none\">");
  html.Text(CountText(counts.failed)).Raw("</td></tr>\n");
}

void RenderStreams(Html& html, const StatusData& data) {
  const StatusTrends& trends = data.trends;
  html.Raw("<section><h2>Streams <small>last 15 minutes</small></h2>");
  if (trends.streams.empty()) {
    html.Raw("<p class=\"empty\">No event has come yet.</p></section>\n");
    return;
  }
  html.Raw("<table class=\"streams\"><thead><tr><th scope=\"col\">Stream</th><td class=\"spark\">");
  html.Raw("</td><th scope=\"col\">a second</th><th scope=\"col\">accepted</th>");
  html.Raw("<th scope=\"col\">refused</th><th scope=\"col\">failed</th></tr></thead><tbody>\n");
  const std::size_t shown = std::min(kShownStreams, trends.streams.size());
  for (std::size_t i = 0; i < shown; ++i) RenderStream(html, trends, trends.streams[i]);
  html.Raw("</tbody></table>");
  if (shown < trends.streams.size()) {
    html.Raw("<p class=\"empty\">and ")
        .Text(CountText(static_cast<double>(trends.streams.size() - shown)))
        .Raw(" with less traffic; /metrics has them all</p>");
  }
  html.Raw("</section>\n");
}

void RenderFacts(Html& html, const StatusData& data) {
  html.Raw("<section class=\"facts\">");
  for (const StatusFacts& group : data.facts) {
    html.Raw("<div class=\"card\"><h2>").Text(group.title).Raw("</h2><dl>");
    for (const StatusFacts::Fact& fact : group.facts) {
      html.Raw("<div><dt>").Text(fact.name);
      html.Raw(fact.is_bad ? "</dt><dd class=\"failed\">" : "</dt><dd>").Text(fact.value);
      html.Raw("</dd></div>");
    }
    html.Raw("</dl></div>");
  }
  html.Raw("</section>\n");
}

void RenderRefusedEvent(Html& html, const SeenEvent& seen) {
  const std::chrono::system_clock::time_point time{std::chrono::milliseconds(seen.time_ms)};
  html.Raw("<details id=\"e").Text(std::to_string(seen.time_ms)).Raw("-").Text(seen.request_id);
  html.Raw("\"><summary><time>").Text(core::FormatIsoTime(time).substr(11, 8));
  html.Raw("</time><b>").Name(seen.stream.empty() ? "(whole request)" : seen.stream);
  html.Raw(seen.outcome == core::Disposition::kFailed ? "</b><em class=\"failed\">"
                                                      : "</b><em class=\"refused\">");
  html.Name(core::ToString(seen.code)).Raw("</em><span>").Text(seen.message);
  html.Raw("</span></summary><dl>");
  const auto fact = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    html.Raw("<div><dt>").Text(name).Raw("</dt><dd>").Text(value).Raw("</dd></div>");
  };
  fact("Time", TimeText(time));
  fact("Schema", seen.schema_uri);
  fact("Request", seen.request_id);
  fact("Why", seen.message);
  if (seen.event.bytes > 0) fact("Size", BytesText(static_cast<double>(seen.event.bytes)));
  html.Raw("</dl>");
  if (!seen.event.text.empty()) {
    html.Raw("<pre>").Text(seen.event.text).Raw(seen.event.whole ? "</pre>" : "…</pre>");
  }
  html.Raw("</details>\n");
}

void RenderRefused(Html& html, const StatusData& data) {
  html.Raw("<section class=\"events\"><h2>Last events that were not accepted</h2>");
  if (!data.refused.empty()) {
    html.Raw("<div class=\"list\">\n");
    for (const auto& event : data.refused) RenderRefusedEvent(html, *event);
    html.Raw("</div>");
  }
  if (!data.refused_hint.empty()) {
    html.Raw("<p class=\"empty\">").Text(data.refused_hint).Raw("</p>");
  } else if (data.refused.empty()) {
    html.Raw("<p class=\"empty\">None since the start.</p>");
  } else {
    html.Raw("<p class=\"empty\">More, and by stream: <a href=\"/-/refused\">/-/refused</a></p>");
  }
  html.Raw("</section>\n");
}

AdminRoute Asset(std::string path, std::string content_type, std::string_view text) {
  AdminRoute route;
  route.methods = {AdminMethod::kGet};
  route.path = std::move(path);
  route.runs = AdminRoute::Runs::kIo;
  route.handler = Answering([content_type = std::move(content_type), text](const AdminRequest&) {
    AdminReply reply;
    reply.content_type = content_type;
    reply.headers = {{"x-content-type-options", "nosniff"}};
    reply.body = text;
    return reply;
  });
  return route;
}

}  // namespace

std::string RenderStatusPage(const StatusData& data) {
  Html html;
  html.Raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  html.Text(data.service).Raw("</title>\n");
  html.Raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  html.Raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
  html.Raw("<link rel=\"icon\" href=\"/-/status.svg\" type=\"image/svg+xml\">\n");
  html.Raw("<link rel=\"stylesheet\" href=\"/-/status.css\">\n");
  html.Raw("<script src=\"/-/status.js\" defer></script>\n");
  html.Raw("<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript></head>\n");
  html.Raw("<body><p id=\"stale\" role=\"status\" hidden></p><main>\n");
  RenderHeader(html, data);
  RenderConditions(html, data);
  RenderTiles(html, data);
  RenderCharts(html, data);
  RenderStreams(html, data);
  RenderFacts(html, data);
  RenderRefused(html, data);
  html.Raw("</main></body></html>\n");
  return std::move(html.out());
}

std::vector<AdminRoute> StatusRoutes(std::function<StatusData()> data) {
  std::vector<AdminRoute> routes;
  AdminRoute page;
  page.methods = {AdminMethod::kGet};
  page.path = "/";
  page.runs = AdminRoute::Runs::kIo;
  page.handler = Answering([data = std::move(data)](const AdminRequest&) {
    AdminReply reply;
    reply.content_type = "text/html; charset=utf-8";
    reply.headers = {{"content-security-policy", std::string(kPolicy)},
                     {"x-content-type-options", "nosniff"},
                     {"referrer-policy", "no-referrer"}};
    reply.body = RenderStatusPage(data());
    return reply;
  });
  routes.push_back(std::move(page));
  routes.push_back(Asset("/-/status.css", "text/css; charset=utf-8", StatusStyle()));
  routes.push_back(Asset("/-/status.js", "text/javascript; charset=utf-8", StatusScript()));
  routes.push_back(Asset("/-/status.svg", "image/svg+xml", StatusIcon()));
  return routes;
}

}  // namespace sluice::intake

#include "streams/updater_metrics.h"

#include <string>

namespace sluice::streams {
namespace {

struct Labels {
  std::string outcome;
  std::string reason;
};

Labels LabelsOf(ConfigReading::Outcome outcome) {
  switch (outcome) {
    case ConfigReading::Outcome::kChanged:
      return {"changed", "none"};
    case ConfigReading::Outcome::kUnchanged:
      return {"unchanged", "none"};
    case ConfigReading::Outcome::kFileFailed:
      return {"failed", "file"};
    case ConfigReading::Outcome::kFetchFailed:
      return {"failed", "fetch"};
    case ConfigReading::Outcome::kStatusFailed:
      return {"failed", "status"};
    case ConfigReading::Outcome::kContentFailed:
      return {"failed", "content"};
  }
  return {};
}

}  // namespace

UpdaterMetrics::UpdaterMetrics(core::Metrics& metrics)
    : readings_(prometheus::BuildCounter()
                    .Name("sluice_stream_config_readings_total")
                    .Help("Readings of stream configuration by how they ended.")
                    .Register(metrics.registry())),
      streams_(prometheus::BuildGauge()
                   .Name("sluice_stream_config_streams")
                   .Help("Entries of the static stream configuration that is in use.")
                   .Register(metrics.registry())
                   .Add({})),
      last_success_(prometheus::BuildGauge()
                        .Name("sluice_stream_config_last_success_timestamp_seconds")
                        .Help("When all sources of stream configuration were last read well.")
                        .Register(metrics.registry())
                        .Add({})) {
  for (std::size_t i = 0; i < by_outcome_.size(); ++i) {
    const Labels labels = LabelsOf(static_cast<ConfigReading::Outcome>(i));
    by_outcome_[i] = &readings_.Add({{"outcome", labels.outcome}, {"reason", labels.reason}});
  }
}

void UpdaterMetrics::CountReading(ConfigReading::Outcome outcome) {
  by_outcome_[static_cast<std::size_t>(outcome)]->Increment();
}

}  // namespace sluice::streams

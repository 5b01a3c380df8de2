#include "registry/registry_metrics.h"

namespace sluice::registry {

RegistryMetrics::RegistryMetrics(core::Metrics& metrics)
    : cache_entries_(prometheus::BuildGauge()
                         .Name("sluice_schema_cache_entries")
                         .Help("Schema URIs whose compiled schema is held.")
                         .Register(metrics.registry())
                         .Add({})),
      waiting_(prometheus::BuildGauge()
                   .Name("sluice_schema_waiting")
                   .Help("Requests that wait for a schema to be loaded.")
                   .Register(metrics.registry())
                   .Add({})),
      loads_(prometheus::BuildCounter()
                 .Name("sluice_schema_loads_total")
                 .Help("Loads of schemas by result: loaded, or the reason of the failure.")
                 .Register(metrics.registry())),
      seconds_(
          prometheus::BuildHistogram()
              .Name("sluice_schema_load_seconds")
              .Help(
                  "Time that one load took, from its turn until the schema was compiled or failed.")
              .Register(metrics.registry())
              .Add({},
                   prometheus::Histogram::BucketBoundaries{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10})) {}

void RegistryMetrics::CountLoad(const core::Result<SchemaPtr>& result,
                                std::chrono::duration<double> took) {
  const std::string word(result ? "loaded" : core::ToString(result.error().code));
  loads_.Add({{"result", word}}).Increment();
  seconds_.Observe(took.count());
}

}  // namespace sluice::registry

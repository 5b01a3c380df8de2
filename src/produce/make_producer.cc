#include "produce/discard_producer.h"
#include "produce/file_ops.h"
#include "produce/files_producer.h"
#include "produce/kafka_producer.h"
#include "produce/producer.h"

namespace sluice::produce {

core::Result<std::unique_ptr<Producer>> MakeProducer(const core::OutputOptions& options,
                                                     std::string_view user_agent,
                                                     core::Metrics& metrics) {
  switch (options.kind) {
    case core::OutputKind::kDiscard:
      return std::unique_ptr<Producer>(std::make_unique<DiscardProducer>(metrics));
    case core::OutputKind::kKafka:
      return MakeKafkaProducer(options, user_agent, metrics);
    case core::OutputKind::kFiles:
      break;
  }
  FilesProducer::Options files;
  files.data_dir = options.data_dir;
  files.fsync = options.fsync;
  return std::unique_ptr<Producer>(
      std::make_unique<FilesProducer>(std::move(files), metrics, MakePosixFileOps()));
}

}  // namespace sluice::produce

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/error.h"
#include "streams/static_snapshot.h"

namespace sluice::streams {

// One document of stream configuration as it was read.
struct ConfigText {
  enum class Origin : std::uint8_t {
    kFiles,  // of stream_config_files: the object path is a possibility
    kUri,    // of stream_config_uri: the streams are at the object path, or at EventStreams
    kApi,    // the same, and an answer of the EventStreamConfig API
  };
  std::string name;  // path or URL, for messages
  std::string text;
  Origin origin = Origin::kUri;
};

// Makes one snapshot of everything: the streams of options.inline_config, then those of `texts` in
// their order; of entries with the same key the first counts. The default settings of all, also
// merged so that the first counts, lie under every stream. A document is a map of streams, or has
// EventStreams and EventStreamsDefaultSettings; one that holds neither streams nor defaults is
// refused, and so is an error of MediaWiki; its warnings are logged. Fails with
// kStreamConfigUnavailable and all problems, one a line, each with file and line.
core::Result<std::shared_ptr<StaticSnapshot>> AssembleConfig(const core::StreamOptions& options,
                                                             const std::vector<ConfigText>& texts);

}  // namespace sluice::streams

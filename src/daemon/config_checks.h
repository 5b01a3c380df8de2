#pragma once

#include <vector>

#include "daemon/config_reader.h"

namespace sluice::daemon {

// Whether the settings name Kafka brokers.
bool NamesBrokers(const core::KafkaOptions& options);

// Adds the problems that only show when keys are held against each other, and those that another
// part of Sluice knows of (entries of kafka.conf). A key that could not be read is not complained
// about again.
void CheckConfig(ConfigReading& reading);

}  // namespace sluice::daemon

#pragma once

#include <yaml-cpp/node/node.h>

#include <string>

namespace sluice::daemon {

// The JSON text of a YAML value, its plain scalars typed as js-yaml does.
std::string YamlToJson(const YAML::Node& value);

}  // namespace sluice::daemon

#pragma once

#include <string>

#include "core/config.h"
#include "intake/router.h"

namespace sluice::intake {

// The OpenAPI 3 document of the events listener: the routes that this configuration has and every
// status that they answer, with the x-amples and x-monitor members that service-checker reads.
std::string OpenApiDocument(const core::Config& config, const Router& router);

}  // namespace sluice::intake

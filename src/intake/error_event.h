#pragma once

#include <string>
#include <string_view>

#include "core/config.h"
#include "validate/editable_event.h"

namespace sluice::intake {

struct EventAddress;
struct EventFailure;

// The error event that tells about an event which failed validation, as the original makes it.
// Which schema it is written for is decided when it is sent: /error/2.1.0, with `dt` and
// `error_type`, or /error/1.0.0, with neither.
struct ErrorEvent {
  std::string common;  // members of either, without the outer brackets and $schema
  std::string now_json;

  std::string Text(std::string_view error_schema_uri) const;
};

inline constexpr std::string_view kErrorSchema = "/error/2.1.0";
inline constexpr std::string_view kOldErrorSchema = "/error/1.0.0";

// `event` and `failure` are of the event that failed at `address`.
ErrorEvent MakeErrorEvent(const core::Config& config, const validate::EditableEvent& event,
                          const EventFailure& failure, const EventAddress& address,
                          std::string_view now_json);

}  // namespace sluice::intake

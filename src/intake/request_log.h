#pragma once

#include <string_view>

#include "core/error.h"

// What a log line about a request may hold: nothing that a client wrote, but for names and ids.
namespace sluice::intake {

// The trace id (32 hex digits) of a `traceparent` header as W3C Trace Context has it; empty if it
// is none.
std::string_view TraceIdOf(std::string_view traceparent);

// The message of an error for the log: empty where messages of its code may quote the client and
// the level is not debug.
std::string_view LoggableMessage(const core::Error& error);
std::string_view LoggableMessage(core::ErrorCode code, std::string_view message);

}  // namespace sluice::intake

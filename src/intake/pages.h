#pragma once

#include <string>
#include <string_view>

#include "core/config.h"
#include "intake/router.h"

namespace sluice::intake {

// The fixed documents of the events listener, made once at start. Immutable; any thread.
struct Pages {
  Pages(const core::Config& config, const Router& router);

  std::string info;
  std::string info_name;
  std::string info_version;
  std::string home_location;  // a header line; empty: there is no home page
  std::string home_body;
  std::string robots;
  std::string open_api;
  std::string doc;  // HTML
  std::string_view doc_csp;
  std::string test_events;  // one JSON array, with validate::kReadPadding bytes behind it
  std::size_t test_events_size = 0;
};

// A problem document as the original's error handler writes it.
std::string ProblemDocument(int status, std::string_view type, std::string_view title,
                            std::string_view detail, std::string_view method, std::string_view uri);

}  // namespace sluice::intake

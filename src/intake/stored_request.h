#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "intake/enrichment.h"
#include "intake/ingest_job.h"
#include "streams/stream_registry.h"
#include "validate/reader.h"

namespace sluice::intake {

// The headers that enrichment may ask for, copied. Used on the thread of its request.
class StoredHeaders final : public HeaderSource {
 public:
  StoredHeaders(const HeaderSource& source, const std::vector<std::string>& lower_case_names) {
    for (const std::string& name : lower_case_names) {
      const std::string_view value = source.Header(name);
      if (!value.empty()) values_.emplace_back(name, value);
    }
  }
  std::string_view Header(std::string_view lower_case_name) const override {
    for (const auto& [name, value] : values_) {
      if (name == lower_case_name) return value;
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// A request that waits for schemas: a copy of all that its events need to be processed from the
// start once they are there. Owned by whoever waits; used on the I/O thread only.
struct StoredRequest {
  StoredRequest(const RequestFacts& from, std::string_view text,
                const std::vector<std::string>& header_names)
      : body(text),
        peer_address(from.peer_address),
        request_id(from.request_id),
        schema_uri_default(from.schema_uri_default),
        stream_default(from.stream_default),
        now_json(from.now_json) {
    body.resize(text.size() + validate::kReadPadding);
    if (from.headers != nullptr) headers.emplace(*from.headers, header_names);
    facts.headers = headers ? &*headers : nullptr;
    facts.request_id = request_id;
    facts.peer_address = peer_address;
    facts.peer_is_trusted = from.peer_is_trusted;
    facts.schema_uri_default = schema_uri_default;
    facts.stream_default = stream_default;
    facts.now_json = now_json;
  }
  StoredRequest(const StoredRequest&) = delete;
  StoredRequest& operator=(const StoredRequest&) = delete;

  std::string_view text() const {
    return std::string_view(body).substr(0, body.size() - validate::kReadPadding);
  }

  std::string body;  // JSON, with the padding
  std::string peer_address;
  std::string request_id;
  std::string schema_uri_default;
  std::string stream_default;
  std::string now_json;
  std::int64_t now_ms = 0;
  std::optional<StoredHeaders> headers;
  RequestFacts facts;
  std::unique_ptr<IngestJob> job;
  std::shared_ptr<const streams::StreamSnapshot> snapshot;  // that it began with

  // Schema URIs that were asked for; what went wrong with those that failed.
  std::unordered_map<std::string, std::optional<core::Error>> schemas;
  std::size_t outstanding = 0;
};

}  // namespace sluice::intake

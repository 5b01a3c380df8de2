#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "core/config.h"
#include "produce/producer.h"

namespace sluice::intake {

// How the connection goes on after an answer, as the answer must say it.
enum class Connection : std::uint8_t { kKeepAlive, kKeepAliveHttp10, kClose };

// What is written on the wire besides the headers that every answer has.
struct Answer {
  int status = 200;
  std::string_view reason;        // empty: the usual phrase
  std::string_view content_type;  // empty: the answer has no body, and no headers about one
  std::string_view body;
  std::string_view headers;  // further header lines, each with its CRLF
  std::string_view csp;      // replaces the configured policy
  std::string_view origin;   // that may read the answer; only with cors_origins
  std::size_t content_length = 0;
  Connection connection = Connection::kKeepAlive;
};

// Writes heads of answers. Has the parts that never change prepared, and the date once a second.
// One per I/O thread.
class ReplyWriter {
 public:
  explicit ReplyWriter(const core::HttpOptions& options);

  // Sets what the Date header says from now on; cheap if the second is the same.
  void SetTime(std::chrono::system_clock::time_point now);

  // The whole answer to one event that was accepted, ready to be sent. Valid until the next
  // SetTime.
  std::string_view Accepted(produce::Durability durability, Connection connection) const {
    return accepted_[static_cast<std::size_t>(durability)][static_cast<std::size_t>(connection)];
  }

  // Replaces `out` by the head of `answer`, up to and including the empty line.
  void WriteHead(const Answer& answer, std::string& out) const;

 private:
  void PrepareAccepted();

  std::string cors_;            // of every answer
  std::string cors_of_origin_;  // behind the origin, where each has its own
  std::string csp_before_;      // the headers that go with a policy, up to its value
  std::string csp_value_;
  std::time_t second_ = -1;
  std::string date_;  // 29 characters
  std::array<std::array<std::string, 3>, 4> accepted_;
};

// The usual reason phrase of a status.
std::string_view ReasonPhrase(int status);

// A header line "Sluice-Durability: kafka" with its CRLF.
std::string_view DurabilityHeader(produce::Durability durability);

}  // namespace sluice::intake

#include "intake/http_reply.h"

#include <ctime>

namespace sluice::intake {
namespace {

using produce::Durability;

constexpr std::size_t kDateSize = 29;  // "Sun, 06 Nov 1994 08:49:37 GMT"

// A reason comes from messages, which quote clients: nothing in it may end the line.
void AppendReason(std::string& out, std::string_view reason) {
  for (const char c : reason.substr(0, 400)) {
    out.push_back(c >= ' ' && c < 127 ? c : '?');
  }
}

std::string_view ConnectionHeader(Connection connection) {
  switch (connection) {
    case Connection::kKeepAlive:
      return {};
    case Connection::kKeepAliveHttp10:
      return "Connection: keep-alive\r\n";
    case Connection::kClose:
      return "Connection: close\r\n";
  }
  return {};
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 207:
      return "Multi-Status";
    case 301:
      return "Moved Permanently";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

std::string_view DurabilityHeader(Durability durability) {
  switch (durability) {
    case Durability::kNone:
      return "Sluice-Durability: none\r\n";
    case Durability::kFile:
      return "Sluice-Durability: file\r\n";
    case Durability::kSpool:
      return "Sluice-Durability: spool\r\n";
    case Durability::kKafka:
      return "Sluice-Durability: kafka\r\n";
  }
  return {};
}

ReplyWriter::ReplyWriter(const core::HttpOptions& options) : date_(kDateSize, ' ') {
  static constexpr std::string_view kAllowed =
      "\r\naccess-control-allow-headers: accept, x-requested-with, content-type"
      "\r\naccess-control-expose-headers: etag"
      "\r\naccess-control-allow-methods: post\r\n";
  if (!options.cors_origins.empty()) {
    cors_ = "vary: Origin\r\n";
    cors_of_origin_ = kAllowed;
  } else if (options.cors) {
    cors_ = "access-control-allow-origin: " + *options.cors;
    cors_ += kAllowed;
  }
  if (options.csp) {
    csp_before_ =
        "x-xss-protection: 1; mode=block\r\n"
        "x-content-type-options: nosniff\r\n"
        "x-frame-options: SAMEORIGIN\r\n"
        "content-security-policy: ";
    csp_value_ = *options.csp;
  }
  SetTime(std::chrono::system_clock::now());
}

void ReplyWriter::SetTime(std::chrono::system_clock::time_point now) {
  const std::time_t second = std::chrono::system_clock::to_time_t(now);
  if (second == second_) return;
  second_ = second;
  std::tm parts{};
  gmtime_r(&second, &parts);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  char text[64];  // not strftime: the names must not follow the locale
  const int size = std::snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                 kDays[parts.tm_wday], parts.tm_mday, kMonths[parts.tm_mon],
                                 parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  date_.assign(text, static_cast<std::size_t>(size));
  PrepareAccepted();
}

void ReplyWriter::PrepareAccepted() {
  for (const Durability durability :
       {Durability::kNone, Durability::kFile, Durability::kSpool, Durability::kKafka}) {
    for (const Connection connection :
         {Connection::kKeepAlive, Connection::kKeepAliveHttp10, Connection::kClose}) {
      Answer answer;
      answer.status = 201;
      answer.reason = "All 1 out of 1 events were accepted.";
      answer.headers = DurabilityHeader(durability);
      answer.connection = connection;
      WriteHead(
          answer,
          accepted_[static_cast<std::size_t>(durability)][static_cast<std::size_t>(connection)]);
    }
  }
}

void ReplyWriter::WriteHead(const Answer& answer, std::string& out) const {
  out.assign("HTTP/1.1 ");
  out += std::to_string(answer.status);
  out += ' ';
  AppendReason(out, answer.reason.empty() ? ReasonPhrase(answer.status) : answer.reason);
  out += "\r\nDate: ";
  out += date_;
  out += "\r\n";
  out += cors_;
  if (!answer.origin.empty()) {
    out.append("access-control-allow-origin: ").append(answer.origin).append(cors_of_origin_);
  }
  if (!csp_before_.empty()) {
    const std::string_view policy = answer.csp.empty() ? std::string_view(csp_value_) : answer.csp;
    out += csp_before_;
    out += policy;
    out += "\r\n";
    if (!answer.csp.empty()) {
      out.append("x-content-security-policy: ").append(policy).append("\r\n");
      out.append("x-webkit-csp: ").append(policy).append("\r\n");
    }
  }
  if (!answer.content_type.empty()) {
    out += "content-type: ";
    out += answer.content_type;
    out += "\r\nvary: Accept-Encoding\r\n";
  }
  out += answer.headers;
  out += ConnectionHeader(answer.connection);
  if (answer.status != 304) {  // where it would be the length of what the client has already
    out += "content-length: ";
    out += std::to_string(answer.content_length);
    out += "\r\n";
  }
  out += "\r\n";
}

}  // namespace sluice::intake

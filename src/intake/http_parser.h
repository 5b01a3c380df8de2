#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "intake/ingest.h"

namespace sluice::intake {

// The head of a request as views into the read buffer; reused from request to request without
// allocating.
class RequestHead final : public HeaderSource {
 public:
  void Clear();

  std::string_view method() const { return method_; }
  std::string_view target() const { return target_; }  // as sent
  std::string_view path() const { return path_; }      // of the target, without query
  std::string_view query() const { return query_; }    // without '?'
  bool is_http_1_0() const { return version_ < 11; }
  bool is_asterisk() const { return target_ == "*"; }  // OPTIONS for the server itself

  std::string_view Header(std::string_view lower_case_name) const override;

 private:
  friend class RequestParser;
  struct Field {
    std::string_view name;
    std::string_view value;
  };
  const Field* Last(std::string_view lower_case_name) const;  // null without one
  void JoinForwardedFor(std::string_view value);

  std::string_view method_;
  std::string_view target_;
  std::string_view path_;
  std::string_view query_;
  int version_ = 11;
  std::vector<Field> fields_;
  std::string forwarded_for_;  // joined, if there is more than one
};

// Gets the content of a chunked body.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // False stops the parser with Beast's body_limit.
  virtual bool OnChunk(std::string_view bytes) = 0;
};

// Why a head is refused, for the answer; the connection cannot go on after it.
struct HeadRefusal {
  int status = 400;
  std::string detail;
};

// Beast's parser for one request, which the session feeds by hand: first the whole head at once,
// then, if the body is chunked, the body piece by piece. (A body with a length needs no parser.)
// Stricter than Beast where leniency lets two servers disagree about where a request ends or what
// it asks for: no transfer coding but a single "chunked", none in HTTP/1.0, one Content-Length of
// digits, one Host (RFC 9112 3.2), no folded lines, no control characters in chunk extensions, no
// second value for what says how the body is read. After it stopped with an error the connection
// cannot go on.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  // `bytes` is the head that will be put.
  RequestParser(RequestHead& head, ChunkSink& sink, std::string_view bytes,
                const core::LimitOptions& limits);

  // What to answer after putting the head gave `ec`.
  HeadRefusal Refusal(const boost::beast::error_code& ec) const;

  // The Content-Length, 0 without one. Once the head was put.
  std::uint64_t declared_length() const { return declared_length_; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;
  using field = boost::beast::http::field;
  using verb = boost::beast::http::verb;

  void on_request_impl(verb, string_view method, string_view target, int version,
                       error_code& ec) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(field name, string_view name_text, string_view value, error_code& ec) override;
  void on_header_impl(error_code& ec) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code& ec) override {
    ec = {};
  }
  std::size_t on_body_impl(string_view body, error_code& ec) override;
  void on_chunk_header_impl(std::uint64_t, string_view extensions, error_code& ec) override;
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override;
  void on_finish_impl(error_code& ec) override { ec = {}; }

  bool IsFolded(std::string_view name, std::string_view value) const;
  void CheckField(field name, std::string_view value, error_code& ec);
  void Refuse(int status, std::string detail, error_code& ec);

  RequestHead& head_;
  ChunkSink& sink_;
  std::string_view bytes_;
  const core::LimitOptions& limits_;
  std::optional<HeadRefusal> refusal_;
  std::uint64_t declared_length_ = 0;
  bool in_trailers_ = false;
};

// Where the head in `bytes` ends (one past the empty line), or 0 if it is not complete. `from` is
// how many bytes were looked at before without finding it.
std::size_t FindEndOfHead(std::string_view bytes, std::size_t from);

// Why a head of which only `bytes` have come will be refused whatever comes next, or nothing:
// another protocol, lines that end with a bare line feed, HTTP/0.9, a target that is too long. The
// sender need not wait for its deadline then. `from` as above.
std::optional<HeadRefusal> FindEarlyDefect(std::string_view bytes, std::size_t from,
                                           const core::LimitOptions& limits);

}  // namespace sluice::intake

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "intake/decompress.h"
#include "intake/http_parser.h"
#include "intake/session_host.h"

namespace sluice::intake {

// One connection: reads requests one after the other, hands events to the host's IngestHandler,
// writes the answers in order. While a request is in flight nothing is read, so a client that
// pipelines waits in the kernel's buffers. Lives on one I/O thread; stays alive, closed, until an
// answer that is owed has come. Held by its pending operations.
class Session final : public ReplySink,
                      public DeadlineEntry,
                      public ChunkSink,
                      public std::enable_shared_from_this<Session> {
 public:
  Session(SessionHost& host, Transport transport, Peer peer);
  ~Session() override { Close(); }

  void Start();
  // Takes over the host's present parts, unless a request is being answered: then after that.
  void FollowParts();
  // Closes now if no request has begun, else with the next answer.
  void Drain();
  // Refuses a request of which only a part has come: nothing of it was taken, and its sender can go
  // elsewhere. For a drain whose grace is over.
  void EndHalfRequest();
  // Ends the connection at once, whatever it was doing.
  void Close();

  void OnReply(IngestReply&& reply) override;
  void OnDeadline(Wait what) override;
  bool OnChunk(std::string_view bytes) override;

 private:
  enum class Step : std::uint8_t {
    kHandshake,
    kHead,
    kBody,
    kChunks,
    kInflate,
    kProcess,
    kWrite,
    kLinger,
    kClosed
  };
  enum class BodyPlace : std::uint8_t { kReadBuffer, kOwnBuffer };

  // Reading (session.cc). The Take functions return whether there is something to go on with at
  // once.
  void Handshake();
  void OnHandshake(const boost::system::error_code& ec);
  void Pump();
  bool SkipEmptyLines();
  bool TakeHead();
  bool RefuseHead(const HeadRefusal& refusal);
  bool WaitForHead(std::size_t got);
  bool MakeRoomForHead();
  bool TakeBody();
  bool TakeChunks();
  bool TakeInflated();
  void Read(ByteBuffer& into);
  void OnRead(ByteBuffer& into, const boost::system::error_code& ec, std::size_t bytes);
  void FinishRequest();
  void Linger();
  void GracefulClose();

  // Events (session_events.cc).
  bool BeginEvents();
  bool BeginBody(std::uint64_t length);
  bool BeginChunks();
  bool HandOver(std::string_view body);
  bool Process(std::string_view body, BodyKind kind);
  bool SendContinueIfAsked();
  core::Result<void> ReadBodyHeaders();
  bool Refuse(const core::Error& error, std::optional<int> retry_after_seconds = {});
  void AbandonRequest();

  // Limits (session_limits.cc).
  std::optional<TooFast> TakeFromClient(const RateAmounts& amounts);
  bool RefuseTooFast(const TooFast& too_fast);
  bool AnswerTooFast(const TooFast& too_fast);
  bool IsOld() const { return begun_ >= closes_after_; }

  // Answers (session_answer.cc).
  bool AnswerRoute();
  bool AnswerPage();
  void AnswerDocument(int status, std::string_view content_type, std::string_view body,
                      std::string_view headers = {}, std::string_view csp = {});
  void AnswerProblem(int status, std::string_view type, std::string_view detail,
                     std::string_view headers = {});
  void AnswerEvents(IngestReply&& reply);
  bool EndsHere() const;
  void SendAnswer(Answer& answer);
  // `owner`, if given, keeps `body` alive; else what cannot be sent at once is copied.
  void Send(std::string_view head, std::string_view body,
            std::shared_ptr<const void> owner = nullptr);
  void OnSent();
  void SkipBody();
  void Count(int status);
  std::string_view AllowedOrigin() const;
  std::string PreflightHeaders() const;

  // Stream configuration (session_stream_configs.cc).
  bool BeginForm();
  bool AnswerStreamConfigs();
  void LogUnknown(std::string_view stream) const;
  bool AnswerStreamConfigApi(std::string_view form);
  void GetStreamConfigs(streams::ServedAs served_as, const streams::StreamQuery& query);
  void OnStreamConfigs(const DocumentPtr& document);
  void SendStreamConfigs(const DocumentPtr& document);
  void AnswerTagged(std::string_view body, std::string_view etag);
  std::string StreamConfigHeaders(std::string_view etag) const;

  SessionHost& host_;
  ServerPartsPtr parts_;  // of the request that is being answered
  Transport transport_;
  Peer peer_;
  std::chrono::steady_clock::time_point closes_after_;  // with its next answer

  Step step_ = Step::kHead;
  bool pumping_ = false;
  bool head_begun_ = false;
  std::uint8_t empty_lines_ = 0;  // before the head
  bool linger_ =
      false;  // the client may still be sending: see that it gets the answer before the end
  bool answer_owed_ = false;  // the handler has not called OnReply yet
  bool in_handler_ = false;
  bool sent_in_handler_ = false;  // the answer went out while the handler still reads the request
  Connection connection_ = Connection::kKeepAlive;

  ByteBuffer in_;            // heads, and bodies that fit behind them
  std::size_t begin_ = 0;    // of what is not used up in in_
  std::size_t scanned_ = 0;  // behind begin_, without the end of a head
  Permit in_permit_;         // for in_ above its first size
  RequestHead head_;
  std::optional<RequestParser> parser_;
  const HttpRoute* route_ = nullptr;
  std::chrono::steady_clock::time_point begun_;

  AddressKey client_{};  // of the request, where clients are limited
  Permit permit_;
  BodyPlace body_place_ = BodyPlace::kReadBuffer;
  std::size_t body_length_ = 0;
  ByteBuffer body_;
  BodyKind body_kind_ = BodyKind::kJson;
  ContentCoding coding_ = ContentCoding::kIdentity;
  ByteBuffer inflated_;
  std::optional<Inflater> inflater_;  // while a compressed body is being inflated
  ByteBuffer chunks_;                 // raw bytes of a chunked body
  std::size_t chunks_begin_ = 0;
  std::optional<core::Error> body_error_;  // why OnChunk stopped, or will at the first byte

  std::string unsent_;
  std::shared_ptr<const void> unsent_owner_;  // of what is sent behind unsent_
  Permit unsent_permit_;
  std::size_t drained_ = 0;  // bytes read and thrown away while lingering
};

}  // namespace sluice::intake

#include "produce/kafka_errors.h"

#include <doctest/doctest.h>

#include <map>

namespace sluice::produce {

using core::ErrorCode;

TEST_CASE("KafkaErrors: what is persisted is delivered, whatever the code") {
  const rd_kafka_err_desc* codes = nullptr;
  std::size_t count = 0;
  rd_kafka_get_err_descs(&codes, &count);
  REQUIRE(count > 100);
  for (std::size_t i = 0; i < count; ++i) {
    const Fate fate = ClassifyReport(codes[i].code, RD_KAFKA_MSG_STATUS_PERSISTED);
    CHECK(fate.persistence == Persistence::kYes);
    CHECK(fate.replay == Replay::kNever);
  }
}

TEST_CASE("KafkaErrors: nothing but success is delivered without being persisted") {
  const rd_kafka_err_desc* codes = nullptr;
  std::size_t count = 0;
  rd_kafka_get_err_descs(&codes, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t code = codes[i].code;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER)
      continue;
    CAPTURE(code);
    CHECK(ClassifyReport(code, RD_KAFKA_MSG_STATUS_NOT_PERSISTED).persistence == Persistence::kNo);
    CHECK(ClassifyReport(code, RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED).persistence ==
          Persistence::kPerhaps);
  }
}

TEST_CASE("KafkaErrors: codes that matter") {
  struct Row {
    rd_kafka_resp_err_t error;
    ErrorCode code;
    Replay replay;
  };
  const Row rows[] = {
      {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, ErrorCode::kDeliveryTimeout, Replay::kNever},
      {RD_KAFKA_RESP_ERR__TIMED_OUT, ErrorCode::kDeliveryTimeout, Replay::kNever},
      {RD_KAFKA_RESP_ERR__TRANSPORT, ErrorCode::kDeliveryTimeout, Replay::kNever},
      {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, ErrorCode::kDeliveryTimeout, Replay::kNever},
      {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, ErrorCode::kTopicUnknown, Replay::kNever},
      {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, ErrorCode::kTopicUnknown, Replay::kNever},
      {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ErrorCode::kTopicUnknown, Replay::kNever},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, ErrorCode::kRecordTooLarge, Replay::kAlone},
      {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, ErrorCode::kRecordTooLarge, Replay::kAlone},
      {RD_KAFKA_RESP_ERR_INVALID_RECORD, ErrorCode::kDeliveryFailed, Replay::kAlone},
      {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, ErrorCode::kDeliveryFailed, Replay::kAloneNow},
      {RD_KAFKA_RESP_ERR__QUEUE_FULL, ErrorCode::kQueueFull, Replay::kNever},
      {RD_KAFKA_RESP_ERR__PURGE_QUEUE, ErrorCode::kShuttingDown, Replay::kNextGeneration},
      {RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, ErrorCode::kShuttingDown, Replay::kNextGeneration},
      {RD_KAFKA_RESP_ERR__FATAL, ErrorCode::kDeliveryFailed, Replay::kNextGeneration},
      {RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode::kDeliveryFailed,
       Replay::kNextGeneration},
      {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, ErrorCode::kDeliveryFailed, Replay::kNever},
      {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, ErrorCode::kDeliveryFailed, Replay::kNever},
      {RD_KAFKA_RESP_ERR__INVALID_ARG, ErrorCode::kInternal, Replay::kNever},
      {static_cast<rd_kafka_resp_err_t>(120), ErrorCode::kDeliveryFailed, Replay::kNever},
  };
  for (const Row& row : rows) {
    CAPTURE(rd_kafka_err2name(row.error));
    const Fate fate = ClassifyReport(row.error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED);
    CHECK(fate.code == row.code);
    CHECK(fate.replay == row.replay);
  }
}

TEST_CASE("KafkaErrors: with acks: 0 success is all there is to know") {
  CHECK(ClassifyReport(RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED)
            .persistence == Persistence::kYes);
}

TEST_CASE("KafkaErrors: the text is librdkafka's, with what a person needs beside it") {
  const auto text = [](rd_kafka_resp_err_t error, rd_kafka_msg_status_t status) {
    return DescribeFate(error, ClassifyReport(error, status), "eqiad.a");
  };
  CHECK(text(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_MSG_STATUS_NOT_PERSISTED) ==
        "Local: Message timed out");
  CHECK(text(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED) ==
        "Local: Message timed out; it may have been written all the same");
  CHECK(text(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_MSG_STATUS_NOT_PERSISTED) ==
        "Local: Unknown topic (topic eqiad.a)");
}

}  // namespace sluice::produce

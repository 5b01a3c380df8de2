#include "produce/kafka_errors.h"

namespace sluice::produce {
namespace {

// librdkafka's codes by what they say about a produced record.
enum class Cause : std::uint8_t {
  kDone,          // in the log
  kTimeout,       // nobody answered, or not the right one: may pass
  kUnknownTopic,  // no such topic or partition
  kTooLarge,      // a batch larger than the broker takes
  kSuspect,       // a batch with a record that the broker does not take
  kTimestamp,     // a batch with a record from too long ago or too far ahead
  kFull,          // our own queue
  kPurged,        // given back unsent, or sent and not waited for
  kGeneration,    // the idempotent producer's sequence is broken
  kDefect,        // we used librdkafka wrongly
  kRefused,       // the broker's own reasons, and codes that no produced record gets
};

// The one table of librdkafka's codes. It has no default: a code that a newer librdkafka adds is a
// compiler error here, and that is why it is as long as it is.
Cause CauseOf(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
    case RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER:
      return Cause::kDone;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__NODE_UPDATE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__INTR:
    case RD_KAFKA_RESP_ERR__RETRY:
    case RD_KAFKA_RESP_ERR__UNKNOWN_BROKER:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_STALE_CTRL_EPOCH:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_LISTENER_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_STALE_BROKER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_PREFERRED_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_ELIGIBLE_LEADERS_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
      return Cause::kTimeout;
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
      return Cause::kUnknownTopic;
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
      return Cause::kTooLarge;
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
      return Cause::kSuspect;
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
      return Cause::kTimestamp;
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
      return Cause::kFull;
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
      return Cause::kPurged;
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__INCONSISTENT:
    case RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING:
    case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
      return Cause::kGeneration;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__CONFLICT:
    case RD_KAFKA_RESP_ERR__STATE:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR__KEY_SERIALIZATION:
    case RD_KAFKA_RESP_ERR__VALUE_SERIALIZATION:
    case RD_KAFKA_RESP_ERR__READ_ONLY:
    case RD_KAFKA_RESP_ERR__NOENT:
    case RD_KAFKA_RESP_ERR__UNDERFLOW:
    case RD_KAFKA_RESP_ERR__INVALID_TYPE:
    case RD_KAFKA_RESP_ERR__NOT_CONFIGURED:
    case RD_KAFKA_RESP_ERR__APPLICATION:
    case RD_KAFKA_RESP_ERR__NOOP:
    case RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
      return Cause::kDefect;
    case RD_KAFKA_RESP_ERR__FAIL:
    case RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE:
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
    case RD_KAFKA_RESP_ERR__FS:
    case RD_KAFKA_RESP_ERR__ISR_INSUFF:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__UNKNOWN_GROUP:
    case RD_KAFKA_RESP_ERR__EXISTING_SUBSCRIPTION:
    case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
    case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PROTOCOL:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__NO_OFFSET:
    case RD_KAFKA_RESP_ERR__OUTDATED:
    case RD_KAFKA_RESP_ERR__KEY_DESERIALIZATION:
    case RD_KAFKA_RESP_ERR__VALUE_DESERIALIZATION:
    case RD_KAFKA_RESP_ERR__PARTIAL:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR__END:
    case RD_KAFKA_RESP_ERR_UNKNOWN:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_TXN_STATE:
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_SECURITY_DISABLED:
    case RD_KAFKA_RESP_ERR_OPERATION_NOT_ATTEMPTED:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_LOG_DIR_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_REASSIGNMENT_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_AUTH_DISABLED:
    case RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_OWNER_MISMATCH:
    case RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_REQUEST_NOT_ALLOWED:
    case RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_DELEGATION_TOKEN_EXPIRED:
    case RD_KAFKA_RESP_ERR_INVALID_PRINCIPAL_TYPE:
    case RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP:
    case RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_FETCH_SESSION_ID_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_INVALID_FETCH_SESSION_EPOCH:
    case RD_KAFKA_RESP_ERR_TOPIC_DELETION_DISABLED:
    case RD_KAFKA_RESP_ERR_MEMBER_ID_REQUIRED:
    case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_ELECTION_NOT_NEEDED:
    case RD_KAFKA_RESP_ERR_NO_REASSIGNMENT_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_GROUP_SUBSCRIBED_TO_TOPIC:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
    case RD_KAFKA_RESP_ERR_RESOURCE_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_DUPLICATE_RESOURCE:
    case RD_KAFKA_RESP_ERR_UNACCEPTABLE_CREDENTIAL:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_VOTER_SET:
    case RD_KAFKA_RESP_ERR_INVALID_UPDATE_VERSION:
    case RD_KAFKA_RESP_ERR_FEATURE_UPDATE_FAILED:
    case RD_KAFKA_RESP_ERR_PRINCIPAL_DESERIALIZATION_FAILURE:
    case RD_KAFKA_RESP_ERR__BEGIN:
    case RD_KAFKA_RESP_ERR_END_ALL:
      return Cause::kRefused;
  }
  return Cause::kRefused;  // a broker newer than this librdkafka
}

Persistence PersistenceOf(rd_kafka_msg_status_t status) {
  switch (status) {
    case RD_KAFKA_MSG_STATUS_NOT_PERSISTED:
      return Persistence::kNo;
    case RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED:
      return Persistence::kPerhaps;
    case RD_KAFKA_MSG_STATUS_PERSISTED:
      return Persistence::kYes;
  }
  return Persistence::kPerhaps;
}

}  // namespace

Fate ClassifyReport(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status) {
  using core::ErrorCode;
  const Persistence persistence = PersistenceOf(status);
  if (persistence == Persistence::kYes) return {Persistence::kYes, ErrorCode::kInternal};
  switch (CauseOf(error)) {
    case Cause::kDone:
      // With acks: 0 the status stays "perhaps", and that is what was asked for.
      return {Persistence::kYes, ErrorCode::kInternal};
    case Cause::kTimeout:
      return {persistence, ErrorCode::kDeliveryTimeout};
    case Cause::kUnknownTopic:
      return {persistence, ErrorCode::kTopicUnknown};
    case Cause::kTooLarge:
      return {persistence, ErrorCode::kRecordTooLarge, Replay::kAlone};
    case Cause::kSuspect:
      return {persistence, ErrorCode::kDeliveryFailed, Replay::kAlone};
    case Cause::kTimestamp:
      return {persistence, ErrorCode::kDeliveryFailed, Replay::kAloneNow};
    case Cause::kFull:
      return {persistence, ErrorCode::kQueueFull};
    case Cause::kPurged:
      return {persistence, ErrorCode::kShuttingDown, Replay::kNextGeneration};
    case Cause::kGeneration:
      return {persistence, ErrorCode::kDeliveryFailed, Replay::kNextGeneration};
    case Cause::kDefect:
      return {persistence, ErrorCode::kInternal};
    case Cause::kRefused:
      return {persistence, ErrorCode::kDeliveryFailed};
  }
  return {persistence, ErrorCode::kInternal};
}

std::string DescribeFate(rd_kafka_resp_err_t error, const Fate& fate, std::string_view topic) {
  std::string text = rd_kafka_err2str(error);
  if (fate.code == core::ErrorCode::kTopicUnknown || fate.code == core::ErrorCode::kDeliveryFailed)
    text.append(" (topic ").append(topic).append(")");
  if (fate.persistence == Persistence::kPerhaps) text += "; it may have been written all the same";
  return text;
}

}  // namespace sluice::produce

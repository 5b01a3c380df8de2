#include "intake/event_tap.h"

#include <utility>

namespace sluice::intake {
namespace {

constexpr std::chrono::seconds kTellEvery{1};
constexpr std::chrono::seconds kQuiet{5};

}  // namespace

std::shared_ptr<AdminStream> EventTap::Open(std::string_view stream, Wants wants,
                                            Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  ForgetClosed();
  if (clients_.size() >= static_cast<std::size_t>(options_.max_clients)) return nullptr;
  Client client;
  client.filter = {std::string(stream), wants};
  client.stream = std::make_shared<AdminStream>();
  client.stream->Push(": watching\n\n");
  client.second = client.told = now;
  clients_.push_back(client);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return client.stream;
}

std::vector<EventTap::Filter> EventTap::Filters() const {
  const std::lock_guard lock(mutex_);
  std::vector<Filter> filters;
  filters.reserve(clients_.size());
  for (const Client& client : clients_) filters.push_back(client.filter);
  return filters;
}

EventTap::Streams EventTap::Claim(std::string_view stream, Outcome outcome, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Streams streams;
  for (Client& client : clients_) {
    if (!client.filter.Takes(stream, outcome)) continue;
    if (now - client.second >= std::chrono::seconds(1)) {
      client.second = now;
      client.sent = 0;
    }
    if (client.sent >= options_.max_events_per_second) {
      ++client.above_rate;
      continue;
    }
    ++client.sent;
    streams.push_back(client.stream);
  }
  return streams;
}

void EventTap::Send(const Streams& streams, const std::string& text) {
  for (const auto& stream : streams) stream->Push(text);
}

void EventTap::Tick(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (clients_.empty()) return;
  for (Client& client : clients_) TellDropped(client, now);
  ForgetClosed();
}

void EventTap::TellDropped(Client& client, Clock::time_point now) const {
  const std::uint64_t dropped = client.dropped() - client.dropped_told;
  const bool is_due = now - client.told >= (dropped > 0 ? kTellEvery : kQuiet);
  if (!is_due) return;
  client.told = now;
  if (dropped == 0) {
    client.stream->Push(": still here\n\n");  // a peer that has gone is noticed by it
    return;
  }
  const auto pushed = client.stream->Push(
      "event: dropped\ndata: {\"dropped\":" + std::to_string(dropped) +
      ",\"max_events_per_second\":" + std::to_string(options_.max_events_per_second) + "}\n\n");
  if (pushed == AdminStream::Pushed::kTaken) {
    client.dropped_told += dropped;
  } else {
    ++client.notices_lost;
  }
}

void EventTap::ForgetClosed() {
  const std::size_t gone =
      std::erase_if(clients_, [](const Client& client) { return client.stream->closed(); });
  if (gone > 0) generation_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace sluice::intake

#include "intake/session_host.h"

#include "intake/session.h"

namespace sluice::intake {
namespace {

constexpr std::size_t kSpareBuffers = 8;
constexpr std::size_t kSpareBytes = 256 * 1024;  // larger ones go back to the allocator

}  // namespace

ServerParts::ServerParts(ConfigPtr from, AddressSet trusted, const Fixed& fixed)
    : config_owner(std::move(from)),
      config(*config_owner),
      router(config, fixed.stream_configs != nullptr ? StreamConfigRoutes::kServed
                                                     : StreamConfigRoutes::kNone),
      pages(config, router),
      trusted_proxies(std::move(trusted)),
      admission(fixed.admission),
      metrics(fixed.metrics),
      stream_configs(fixed.stream_configs),
      rates(fixed.rates),
      tls(fixed.tls) {}

void SessionHost::Use(ServerPartsPtr next) {
  parts = std::move(next);
  deadlines.Use(parts->config.limits);
  writer = ReplyWriter(parts->config.http);
  handler->UseConfig(parts->config_owner);
  for (Session* session : sessions) session->FollowParts();
}

ByteBuffer SessionHost::TakeBuffer(std::size_t capacity) {
  for (std::size_t i = spare_buffers.size(); i > 0; --i) {
    if (spare_buffers[i - 1].capacity() < capacity) continue;
    ByteBuffer buffer = std::move(spare_buffers[i - 1]);
    spare_buffers[i - 1] = std::move(spare_buffers.back());
    spare_buffers.pop_back();
    return buffer;
  }
  ByteBuffer buffer;
  buffer.Reserve(capacity);
  return buffer;
}

void SessionHost::GiveBuffer(ByteBuffer&& buffer) {
  if (buffer.capacity() == 0) return;
  if (buffer.capacity() <= kSpareBytes && spare_buffers.size() < kSpareBuffers) {
    buffer.Clear();
    spare_buffers.push_back(std::move(buffer));
  } else {
    buffer.Free();
  }
}

}  // namespace sluice::intake

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/config.h"
#include "intake/ingest.h"

namespace sluice::intake {

// A configuration that is shared by those who still go by it.
using ConfigPtr = std::shared_ptr<const core::Config>;

// Who takes the requests about events of one I/O thread; EventPipeline is the real one.
class IngestHandler {
 public:
  virtual ~IngestHandler() = default;

  // Answers through `sink` exactly once, possibly before it returns, and always on the I/O thread.
  // What the request views may go when this returns.
  virtual void Process(IngestRequest&& request, std::shared_ptr<ReplySink> sink) = 0;

  // A request about events that was refused before it came here: told to operators, nothing else.
  virtual void NoteRefused(const core::Error& error, std::string_view request_id,
                           std::uint64_t body_bytes) {
    static_cast<void>(error), static_cast<void>(request_id), static_cast<void>(body_bytes);
  }

  // Called a few times a second on the I/O thread, for deadlines.
  virtual void Tick(std::chrono::steady_clock::time_point now) = 0;

  // Goes by `config` from now on, also for requests that wait. On the I/O thread, not from inside
  // Process.
  virtual void UseConfig(ConfigPtr config) { static_cast<void>(config); }
};

// Runs a task on the I/O thread; callable from any thread. A task that comes after the thread has
// ended is dropped.
using PostFunction = std::function<void(std::function<void()>)>;

// Makes the handler of one I/O thread. Called once for each thread before it runs.
using IngestHandlerFactory = std::function<std::unique_ptr<IngestHandler>(PostFunction post)>;

}  // namespace sluice::intake

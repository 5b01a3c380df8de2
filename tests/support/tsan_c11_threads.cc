// librdkafka starts its threads and takes its locks by C11's functions, which ThreadSanitizer does
// not intercept: its threads would run without a thread state, and its locks would order nothing.
// These take the place of libc's in a test binary and go through the POSIX functions, which it does
// intercept. glibc's C11 types are its POSIX ones.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* Run(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(owned->function(owned->argument)));
}

pthread_mutex_t* Posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* Posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int Result(int error) {
  if (error == 0) return thrd_success;
  return error == ETIMEDOUT ? thrd_timedout : thrd_error;
}

}  // namespace

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

extern "C" {

// Its reference counts are atomics that ThreadSanitizer does not see either; what they order looks
// like a race.
const char* __tsan_default_suppressions() { return "race:librdkafka.so\n"; }

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int error = pthread_create(thread, nullptr, Run, start.get());
  if (error == 0) static_cast<void>(start.release());
  return Result(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return Result(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(Posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return Result(error);
}

int mtx_lock(mtx_t* mutex) { return Result(pthread_mutex_lock(Posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return Result(pthread_mutex_unlock(Posix(mutex))); }
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(Posix(mutex)); }

int cnd_init(cnd_t* condition) { return Result(pthread_cond_init(Posix(condition), nullptr)); }
int cnd_signal(cnd_t* condition) { return Result(pthread_cond_signal(Posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return Result(pthread_cond_broadcast(Posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return Result(pthread_cond_wait(Posix(condition), Posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const struct timespec* until) {
  return Result(pthread_cond_timedwait(Posix(condition), Posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(Posix(condition)); }

}  // extern "C"

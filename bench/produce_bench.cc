// What the Kafka producer costs over librdkafka itself: the same records, settings and topic
// through a bare librdkafka loop and through produce::KafkaProducer in arrays of 50, one thread
// each, one after the other.
//
//   produce_bench BOOTSTRAP [RECORDS] [BYTES]
//
// The peers of `bench/run kafka`, each as one JSON object; each line of FILE is a record, sent in
// turns:
//
//   produce_bench bare BOOTSTRAP guaranteed|hasty SECONDS FILE   records a second of the bare loop
//   produce_bench rtt BOOTSTRAP SECONDS EVERY_MS FILE   one record at a time without linger, and so
//                                                       far apart at least: microseconds
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "produce/kafka_conf.h"
#include "produce/kafka_producer.h"

namespace {

using sluice::produce::DeliveryMode;
using std::chrono::steady_clock;

constexpr std::uint32_t kArray = 50;
constexpr const char* kTopic = "bench.produce";

struct Run {
  std::string bootstrap;
  std::size_t records = 1000000;
  std::vector<std::string> values;
  DeliveryMode mode = DeliveryMode::kGuaranteed;
};

sluice::core::KafkaOptions Options(const Run& run) {
  sluice::core::KafkaOptions options;
  options.conf = {{"bootstrap.servers", run.bootstrap}, {"compression.codec", "snappy"}};
  return options;
}

double Seconds(steady_clock::time_point since) {
  return std::chrono::duration<double>(steady_clock::now() - since).count();
}

// A librdkafka producer with nothing around it. Reports are taken on the same thread between the
// records, as a loop without a service does.
class Bare {
 public:
  Bare(const Run& run, const char* linger_ms) : run_(run) {
    auto conf = sluice::produce::MakeKafkaConf(
        sluice::produce::MergeKafkaEntries(Options(run), run.mode, "bench"));
    if (!conf) std::exit(1);
    char text[512];
    if (linger_ms != nullptr)
      rd_kafka_conf_set(conf->get(), "queue.buffering.max.ms", linger_ms, text, sizeof text);
    rd_kafka_conf_set_events(conf->get(), RD_KAFKA_EVENT_DR);
    kafka_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf->release(), text, sizeof text);
    queue_ = rd_kafka_queue_get_main(kafka_);
    topic_ = rd_kafka_topic_new(kafka_, kTopic, nullptr);
  }
  ~Bare() {
    rd_kafka_topic_destroy(topic_);
    rd_kafka_queue_destroy(queue_);
    rd_kafka_destroy(kafka_);
  }

  bool Send() {
    const std::string& value = run_.values[next_];
    const bool sent =
        rd_kafka_produce(topic_, RD_KAFKA_PARTITION_UA, 0, const_cast<char*>(value.data()),
                         value.size(), nullptr, 0, nullptr) == 0;
    if (sent && ++next_ == run_.values.size()) next_ = 0;
    return sent;
  }
  void Take(int wait_ms) {
    while (rd_kafka_event_t* event = rd_kafka_queue_poll(queue_, wait_ms)) {
      done_ += rd_kafka_event_message_count(event);
      rd_kafka_event_destroy(event);
      wait_ms = 0;
    }
  }
  std::size_t done() const { return done_; }

 private:
  const Run& run_;
  rd_kafka_t* kafka_ = nullptr;
  rd_kafka_queue_t* queue_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;
  std::size_t done_ = 0;
  std::size_t next_ = 0;
};

double BareLoop(const Run& run) {
  Bare bare(run, nullptr);
  const auto start = steady_clock::now();
  for (std::size_t i = 0; i < run.records;) {
    const bool sent = bare.Send();
    if (sent) ++i;
    if (!sent || i % kArray == 0) bare.Take(sent ? 0 : 1);
  }
  while (bare.done() < run.records) bare.Take(100);
  return Seconds(start);
}

// Records delivered a second, for so long, after a second from the first one that does not count.
double BareRate(const Run& run, double seconds) {
  Bare bare(run, nullptr);
  std::size_t sent = 0;
  const auto send_for = [&](double longest) {
    for (const auto start = steady_clock::now(); Seconds(start) < longest;) {
      for (std::uint32_t i = 0; i < kArray && bare.Send(); ++i) ++sent;
      bare.Take(sent - bare.done() > 50000 ? 1 : 0);
    }
  };
  while (bare.done() == 0) send_for(0.1);
  send_for(1);
  const std::size_t before = bare.done();
  const auto start = steady_clock::now();
  send_for(seconds);
  const double rate = static_cast<double>(bare.done() - before) / Seconds(start);
  while (bare.done() < sent) bare.Take(100);
  return rate;
}

// A broker and a machine that are never idle answer sooner than those that are asked now and then.
std::vector<double> RoundTrips(const Run& run, double seconds, std::chrono::milliseconds every) {
  Bare bare(run, "0");
  std::vector<double> times;
  std::size_t sent = 0;
  for (const auto start = steady_clock::now(); Seconds(start) < seconds || sent < 100; ++sent) {
    std::this_thread::sleep_until(start + sent * every);
    const auto begin = steady_clock::now();
    bare.Send();
    while (bare.done() <= sent) bare.Take(1000);
    if (sent >= 20) times.push_back(Seconds(begin));
  }
  return times;
}

// How many requests may wait at once, and how long each took.
struct Window {
  std::mutex mutex;
  std::condition_variable room;
  std::size_t open = 0;
  std::size_t failed = 0;
  std::vector<double> latencies;
};

class Request final : public sluice::produce::Delivery {
 public:
  explicit Request(Window& window) : window_(window) { Reserve(kArray); }

 private:
  void OnAllDone() override {
    {
      const std::lock_guard lock(window_.mutex);
      --window_.open;
      window_.latencies.push_back(Seconds(start_));
      for (std::uint32_t i = 0; i < size(); ++i)
        window_.failed += slot(i).state() != sluice::produce::DeliverySlot::State::kDelivered;
    }
    window_.room.notify_one();
    delete this;
  }

  Window& window_;
  const steady_clock::time_point start_ = steady_clock::now();
};

double ThroughProducer(const Run& run, std::size_t waiting, Window& window) {
  sluice::core::Metrics metrics({}, "bench");
  sluice::produce::KafkaProducer producer(Options(run), "bench", metrics);
  if (!producer.Start()) std::exit(1);
  sluice::produce::Topic* topic = producer.OpenTopic(kTopic);
  const auto start = steady_clock::now();
  for (std::size_t i = 0; i < run.records; i += kArray) {
    {
      std::unique_lock lock(window.mutex);
      window.room.wait(lock, [&] { return window.open < waiting; });
      ++window.open;
    }
    auto* request = new Request(window);
    for (std::uint32_t k = 0; k < kArray; ++k)
      producer.Produce(*topic, DeliveryMode::kGuaranteed, {.value = run.values[0], .key = {}},
                       request->Add());
    request->Seal();
    producer.EndOfBatch();
  }
  {
    std::unique_lock lock(window.mutex);
    window.room.wait(lock, [&] { return window.open == 0; });
  }
  const double seconds = Seconds(start);
  producer.Stop(steady_clock::now() + std::chrono::seconds(5));
  return seconds;
}

double Quantile(std::vector<double>& values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))] * 1000;
}

int Peer(const std::vector<std::string>& words) {
  Run run;
  run.bootstrap = words[1];
  if (words[0] == "bare" && words[2] == "hasty") run.mode = DeliveryMode::kHasty;
  std::ifstream file(words.back());
  for (std::string line; std::getline(file, line);) run.values.push_back(line);
  if (words[0] == "bare") {
    std::printf("{\"rate\": %.0f}\n", BareRate(run, std::strtod(words[3].c_str(), nullptr)));
  } else {
    auto times = RoundTrips(run, std::strtod(words[2].c_str(), nullptr),
                            std::chrono::milliseconds(std::atoi(words[3].c_str())));
    std::printf("{\"p50\": %.0f, \"p99\": %.0f}\n", Quantile(times, 0.5) * 1000,
                Quantile(times, 0.99) * 1000);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 5 && (words[0] == "bare" || words[0] == "rtt")) return Peer(words);
  if (argc < 2) {
    std::fprintf(stderr, "produce_bench BOOTSTRAP [RECORDS] [BYTES], or see the source\n");
    return 2;
  }
  Run run;
  run.bootstrap = argv[1];
  if (argc > 2) run.records = std::strtoull(argv[2], nullptr, 10) / kArray * kArray;
  std::string value(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000, 'x');
  for (std::size_t i = 0; i < value.size(); ++i)  // neither constant nor random
    value[i] = static_cast<char>('a' + (i * i / 7) % 26);
  run.values = {value};

  Run warm = run;
  warm.records = run.records / 10;
  BareLoop(warm);
  const auto rate = [&](double seconds) { return static_cast<double>(run.records) / seconds; };
  const double bare = rate(BareLoop(run));
  std::printf("bare librdkafka loop: %.0f records/s of %zu bytes\n", bare, value.size());
  for (std::size_t waiting : {1u, 32u, 256u}) {
    Run part = run;
    if (waiting == 1) part.records = std::min<std::size_t>(run.records, 10000);
    Window window;
    const double own = static_cast<double>(part.records) / ThroughProducer(part, waiting, window);
    std::printf(
        "producer, arrays of %u, %zu at once: %.0f records/s (%.2f of bare), "
        "p50 %.1f ms, p99 %.1f ms, %zu failed\n",
        kArray, waiting, own, own / bare, Quantile(window.latencies, 0.5),
        Quantile(window.latencies, 0.99), window.failed);
  }
  return 0;
}

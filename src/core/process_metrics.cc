#include "core/process_metrics.h"

#include <dirent.h>
#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace sluice::core {
namespace {

struct Stat {
  double cpu_seconds = 0;
  double start_time_seconds = 0;  // epoch
  double virtual_bytes = 0;
  double resident_bytes = 0;
  double threads = 0;
};

double BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("btime ", 0) == 0) return std::stod(line.substr(6));
  }
  return 0;
}

// Fields as in proc(5), counted from 1; what stands before the last ')' is the program's name.
Stat ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string word;
  fields >> word;  // field 3, the state
  std::vector<double> values(4, 0);
  for (double value = 0; values.size() < 25 && fields >> value;) values.push_back(value);
  if (values.size() < 25) return {};
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  Stat stat;
  stat.cpu_seconds = (values[14] + values[15]) / ticks;
  stat.threads = values[20];
  stat.start_time_seconds = BootTimeSeconds() + values[22] / ticks;
  stat.virtual_bytes = values[23];
  stat.resident_bytes = values[24] * static_cast<double>(sysconf(_SC_PAGESIZE));
  return stat;
}

double OpenFiles() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  double count = -3;  // ".", ".." and the folder itself
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

double MaxFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

prometheus::MetricFamily Family(const char* name, const char* help, prometheus::MetricType type,
                                double value) {
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  return {name, help, type, {metric}};
}

}  // namespace

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  using prometheus::MetricType;
  const Stat stat = ReadStat();
  return {
      Family("process_cpu_seconds_total", "Processor time used", MetricType::Counter,
             stat.cpu_seconds),
      Family("process_resident_memory_bytes", "Memory in RAM", MetricType::Gauge,
             stat.resident_bytes),
      Family("process_virtual_memory_bytes", "Address space", MetricType::Gauge,
             stat.virtual_bytes),
      Family("process_open_fds", "Open file descriptors", MetricType::Gauge, OpenFiles()),
      Family("process_max_fds", "Limit of open file descriptors", MetricType::Gauge, MaxFiles()),
      Family("process_threads", "Threads", MetricType::Gauge, stat.threads),
      Family("process_start_time_seconds", "When the process started, Unix time", MetricType::Gauge,
             stat.start_time_seconds),
  };
}

}  // namespace sluice::core

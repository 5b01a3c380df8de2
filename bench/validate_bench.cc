// The engine, stage by stage, and simdjson and valijson on the same events. Prints JSON lines for
// bench/validate.
//
//   validate_bench SCHEMA_FOLDER GOLDEN_FILE ROUNDS
#include <simdjson.h>
#include <time.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "conformance/engine_runner.h"
#include "conformance/recording.h"
#include "conformance/schema_folder.h"
#include "validate/schema_text.h"

namespace sluice {
namespace {

// Seconds of processor time of this thread: other programs on the machine do not count.
double Now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

using Adapter = valijson::adapters::BoostJsonAdapter;

struct Case {
  std::string text;  // with padding behind
  std::size_t size = 0;
  std::shared_ptr<const validate::CompiledSchema> schema;
  const valijson::Schema* other_schema = nullptr;
  boost::json::value other_event;
  bool other_can = false;
  validate::Document document;
  validate::EditableEvent event;
};

struct Corpus {
  std::string name;
  std::vector<std::unique_ptr<Case>> cases;
  std::size_t bytes = 0;
};

class Bench {
 public:
  Bench(std::string folder, int rounds) : schemas_(std::move(folder)), rounds_(rounds) {}

  std::string FirstExample(const std::string& uri) {
    std::string text;
    validate::AppendJson(text, schemas_.Document(uri)->at("examples").get_array().front());
    return text;
  }

  void Add(Corpus& corpus, const std::string& uri, const std::string& text) {
    auto entry = std::make_unique<Case>();
    entry->schema = schemas_.Compiled(uri);
    if (!entry->schema) return;
    entry->size = text.size();
    entry->text = text + std::string(validate::kReadPadding, ' ');
    boost::system::error_code error;
    entry->other_event = boost::json::parse(text, error);
    entry->other_can = !error;
    entry->other_schema = OtherSchema(uri);
    entry->other_can &= entry->other_schema != nullptr && OtherEnds(*entry);
    if (!reader_.Read({entry->text.data(), entry->size}, {}, entry->document)) return;
    entry->event.Load(entry->document, 0);
    corpus.bytes += text.size();
    corpus.cases.push_back(std::move(entry));
  }

  void Run(Corpus& corpus) {
    Measure(corpus, "sluice", "parse", [this](Case& c) { Parse(c); });
    Measure(corpus, "sluice", "parse+validate", [this](Case& c) {
      Parse(c);
      event_.Load(document_, 0);
      verdicts_ += validator_.Validate(*c.schema, event_) == validate::Verdict::kValid;
    });
    Measure(corpus, "sluice", "validate", [this](Case& c) {
      verdicts_ += validator_.Validate(*c.schema, c.event) == validate::Verdict::kValid;
    });
    Measure(corpus, "simdjson", "parse", [this](Case& c) {
      verdicts_ += simdjson_.parse(c.text.data(), c.size, false).error() == simdjson::SUCCESS;
    });
    Measure(corpus, "valijson", "parse+validate", [this](Case& c) {
      if (!c.other_can) return;
      const boost::json::value event = boost::json::parse({c.text.data(), c.size});
      valijson::ValidationResults results;
      verdicts_ += other_.validate(*c.other_schema, Adapter(event), &results);
    });
    Measure(corpus, "valijson", "validate", [this](Case& c) {
      if (!c.other_can) return;
      valijson::ValidationResults results;
      verdicts_ += other_.validate(*c.other_schema, Adapter(c.other_event), &results);
    });
  }

  // Compiles every version file below the folder; documents are read before the clock starts.
  void Compile(const std::string& folder) {
    std::vector<std::string> uris;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      const bool version = name.ends_with(".yaml") && name.find_first_of("0123456789") == 0;
      if (!version || entry.is_symlink()) continue;
      uris.push_back("/" + std::filesystem::relative(entry.path(), folder).string());
      schemas_.Document(uris.back());
    }
    validate::CompileOptions options;
    options.secure_check = false;
    std::vector<double> seconds;
    std::size_t bytes = 0;
    for (int round = 0; round < rounds_; ++round) {
      bytes = 0;
      const double begin = Now();
      for (const std::string& uri : uris) {
        std::string problem;
        const auto schema = test::Compile(uri, *schemas_.Document(uri), options, nullptr, problem);
        if (!schema) {
          std::fprintf(stderr, "%s\n", problem.c_str());
          continue;
        }
        bytes += schema->memory_bytes();
      }
      seconds.push_back(Now() - begin);
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf(R"({"who":"sluice","corpus":"compile","files":%zu,"seconds":%.4f,"bytes":%zu})"
                "\n",
                uris.size(), seconds[seconds.size() / 2], bytes);
  }

 private:
  void Parse(Case& c) {
    const auto read = reader_.Read({c.text.data(), c.size}, {}, document_);
    if (!read) std::abort();
  }

  // valijson throws on some events, a number where a format is asked for, say.
  bool OtherEnds(const Case& c) {
    try {
      valijson::ValidationResults results;
      verdicts_ += other_.validate(*c.other_schema, Adapter(c.other_event), &results);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  const valijson::Schema* OtherSchema(const std::string& uri) {
    const auto [known, fresh] = other_schemas_.try_emplace(uri);
    auto& schema = known->second;
    if (!fresh) return schema.get();
    schema = std::make_unique<valijson::Schema>();
    try {
      valijson::SchemaParser().populateSchema(Adapter(*schemas_.Document(uri)), *schema);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "valijson: %s: %s\n", uri.c_str(), e.what());
      schema.reset();
    }
    return schema.get();
  }

  void Measure(Corpus& corpus, const char* who, const char* what,
               const std::function<void(Case&)>& step) {
    constexpr double kRoundSeconds = 0.15;
    std::vector<double> nanoseconds;
    double per_event = 1;
    for (int round = -1; round < rounds_; ++round) {  // the first warms up
      std::size_t events = 0;
      const double begin = Now();
      double spent = 0;
      // In batches, since the clock costs as much as an event; a slow peer is asked after each.
      const std::size_t batch = per_event < 1e-5 ? 256 : 1;
      while (spent < kRoundSeconds) {
        for (std::size_t i = 0; i < batch; ++i, ++events) {
          step(*corpus.cases[events % corpus.cases.size()]);
        }
        spent = Now() - begin;
      }
      per_event = spent / static_cast<double>(events);
      if (round >= 0) nanoseconds.push_back(spent * 1e9 / static_cast<double>(events));
    }
    std::sort(nanoseconds.begin(), nanoseconds.end());
    std::printf(
        R"({"who":"%s","corpus":"%s","what":"%s","ns":%.1f,"min":%.1f,"max":%.1f,"events":%zu,"bytes":%zu})"
        "\n",
        who, corpus.name.c_str(), what, nanoseconds[nanoseconds.size() / 2], nanoseconds.front(),
        nanoseconds.back(), corpus.cases.size(), corpus.bytes / corpus.cases.size());
  }

  test::SchemaFolder schemas_;
  int rounds_;
  std::map<std::string, std::unique_ptr<valijson::Schema>> other_schemas_;
  validate::Reader reader_;
  validate::Document document_;
  validate::EditableEvent event_;
  validate::Validator validator_;
  valijson::Validator other_;
  simdjson::dom::parser simdjson_;  // says how fast the machine is just now
  std::size_t verdicts_ = 0;
};

int Main(const std::string& folder, const std::string& golden, int rounds) {
  Bench bench(folder, rounds);
  Corpus corpora[4] = {{"small", {}, 0}, {"large", {}, 0}, {"valid", {}, 0}, {"invalid", {}, 0}};
  const std::string small = "/mediawiki/revision/create/2.0.0";
  const std::string large = "/mediawiki/page/change/1.2.0";
  bench.Add(corpora[0], small, bench.FirstExample(small));
  bench.Add(corpora[1], large, bench.FirstExample(large));
  const std::string text = test::ReadFile(golden);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const test::Recording line(text.substr(at, end - at));
    at = end + 1;
    if (line.Find("load_error") != nullptr) continue;
    const bool valid = line.Find("valid")->kind() == validate::Kind::kTrue;
    bench.Add(corpora[valid ? 2 : 3], line.String("schema"), line.String("raw"));
  }
  for (Corpus& corpus : corpora) bench.Run(corpus);
  bench.Compile(folder);
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "validate_bench SCHEMA_FOLDER GOLDEN_FILE ROUNDS\n");
    return 2;
  }
  return sluice::Main(argv[1], argv[2], std::atoi(argv[3]));
}

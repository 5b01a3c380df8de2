#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "fetch/http_fetcher.h"
#include "registry/compile_function.h"
#include "registry/schema_document.h"
#include "registry/schema_uri.h"

namespace sluice::registry {

// What loading needs from around it. Outlives every task. All of it is called on the thread that
// runs the task.
struct LoadEnvironment {
  std::vector<BaseUri> bases;
  std::string file_extension;
  AbsoluteUris absolute = AbsoluteUris::kRefused;
  CompileFunction compile;
  // Fetches a URL and calls back on the thread that runs tasks. May be null if no base is remote.
  std::function<void(std::string url, std::function<void(fetch::HttpReply)>)> fetch;
  // A schema compiled before from the document at this location, or null: then another name for it
  // costs no memory.
  std::function<SchemaPtr(const std::string& location)> compiled_from;
};

// What became of one schema URI.
struct LoadResult {
  core::Result<SchemaPtr> schema{SchemaPtr()};
  std::string location;  // where its document lies, if it was found
};

// Loads one schema: finds its document in the first base that has it, then those that its $refs
// name, and compiles. Keeps itself alive until it has called `done`, once. Not thread-safe: one
// thread at a time.
class LoadTask : public std::enable_shared_from_this<LoadTask> {
 public:
  // `uri` is normalised (NormalizeSchemaUri); `shown_uri` is what messages name.
  static void Start(const LoadEnvironment& environment, std::string uri, std::string shown_uri,
                    std::function<void(LoadResult)> done);

 private:
  struct Candidate {
    bool remote = false;
    std::string folder;  // of a local one
    std::string path;    // below the folder, or the whole URL
  };
  struct Document {
    boost::json::value value;
    std::string location;
  };

  LoadTask(const LoadEnvironment& environment, std::string uri, std::string shown_uri,
           std::function<void(LoadResult)> done);

  void FindNextDocument();
  // Where to look for a document; an error if nowhere may be looked.
  core::Result<std::vector<Candidate>> CandidatesFor(std::string_view uri) const;
  void TryNextCandidate();
  void TryRemote(const std::string& url, int links);
  void OnDocument(FoundDocument found);
  std::string BrokenRef(std::string_view why) const;
  void FailDocument();
  void Compile();
  void Finish(core::Result<SchemaPtr> result);
  void Fail(core::ErrorCode code, std::string_view why);

  const LoadEnvironment& environment_;
  const std::string uri_;
  const std::string shown_uri_;
  std::function<void(LoadResult)> done_;

  std::deque<std::string> wanted_;  // the front is being looked for
  std::unordered_map<std::string, Document> documents_;
  std::vector<Candidate> candidates_;
  std::size_t next_candidate_ = 0;
  FindStatus worst_ = FindStatus::kNotFound;  // of the candidates so far, and why
  std::string reasons_;
  int compilations_ = 0;
};

}  // namespace sluice::registry

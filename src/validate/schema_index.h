#pragma once

#include <boost/json/value.hpp>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/uri_ref.h"

namespace sluice::validate {

// One schema document that takes part in a compilation.
struct SchemaDocument {
  std::string uri;  // under which it was asked for, without fragment
  const boost::json::value* root = nullptr;
};

// Where a (sub)schema stands.
struct SchemaPlace {
  const boost::json::value* schema = nullptr;
  const SchemaDocument* document = nullptr;
  std::string base;     // the base URI around it; BaseWithin gives the one inside
  std::string pointer;  // within the document
};

// The documents of one compilation, and the names ($id, id, plain-name fragments) given in them.
// Names are known to this compilation only: a nested $id never takes the place of a document for
// another schema. Not thread-safe.
class SchemaIndex {
 public:
  using Documents = std::function<const boost::json::value*(std::string_view uri)>;

  explicit SchemaIndex(Documents documents) : documents_(std::move(documents)) {}

  // Takes a document in and indexes its names. Returns what is wrong with it, or an empty text.
  std::string Add(std::string_view uri, const boost::json::value& root);
  // The root of the document that was added first.
  SchemaPlace Root() const { return RootOf(added_.front()); }
  static SchemaPlace RootOf(const SchemaDocument& document) {
    return {document.root, &document, document.uri, ""};
  }

  // What `reference`, standing in a schema with that base, refers to. Empty if there is no such
  // thing; then either needed() has grown or problem() says why not.
  std::optional<SchemaPlace> Resolve(const std::string& base, std::string_view reference);

  // The base within `schema`, which stands where `base` holds: its own $id counts, unless it is
  // beside a $ref.
  static std::string BaseWithin(const std::string& base, const boost::json::value& schema);

  const std::vector<std::string>& needed() const { return needed_; }
  const std::string& problem() const { return problem_; }
  const std::deque<SchemaDocument>& documents() const { return added_; }

  // Nesting of JSON values that a document may have.
  static constexpr int kMaxNesting = 1000;

 private:
  void IndexNames(const SchemaPlace& place);
  void IndexChildren(const SchemaPlace& place, std::string_view key,
                     const boost::json::value& value);
  void Name(const std::string& uri, const SchemaPlace& place);
  bool Load(const std::string& uri);
  std::optional<SchemaPlace> Follow(SchemaPlace place, const std::string& fragment, int hops);
  std::optional<SchemaPlace> ResolveHop(const std::string& base, std::string_view reference,
                                        int hops);

  Documents documents_;
  std::deque<SchemaDocument> added_;
  std::map<std::string, SchemaPlace, std::less<>> names_;  // absolute URIs, "…#name" for fragments
  std::vector<std::string> needed_;
  std::string problem_;
};

}  // namespace sluice::validate

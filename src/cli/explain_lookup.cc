#include "cli/explain_lookup.h"

#include <algorithm>

#include "cli/explain_text.h"
#include "core/suggest.h"
#include "registry/schema_document.h"
#include "registry/schema_uri.h"
#include "registry/version_files.h"

namespace sluice::cli {
namespace {

std::string_view TitleOf(std::string_view uri) {
  return uri.substr(0, uri.rfind('/') == std::string_view::npos ? 0 : uri.rfind('/'));
}

std::string_view VersionOf(std::string_view uri) {
  return uri.substr(std::min(uri.rfind('/') + 1, uri.size()));
}

// What the local bases have that is near to a URI which they have not.
std::string Nearby(const std::vector<registry::BaseUri>& bases, std::string_view uri) {
  std::vector<std::string> uris;
  for (const registry::BaseUri& base : bases) {
    if (base.remote) continue;
    std::vector<std::string> problems;
    for (registry::VersionFile& file : registry::FindVersionFiles(base.prefix, problems)) {
      uris.push_back(std::move(file.uri));
    }
  }
  std::vector<std::string_view> versions;
  std::vector<std::string_view> titles;
  for (const std::string& known : uris) {
    if (TitleOf(known) == TitleOf(uri)) versions.push_back(VersionOf(known));
    if (titles.empty() || titles.back() != TitleOf(known)) titles.push_back(TitleOf(known));
  }
  if (!versions.empty()) {
    return std::string(TitleOf(uri)) + " is there in other versions: " + List(versions);
  }
  const std::string_view near = core::Nearest(TitleOf(uri), titles);
  if (near.empty()) return {};
  for (const std::string& known : uris) {
    if (TitleOf(known) == near) versions.push_back(VersionOf(known));
  }
  return "did you mean " + std::string(near) + "? It is there in version " + List(versions);
}

std::string SourceOf(const core::StreamOptions& options) {
  std::string source;
  const auto add = [&](const std::string& name) {
    if (!source.empty()) source += ", ";
    source += name;
  };
  if (!options.inline_config.empty()) add("stream_config");
  for (const std::string& file : options.config_files) add(file);
  if (!options.config_uri.empty()) add(options.config_uri);
  return source;
}

}  // namespace

void TellSchemaPlaces(const core::SchemaOptions& options, std::string_view uri, Loaded loaded,
                      Step& step) {
  const auto absolute = options.allow_absolute_uris ? registry::AbsoluteUris::kAllowed
                                                    : registry::AbsoluteUris::kRefused;
  const auto path = registry::NormalizeSchemaUri(uri, absolute);
  if (!path) return;
  if (registry::IsAbsolute(*path)) {
    step.text = "the schema is fetched from its own URL";
    return;
  }
  const std::string file = registry::WithExtension(*path, options.file_extension);
  std::vector<registry::BaseUri> bases;
  for (const std::string& text : options.base_uris) {
    if (const auto base = registry::ParseBaseUri(text)) bases.push_back(*base);
  }
  for (const registry::BaseUri& base : bases) {
    if (base.remote) {
      if (loaded == Loaded::kYes && bases.size() == 1) {
        step.text = "found at " + base.prefix + file;
        return;
      }
      step.hints.push_back("asked for at " + base.prefix + file);
      continue;
    }
    const registry::FoundDocument found = registry::ReadUnderFolder(base.prefix, file);
    if (found.status == registry::FindStatus::kFound) {
      step.text = "found in the file " + found.location;
      return;
    }
    step.hints.push_back("not in " + base.prefix + file);
  }
  if (loaded == Loaded::kYes) {
    step.text = "found at one of the remote places of schema_base_uris";
    return;
  }
  step.text = "there is no schema " + std::string(uri) + " in any of schema_base_uris";
  const std::string near = Nearby(bases, uri);
  if (!near.empty()) step.hints.push_back(near);
}

void TellStreamEntry(const core::StreamOptions& options, const streams::StreamSnapshot* snapshot,
                     std::string_view stream, Step& step) {
  if (snapshot == nullptr) {
    step.text = "no stream configuration is set: any schema may go to any stream";
    return;
  }
  const std::string source = SourceOf(options);
  const streams::StreamSettings* settings = snapshot->Find(stream);
  if (settings == nullptr) {
    step.text = "there is no stream " + std::string(stream) + " in the stream configuration (" +
                source + ")";
    std::vector<std::string_view> keys;
    for (std::size_t i = 0; i < snapshot->size(); ++i) keys.push_back(snapshot->entry(i).key);
    const std::string_view near = core::Nearest(stream, keys);
    step.hints.push_back(near.empty() ? "add it there, or name another stream in the event"
                                      : "did you mean " + std::string(near) + "?");
    return;
  }
  step.text = (settings->regex ? "the regular expression " : "the entry ") + settings->key +
              " of " + (settings->declared ? "the declared streams" : source) + " counts";
  if (settings->schema_title) {
    step.hints.push_back("it takes events of schemas with the title " + *settings->schema_title);
  }
  for (const auto& [key, field] : settings->message_key_fields) {
    step.hints.push_back("its record key has " + key + " from the field " + field);
  }
}

}  // namespace sluice::cli

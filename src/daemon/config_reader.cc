#include "daemon/config_reader.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "core/suggest.h"
#include "daemon/config_checks.h"
#include "daemon/config_table.h"
#include "daemon/config_value.h"
#include "daemon/service_file.h"
#include "produce/kafka_conf.h"

namespace sluice::daemon {
namespace {

constexpr std::string_view kFactoryModule = "eventgate_factory_module";
constexpr std::string_view kHeadersToFields = "http_request_headers_to_fields";

// One reading of one source. Values are collected first, in the order in which they are given, and
// stored when all are known, since the defaults below them depend on the shape and on the factory.
class Reader {
 public:
  explicit Reader(const ConfigSource& source) : source_(source) {}

  ConfigReading Read();

 private:
  enum class Origin : std::uint8_t { kFile, kOption };
  struct Value {
    const ConfigKey* key = nullptr;
    std::string entry;  // of a map-like key; empty: the whole
    YAML::Node node;
    std::string where;
  };

  bool ReadFile();  // false: there is nothing to go on with
  void ReadServiceFile(const YAML::Node& root);
  void ReadService(const YAML::Node& service);
  void ReadSet(const std::string& text);
  void Walk(const YAML::Node& map, const std::string& prefix, Origin origin);
  void Take(const std::string& name, const YAML::Node& name_node, const YAML::Node& value,
            Origin origin);
  void TakeHeadersToFields(const YAML::Node& value, const std::string& where);
  void RefuseUnknown(const std::string& name, const std::string& where);
  void StoreAll();
  void Store(const Value& value);
  void DropIgnoredKafkaEntries();

  std::string WhereOf(const YAML::Mark& mark, Origin origin) const;
  void Complain(std::string where, std::string_view key, std::string text) {
    out_.problems.push_back({std::move(where), std::string(key), std::move(text)});
  }
  void Ignore(std::string where, std::string_view key, std::string_view reason) {
    out_.ignored.push_back({std::move(where), std::string(key), std::string(reason)});
  }

  const ConfigSource& source_;
  ConfigReading out_;
  std::deque<Value>
      values_;  // never assigned to: that would change the YAML that a node stands for
  std::map<std::string, std::string, std::less<>> given_in_file_;
  std::optional<std::string> factory_module_;
};

std::string Reader::WhereOf(const YAML::Mark& mark, Origin origin) const {
  if (origin == Origin::kOption) return "--set";
  if (mark.is_null()) return source_.file;
  return source_.file + ':' + std::to_string(mark.line + 1);
}

void Reader::RefuseUnknown(const std::string& name, const std::string& where) {
  std::vector<std::string_view> names;
  for (const ConfigKey& key : ConfigKeys()) {
    names.push_back(key.name);
    names.push_back(key.name.substr(0, key.name.find('.')));
  }
  for (const IgnoredKeyName& key : IgnoredKeyNames()) names.push_back(key.name);
  for (const std::string_view name_elsewhere : {kFactoryModule, kHeadersToFields})
    names.push_back(name_elsewhere);
  const std::string_view nearest = core::Nearest(name, names);
  std::string text = "is not a known key; ";
  if (nearest.empty()) {
    text += "remove it, or see docs/configuration.md for the names";
  } else {
    text += "did you mean " + std::string(nearest) + "?";
  }
  Complain(where, name, std::move(text));
}

// One name with its value: a key, a section, an entry of a map-like key, a key to ignore, or a
// mistake.
void Reader::Take(const std::string& name, const YAML::Node& name_node, const YAML::Node& value,
                  Origin origin) {
  const std::string where = WhereOf(name_node.Mark(), origin);
  const ConfigKey* key = FindKey(ResolveAlias(name));
  std::string_view entry;
  if (key == nullptr) key = FindKeyOfEntry(name, entry);
  if (key == nullptr && IsSection(name)) {
    if (value.IsMap()) {
      Walk(value, name + '.', origin);
    } else if (!value.IsNull()) {
      Complain(where, name, "is a section; give a map with keys of " + name + ".*");
    }
    return;
  }
  if (origin == Origin::kFile) {
    const auto [earlier, is_first] = given_in_file_.emplace(name, where);
    if (!is_first) {
      Complain(where, name, "is given twice, first at " + earlier->second + "; keep one");
      return;
    }
  }
  if (key != nullptr) {
    if (!value.IsNull()) values_.push_back({key, std::string(entry), value, where});
    return;
  }
  if (name == kFactoryModule) {
    if (value.IsScalar()) factory_module_ = value.Scalar();
    return;
  }
  if (name == kHeadersToFields) {
    TakeHeadersToFields(value, where);
    return;
  }
  if (const std::string_view reason = ReasonIgnored(name); !reason.empty()) {
    Ignore(where, name, reason);
    return;
  }
  RefuseUnknown(name, where);
}

// An older form of enrichment.request_headers, with the header on the left.
void Reader::TakeHeadersToFields(const YAML::Node& value, const std::string& where) {
  if (!value.IsMap()) {
    Complain(where, kHeadersToFields, "is not a map; give {header: field path}");
    return;
  }
  YAML::Node turned(YAML::NodeType::Map);
  for (const auto& member : value) {
    if (!member.second.IsScalar()) {
      Complain(where, kHeadersToFields, "has an entry that is no text; give {header: field path}");
      return;
    }
    turned[member.second.Scalar()] = member.first.Scalar();
  }
  values_.push_back({FindKey("enrichment.request_headers"), {}, turned, where});
}

void Reader::Walk(const YAML::Node& map, const std::string& prefix, Origin origin) {
  for (const auto& member : map) {
    if (!member.first.IsScalar()) {
      Complain(WhereOf(member.first.Mark(), origin), prefix,
               "has a key that is no text; give a name");
      continue;
    }
    Take(prefix + member.first.Scalar(), member.first, member.second, origin);
  }
}

void Reader::ReadService(const YAML::Node& service) {
  for (const auto& member : service) {
    const std::string name = member.first.Scalar();
    const std::string where = WhereOf(member.first.Mark(), Origin::kFile);
    if (name == "conf") {
      if (member.second.IsMap()) {
        Walk(member.second, "", Origin::kFile);
      } else if (!member.second.IsNull()) {
        Complain(where, "services[0].conf", "is not a map; give keys and values");
      }
    } else if (name == "name") {
      // The name of the whole file, if given, stands behind it in `values_` and wins.
      values_.push_front({FindKey("service_name"), {}, member.second, where});
    } else if (const std::string_view reason = ReasonIgnored(name); !reason.empty()) {
      Ignore(where, name, reason);
    } else {
      Complain(where, "services[0]." + name,
               "is not a known key; move settings of the service below conf");
    }
  }
}

void Reader::ReadServiceFile(const YAML::Node& root) {
  out_.shape = ConfigShape::kServiceFile;
  for (const auto& member : root) {
    const std::string name = member.first.Scalar();
    const std::string where = WhereOf(member.first.Mark(), Origin::kFile);
    const YAML::Node& value = member.second;
    if (name == "services") {
      if (!value.IsSequence() || value.size() != 1 || !value[0].IsMap()) {
        Complain(where, name,
                 "must be a list of exactly one service; start one process for each service");
      } else {
        ReadService(value[0]);
      }
    } else if (name == "metrics" && value.IsSequence()) {  // newer files may list several sinks
      for (const YAML::Node& sink : value) {
        const bool is_prometheus = sink.IsMap() && sink["type"] && sink["type"].IsScalar() &&
                                   sink["type"].Scalar() == "prometheus";
        if (is_prometheus) {
          Walk(sink, "metrics.", Origin::kFile);
        } else {
          Ignore(where, "metrics", "only sinks of type prometheus are served");
        }
      }
    } else if (name == "metrics" || name == "logging" || name == "service_name" ||
               !ReasonIgnored(name).empty()) {
      Take(name, member.first, value, Origin::kFile);
    } else if (FindKey(name) != nullptr || IsSection(name)) {
      Complain(where, name, "stands beside services; move it below services[0].conf");
    } else {
      RefuseUnknown(name, where);
    }
  }
}

bool Reader::ReadFile() {
  errno = 0;
  std::ifstream file(source_.file);
  std::stringstream text;
  text << file.rdbuf();  // of an empty file this fails too, but without an errno
  if (!file.is_open() || errno != 0) {
    Complain(source_.file, "",
             "cannot be read (" + std::string(std::strerror(errno)) +
                 "); name a readable YAML file with --config");
    return false;
  }
  YAML::Node root;
  try {
    root = YAML::Load(text.str());
  } catch (const YAML::Exception& error) {
    Complain(WhereOf(error.mark, Origin::kFile), "",
             "is not YAML (" + error.msg + "); mend the text at column " +
                 std::to_string(error.mark.column + 1));
    return false;
  }
  if (root.IsNull()) return true;
  if (!root.IsMap()) {
    Complain(source_.file, "", "is not a map; give keys and values at the top level");
    return false;
  }
  try {
    if (root["services"]) {
      ReadServiceFile(root);
    } else {
      Walk(root, "", Origin::kFile);
    }
  } catch (const YAML::Exception& error) {  // of a node whose shape we did not foresee
    Complain(WhereOf(error.mark, Origin::kFile), "", error.msg + "; mend the text there");
  }
  return true;
}

void Reader::ReadSet(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    Complain("--set", text, "is not key=value; for example --set port=0");
    return;
  }
  const std::string name = text.substr(0, equals);
  try {
    const YAML::Node value = YAML::Load(text.substr(equals + 1));
    Take(name, value, value, Origin::kOption);
  } catch (const YAML::Exception& error) {
    Complain("--set", name, "has a value that is not YAML (" + error.msg + "); quote it");
  }
}

void Reader::Store(const Value& value) {
  try {
    const std::optional<std::string> complaint =
        value.entry.empty() ? StoreValue(*value.key, value.node, out_.config)
                            : StoreEntry(*value.key, value.entry, value.node, out_.config);
    std::string name(value.key->name);
    out_.places[name] = value.where;
    if (!value.entry.empty()) {
      out_.places[name + ' ' + value.entry] = value.where;
      name += '.' + value.entry;
    } else if (value.node.IsMap()) {
      const Origin origin = value.where == "--set" ? Origin::kOption : Origin::kFile;
      for (const auto& member : value.node) {
        out_.places[name + ' ' + member.first.Scalar()] = WhereOf(member.second.Mark(), origin);
      }
    }
    if (complaint) Complain(value.where, name, *complaint);
  } catch (const YAML::Exception& error) {
    Complain(value.where, value.key->name, error.msg + "; mend the value");
  }
}

void Reader::DropIgnoredKafkaEntries() {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.notation != Notation::kKafkaConf) continue;
    core::StringPairs& pairs = std::get<Member<core::StringPairs>>(key.target)(out_.config);
    std::erase_if(pairs, [&](const auto& pair) {
      if (!produce::IsIgnoredKafkaEntry(pair.first)) return false;
      const std::string name(key.name);
      Ignore(out_.places[name + ' ' + pair.first], name + '.' + pair.first,
             "it is for the original's Kafka client; delivery reports are taken as they come");
      return true;
    });
  }
}

void Reader::StoreAll() {
  const bool is_service_file = out_.shape == ConfigShape::kServiceFile;
  if (is_service_file) ApplyServiceFileDefaults(out_.config);
  if (factory_module_ ? IsGenericFactory(*factory_module_) : is_service_file) {
    ApplyGenericFactoryDefaults(out_.config);
  }
  for (const Value& value : values_) Store(value);
  DropIgnoredKafkaEntries();
  if (!out_.places.contains("output") && NamesBrokers(out_.config.output.kafka)) {
    out_.config.output.kind = core::OutputKind::kKafka;
  }
  out_.config.log.service_name = out_.config.service_name;
}

ConfigReading Reader::Read() {
  if (!source_.file.empty() && !ReadFile()) return std::move(out_);
  for (const std::string& text : source_.sets) ReadSet(text);
  StoreAll();
  CheckConfig(out_);
  return std::move(out_);
}

}  // namespace

std::string ConfigProblem::Line() const {
  std::string line;
  for (const std::string& part : {where, key}) {
    if (!part.empty()) line += part + ": ";
  }
  return line + text;
}

ConfigReading ReadConfig(const ConfigSource& source) { return Reader(source).Read(); }

}  // namespace sluice::daemon

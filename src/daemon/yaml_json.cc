#include "daemon/yaml_json.h"

#include <yaml-cpp/yaml.h>

#include <boost/json/serialize.hpp>

#include "core/json_text.h"
#include "core/yaml_scalar.h"

namespace sluice::daemon {
namespace {

void AppendScalar(std::string& out, const YAML::Node& value) {
  if (value.Tag() == "?") {  // not quoted
    out += boost::json::serialize(core::PlainScalar(value.Scalar()));
  } else {
    core::AppendJsonString(out, value.Scalar());
  }
}

void Append(std::string& out, const YAML::Node& value) {
  switch (value.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      out += "null";
      return;
    case YAML::NodeType::Scalar:
      AppendScalar(out, value);
      return;
    case YAML::NodeType::Sequence: {
      out += '[';
      for (const YAML::Node& element : value) {
        if (out.back() != '[') out += ',';
        Append(out, element);
      }
      out += ']';
      return;
    }
    case YAML::NodeType::Map: {
      out += '{';
      for (const auto& member : value) {
        if (out.back() != '{') out += ',';
        core::AppendJsonString(out, member.first.Scalar());
        out += ':';
        Append(out, member.second);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::string YamlToJson(const YAML::Node& value) {
  std::string json;
  Append(json, value);
  return json;
}

}  // namespace sluice::daemon

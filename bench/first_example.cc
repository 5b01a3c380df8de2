// Prints the first example of a schema file as compact JSON: first_example FILE
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "core/yaml_json.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto schema = sluice::core::ParseYamlOrJson(text, sluice::core::ErrorCode::kSchemaUnusable);
  if (!schema.has_value()) {
    std::fprintf(stderr, "%s\n", schema.error().message.c_str());
    return 1;
  }
  std::puts(boost::json::serialize(schema->at("examples").at(0)).c_str());
  return 0;
}

#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A schema document as the original's JavaScript sees it: order of members, text of values.
namespace sluice::validate {

// Whether JavaScript treats the key as an array index, and so lists it before all other keys, in
// numeric order: "0", "17", up to 4294967294, without leading zeros.
bool IsArrayIndex(std::string_view key);

using SchemaMember = std::pair<std::string_view, const boost::json::value*>;

// The members in the order in which JavaScript enumerates them. Views into `object`.
std::vector<SchemaMember> MembersInOrder(const boost::json::object& object);

// Appends what JSON.stringify makes of the value, but numbers that JavaScript cannot print come as
// 1e999 and -1e999 so that the text keeps its meaning.
void AppendJson(std::string& out, const boost::json::value& value);

// The number as a double; the value must be a number.
double NumberOf(const boost::json::value& value);

// Appends "/" and the key with ~ and / escaped: one token of a JSON pointer.
void AppendPointerStep(std::string& pointer, std::string_view key);

// Appends the key as ajv writes it into a dataPath: ".name", or "['na-me']" with escapes.
void AppendPropertyPath(std::string& out, std::string_view key);

// How deep objects and arrays are nested, counted up to `bound`. Without recursion beyond it.
int NestingDepth(const boost::json::value& value, int bound);

}  // namespace sluice::validate

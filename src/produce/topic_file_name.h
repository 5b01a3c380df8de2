#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::produce {

// The file of a topic: the topic's name and ".ndjson". Letters, digits, '_', '-' and '.' stand as
// they are, except a dot in front; every other byte becomes %XX (upper-case hex), so that two
// topics never share a file and none leaves its folder. Nullopt if the topic is empty or the name
// would be longer than the 255 bytes that file systems take.
std::optional<std::string> TopicFileName(std::string_view topic);

}  // namespace sluice::produce

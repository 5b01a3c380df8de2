#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sluice::core {

// How many letters must be changed, put in, left out or swapped with their neighbour to make one
// word of the other.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The word that `typed` was most likely meant to be, or empty if none is near. Dotted names are
// also compared by their last part ("max_depth" finds "limits.max_depth").
std::string_view Nearest(std::string_view typed, std::span<const std::string_view> words);

}  // namespace sluice::core

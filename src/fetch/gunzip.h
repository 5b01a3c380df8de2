#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::fetch {

// Decompresses a gzip or zlib stream. Null on success, else what is wrong: not gzip, cut short,
// above `max_bytes`.
const char* Gunzip(std::string_view compressed, std::size_t max_bytes, std::string& out);

}  // namespace sluice::fetch

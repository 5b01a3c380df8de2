#pragma once

#include <string>
#include <string_view>

// Man pages are written in roff.
namespace sluice::daemon {

// `text` as running text: nothing in it is a request or an escape; what stands between `backticks`
// or **asterisks** is bold.
std::string RoffText(std::string_view text);

// The same for whole paragraphs: an empty line separates them, "* " begins an item of a list.
std::string RoffParagraphs(std::string_view text);

// The head of a page, for example of sluice.yaml(5), with the version in its foot.
std::string RoffTitle(std::string_view name, std::string_view section, std::string_view of);

}  // namespace sluice::daemon

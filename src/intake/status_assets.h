#pragma once

#include <string_view>

// What the status page needs besides itself.
namespace sluice::intake {

std::string_view StatusStyle();   // /-/status.css
std::string_view StatusScript();  // /-/status.js
std::string_view StatusIcon();    // /-/status.svg

}  // namespace sluice::intake

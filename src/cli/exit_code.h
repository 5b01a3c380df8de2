#pragma once

namespace sluice::cli {

// What a process ends with; part of the contract.
enum ExitCode : int {
  kGood = 0,
  kBad = 1,       // the thing that was checked is bad
  kUsage = 2,     // wrong usage or configuration
  kLoss = 3,      // stopped, and records were lost
  kInternal = 70  // a defect of ours
};

}  // namespace sluice::cli

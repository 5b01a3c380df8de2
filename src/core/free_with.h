#pragma once

namespace sluice::core {

// The deleter of a unique_ptr to an object of a C library, which `kFree` ends.
template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace sluice::core

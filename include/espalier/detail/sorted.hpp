// Sorting by the C library's qsort, because <algorithm> and <queue> would cost 40 and 60 ms in every program.
#pragma once

#include <cstdlib>
#include <vector>

namespace espalier::detail {

// Puts pointers in the order of what they point to, by Less, which has no state and does not throw
// (it is called through C).
template <class Less, class T> void sort_pointers(std::vector<T*>& pointers) {
  if (pointers.size() < 2) return;
  std::qsort(pointers.data(), pointers.size(), sizeof(T*), [](const void* a, const void* b) {
    const T& x = **static_cast<T* const*>(a);
    const T& y = **static_cast<T* const*>(b);
    return Less()(x, y) ? -1 : Less()(y, x) ? 1 : 0;
  });
}

}  // namespace espalier::detail

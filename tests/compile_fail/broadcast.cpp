// tree_broadcast_prefix and tree_broadcast_common: trees that are no prefix of one another.
#include <espalier/broadcast.hpp>
#include <utility>

using namespace espalier;

struct point {
  double x, y;
};
struct segment {
  point from, to;
};
struct half {
  double from;
  point to;
};
struct other_half {
  point from;
  double to;
};

void use() {
  (void)tree_broadcast_prefix(half{}, segment{});
  (void)tree_broadcast_common(half{}, segment{});
  (void)tree_broadcast_common(std::pair(1.0, point{}), std::pair(point{}, 1.0));
#ifdef CASE_no_prefix
  (void)tree_broadcast_prefix(segment{}, half{});
#endif
#ifdef CASE_no_struct_has_both
  (void)tree_broadcast_common(half{}, other_half{});
#endif
#ifdef CASE_no_common_structure_below
  (void)tree_broadcast_common(std::pair(half{}, 1), std::pair(point{}, 1));
#endif
}

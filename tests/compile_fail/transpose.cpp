// tree_transpose: trees that cannot be turned inside out.
#include <espalier/transpose.hpp>
#include <vector>

using namespace espalier;

struct point {
  double x, y;
};
struct segment {
  point from, to;
};
struct rates {
  double from, to;
};
struct uneven {
  std::vector<point> points;
  double scale;
};
struct rose {
  double value;
  std::vector<rose> children;
};

void use() {
  (void)tree_transpose(std::vector<point>(3));
  (void)tree_transpose<rates>(treedef<point>(), segment{});
#ifdef CASE_no_slice_of_a_plain_struct
  (void)tree_transpose(treedef<point>(), segment{});
#endif
#ifdef CASE_slice_that_does_not_fit
  (void)tree_transpose<point>(treedef<point>(), segment{});
#endif
#ifdef CASE_leaf_outside_the_inner_trees
  (void)tree_transpose(treedef<point>(), uneven{});
#endif
#ifdef CASE_no_container
  (void)tree_transpose(segment{});
#endif
#ifdef CASE_recursive
  (void)tree_transpose(std::vector<rose>(2));
#endif
#ifdef CASE_inner_type_that_is_no_tree
  (void)tree_transpose(std::vector<int*>(2));
#endif
}

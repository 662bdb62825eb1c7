// Arithmetic and views of trees of numbers, on trees that are none.
#include <espalier/cast.hpp>
#include <espalier/graphviz.hpp>
#include <espalier/html.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/norm.hpp>
#include <espalier/print.hpp>
#include <espalier/ravel.hpp>
#include <espalier/span.hpp>
#include <espalier/zeros_like.hpp>
#include <tuple>

using namespace espalier;

struct point {
  double x, y;
};
struct padded {
  float a;
  double b;
};
struct named {
  double x;
  std::string name;
};
struct holder {
  std::vector<named> all;
};
struct raw {
  int* at;
};

void use() {
  point p{};
  (void)tree_span(p);
#ifdef CASE_span_of_padded
  padded q{};
  (void)tree_span(q);
#endif
#ifdef CASE_span_of_a_temporary
  (void)tree_span(point{});
#endif
#ifdef CASE_ravel_of_text
  (void)tree_ravel(holder{});
#endif
#ifdef CASE_zeros_like_text
  (void)tree_zeros_like(holder{});
#endif
#ifdef CASE_cast_to_an_integer
  (void)tree_cast<int>(p);
#endif
#ifdef CASE_print_of_a_leaf_array
  (void)tree_print(tree_cast<float>(std::tuple(p)));
#endif
#ifdef CASE_norm_of_text
  (void)tree_norm(holder{});
#endif
#ifdef CASE_dot_of_text
  (void)tree_dot(holder{}, holder{});
#endif
#ifdef CASE_dot_of_other_structures
  (void)tree_dot(p, padded{});
#endif
#ifdef CASE_print_of_no_tree
  (void)tree_print(raw{});
#endif
#ifdef CASE_dot_graph_of_no_tree
  (void)tree_to_dot(raw{});
#endif
#ifdef CASE_html_of_no_tree
  (void)tree_to_html(raw{});
#endif
}

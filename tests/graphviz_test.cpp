// tree_to_dot.

#include <espalier/graphviz.hpp>

#include "corpus.hpp"

namespace {

using namespace espalier;

TEST(graphviz, has_a_node_for_every_node_and_leaf_and_an_edge_for_every_key) {
  EXPECT_EQ(tree_to_dot(corpus::linear{{1.5}, {}}),
            "digraph tree {\n"
            "  node [fontname=\"monospace\"];\n"
            "  edge [fontname=\"monospace\"];\n"
            "  n0 [label=\"{}\"];\n"
            "  n1 [label=\"[]\"];\n"
            "  n2 [label=\"1.5\\nfloat64\", shape=box];\n"
            "  n1 -> n2 [label=\"[0]\"];\n"
            "  n0 -> n1 [label=\".weight\"];\n"
            "  n3 [label=\"None\", shape=box];\n"
            "  n0 -> n3 [label=\".bias\"];\n"
            "}\n");
}

TEST(graphviz, text_is_quoted) {
  const std::string dot = tree_to_dot(std::map<std::string, std::string>{{"a\"b", "c\\d\ne"}});
  // Twice: the string as Python's repr prints it, 'c\\d\ne', and that as DOT reads it back.
  EXPECT_NE(dot.find(R"(label="'c\\\\d\\ne'")"), std::string::npos) << dot;
  EXPECT_NE(dot.find(R"(label="['a\"b']")"), std::string::npos) << dot;
}

TEST(graphviz, aux_data_stands_in_its_node) {
  const std::string dot = tree_to_dot(corpus::cache{1.5, 3, std::string("nhwc")});
  EXPECT_NE(dot.find(R"(label="{}\n.step=3\n.layout='nhwc'")"), std::string::npos) << dot;
}

}  // namespace

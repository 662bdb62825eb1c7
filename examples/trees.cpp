// The code of docs/trees.md (tests/readme.cmake compares them), and that what the page says of it is so.

#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/treedef_json.hpp>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace espalier::literals;

struct linear {
  double weight;
  std::optional<double> bias;
};
struct mlp {
  std::vector<linear> layers;
  double temperature;
  espalier::aux<int> version;
};

struct tied {
  std::shared_ptr<double> embedding, output;
};
template <> inline constexpr bool espalier::is_leaf_type<std::shared_ptr<double>> = true;

struct line {
  double slope, offset;
};

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "docs/trees.md: this does not hold: " << what << '\n';
  std::exit(1);
}
#define REQUIRE(...) require(__VA_ARGS__, #__VA_ARGS__)

const mlp model{{{0.5, 2.0}, {3.0, std::nullopt}}, 0.1, 3};

void stops() {
  std::size_t layers = 0;
  espalier::tree_visit(
      espalier::leaf_if<linear>, [&](const auto& x) { layers += std::is_same_v<decltype(x), const linear&>; }, model);

  mlp unbiased = espalier::tree_map_only<linear>([](const linear& l) { return linear{l.weight, {}}; }, model);

  REQUIRE(layers == 2);
  REQUIRE(espalier::tree_equal(unbiased, mlp{{{0.5, {}}, {3.0, {}}}, 0.1, 3}));
}

void partition() {
  auto [biases, rest] = espalier::tree_partition(
      model, [](const espalier::path_view& path, const auto&) { return path.back().name == "bias"; });
  mlp again = espalier::tree_combine(biases, rest);

  REQUIRE(biases["layers.0.bias"_path] == 2.0);
  REQUIRE(!biases["temperature"_path] && rest["temperature"_path] == 0.1);
  REQUIRE(espalier::tree_equal(again, model));
}

void at() {
  mlp cold = espalier::tree_at(model, &mlp::temperature).replace(0.01);
  mlp both = espalier::tree_at(model, "layers.0.bias"_path, "layers.1.weight"_path).replace(std::nullopt, 4.0);
  mlp last = espalier::tree_at(model, [](auto& m) -> auto& { return m.layers.back().weight; }).apply(std::negate());

  espalier::tree_at(last, "temperature"_path).get() = 1.0;  // in place

  REQUIRE(espalier::tree_equal(cold, mlp{{{0.5, 2.0}, {3.0, {}}}, 0.01, 3}));
  REQUIRE(espalier::tree_equal(both, mlp{{{0.5, {}}, {4.0, {}}}, 0.1, 3}));
  REQUIRE(espalier::tree_equal(last, mlp{{{0.5, 2.0}, {-3.0, {}}}, 1.0, 3}));
}

void masks() {
  auto decayed = espalier::tree_map_with_path(
      [](const espalier::path_view& path, double) { return path.back().name == "weight"; }, model);
  bool first = decayed["layers.0.weight"_path];
  mlp next = espalier::tree_map([](double x, bool decay) { return decay ? 0.9 * x : x; }, model, decayed);

  static_assert(std::is_same_v<decltype(decayed), espalier::leaf_array<mlp, bool>>);
  REQUIRE(first);
  REQUIRE(espalier::tree_allclose(next, mlp{{{0.45, 2.0}, {2.7, {}}}, 0.1, 3}));
}

void broadcasts() {
  const std::vector<line> lines{{1.0, 2.0}, {3.0, 4.0}};
  const std::vector<double> weights{0.25, 0.75};
  std::vector<line> table = espalier::tree_broadcast_prefix(weights, lines);  // {{0.25, 0.25}, {0.75, 0.75}}

  auto scaled = espalier::tree_map([](double w, const line& l) { return w * l.slope; }, weights, lines);

  REQUIRE(espalier::tree_equal(table, std::vector<line>{{0.25, 0.25}, {0.75, 0.75}}));
  REQUIRE(scaled == std::vector<double>{0.25, 2.25});
}

void transposes() {
  const std::vector<line> per_example{{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}};
  auto columns = espalier::tree_transpose(per_example);
  const std::vector<double>& slopes = columns["slope"_path];  // {1, 3, 5}

  static_assert(std::is_same_v<decltype(columns), espalier::leaf_array<line, std::vector<double>>>);
  REQUIRE(slopes == std::vector<double>{1.0, 3.0, 5.0});
}

void flat() {
  auto [flat, unravel] = espalier::tree_ravel(model);  // a std::vector<double>: 0.5, 2, 3, 0.1
  for (double& x : flat) x *= 2;
  mlp doubled = unravel(flat);

  line l{1.0, 2.0};
  std::span<double, 2> numbers = espalier::tree_span(l);  // no copy: the struct's own memory
  numbers[1] = 5.0;

  REQUIRE(espalier::tree_equal(doubled, mlp{{{1.0, 4.0}, {6.0, {}}}, 0.2, 3}));
  REQUIRE(l.offset == 5.0);
}

void structures() {
  const espalier::treedef<mlp> def = espalier::tree_structure(model);
  std::cout << def.to_string() << '\n';
  // {.layers: [{.weight: *, .bias: *}, {.weight: *, .bias: None}], .temperature: *, .version=3}
  mlp numbered = def.unflatten(std::vector{1.0, 2.0, 3.0, 4.0});

  const espalier::any_treedef any = def;                                              // of a tree of any type
  const espalier::any_treedef layers = any.child(0);                                  // 3 leaves
  const espalier::any_treedef twice = any.compose(espalier::tree_structure(line{}));  // 8 leaves

  const std::string text = espalier::treedef_to_json(def);
  const bool same = espalier::treedef_from_json(text) == def;  // true
  for (const auto& [path, expected, found] : espalier::structure_differences(any, espalier::tree_structure(mlp{})))
    std::cout << path << ": expected " << expected << ", found " << found << '\n';
  // .version: expected aux 3, found aux 0
  // .layers: expected 2 elements, found 0 elements

  REQUIRE(def.to_string() ==
          "{.layers: [{.weight: *, .bias: *}, {.weight: *, .bias: None}], .temperature: *, .version=3}");
  REQUIRE(espalier::tree_equal(numbered, mlp{{{1.0, 2.0}, {3.0, {}}}, 4.0, 3}));
  REQUIRE(layers.num_leaves() == 3 && twice.num_leaves() == 8 && same);
}

void checks() {
  const auto embedding = std::make_shared<double>(1.0);
  std::string found;
  try {
    espalier::tree_check(tied{embedding, embedding});
  } catch (const espalier::structure_error& e) {
    found = e.what();  // … .output: expected a leaf of its own, found that of .embedding
  }

  REQUIRE(found.ends_with(".output: expected a leaf of its own, found that of .embedding"));
}

void views() {
  std::cout << espalier::tree_print(model, 60) << '\n';
  // {
  //   .layers: [
  //     {.weight: 0.5, .bias: 2},
  //     {.weight: 3, .bias: None}
  //   ],
  //   .temperature: 0.1,
  //   .version=3
  // }
  std::cout << espalier::tree_summary(model);                    // a table: path, leaf, parameters, bytes
  std::ofstream("model.html") << espalier::tree_to_html(model);  // a page: nodes open and close
  std::ofstream("model.dot") << espalier::tree_to_dot(model);    // for Graphviz

  REQUIRE(espalier::tree_print(model, 60) ==
          "{\n  .layers: [\n    {.weight: 0.5, .bias: 2},\n    {.weight: 3, .bias: None}\n  ],\n"
          "  .temperature: 0.1,\n  .version=3\n}");
}

}  // namespace

int main() {
  stops();
  partition();
  at();
  masks();
  broadcasts();
  transposes();
  flat();
  structures();
  checks();
  views();
}

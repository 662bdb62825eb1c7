// A tree as a page for a browser: nodes that open and close, leaves with their values, or dtypes and shapes, bytes, aux
// data.
//
//   std::ofstream("model.html") << espalier::tree_to_html(model, "model");
#pragma once

#include <cstddef>
#include <espalier/detail/outline.hpp>
#include <string>
#include <string_view>

namespace espalier {

namespace detail {

inline std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// `<span class="CLASS">TEXT</span>`; nothing if there is no text.
inline std::string html_span(const char* of_class, const std::string& text) {
  if (text.empty()) return {};
  return "<span class=\"" + std::string(of_class) + "\">" + html_escaped(text) + "</span> ";
}

inline void write_html(std::string& out, const outline& node, std::size_t depth) {
  const std::string key = html_span("key", node.key);
  if (!node.is_node()) {
    out += "<div class=\"leaf\">" + key + html_span("value", node.value) + html_span("type", node.type);
    if (node.leaves > 0) out += html_span("size", count_of(node.bytes, "byte", "bytes"));
    out += "</div>\n";
    return;
  }
  // The first two levels are open, and so is what has a single child.
  out += depth < 2 || node.children.size() == 1 ? "<details open><summary>" : "<details><summary>";
  out += key + html_span("kind", node.name + node.open + node.close);
  for (const auto& aux : node.aux) out += html_span("aux", aux_text(aux));
  out += html_span("size", size_text(node)) + "</summary>\n";
  for (const outline& child : node.children) write_html(out, child, depth + 1);
  out += "</details>\n";
}

inline constexpr std::string_view html_style = R"(
body { font: 14px/1.5 ui-monospace, monospace; margin: 2em; color-scheme: light dark; }
details > details, details > .leaf { margin-left: 1.5em; }
.leaf { padding-left: 1em; }
summary { cursor: pointer; }
.key { font-weight: bold; }
.value { white-space: pre-wrap; }
.type, .size, .kind { opacity: 0.6; }
.aux { font-style: italic; }
)";

}  // namespace detail

// A whole page, which needs no other file and no script. All text from the tree is escaped.
template <class Tree> std::string tree_to_html(const Tree& tree, std::string_view title = "tree") {
  static_assert(detail::require_trees<Tree>());
  const std::string heading = detail::html_escaped(title);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + heading +
                    "</title>\n<style>" + std::string(detail::html_style) + "</style>\n</head>\n<body>\n<h1>" +
                    heading + "</h1>\n";
  detail::write_html(out, detail::outline_of(tree), 0);
  return out + "</body>\n</html>\n";
}

}  // namespace espalier

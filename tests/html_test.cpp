// tree_to_html.

#include <espalier/html.hpp>

#include "corpus.hpp"
#include "small_array.hpp"

template <> struct espalier::value_description<small::array> {
  static std::string describe(const small::array& a) { return a.dtype + "[" + std::to_string(a.values.size()) + "]"; }
};

namespace {

using namespace espalier;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(html, has_an_element_for_every_node_and_leaf) {
  const std::string page = tree_to_html(corpus::model{{{{1, 2.5}, 3.0}, {{4}, {}}}, 5});
  EXPECT_EQ(count(page, "<details"), 6u);
  EXPECT_EQ(count(page, "</details>"), 6u);
  EXPECT_EQ(count(page, "<div class=\"leaf\">"), 6u) << "five leaves and a None";
  EXPECT_NE(page.find("<span class=\"key\">.temperature</span> <span class=\"value\">5</span> "
                      "<span class=\"type\">float64</span> <span class=\"size\">8 bytes</span>"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("<span class=\"size\">5 leaves, 40 bytes</span>"), std::string::npos) << page;
}

TEST(html, is_a_page_that_needs_no_other_file) {
  const std::string page = tree_to_html(corpus::point{1, 2}, "a point");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("<title>a point</title>"), std::string::npos);
  EXPECT_TRUE(page.ends_with("</body>\n</html>\n"));
  EXPECT_EQ(count(page, "http"), 0u);
  EXPECT_EQ(count(page, "<script"), 0u);
}

TEST(html, all_text_is_escaped) {
  const std::string page =
      tree_to_html(std::map<std::string, std::string>{{"<b>\"&", "</details><script>"}}, "</title>&");
  EXPECT_NE(page.find("<title>&lt;/title&gt;&amp;</title>"), std::string::npos) << page;
  EXPECT_NE(page.find("[&#39;&lt;b&gt;&quot;&amp;&#39;]"), std::string::npos) << page;
  EXPECT_NE(page.find("&#39;&lt;/details&gt;&lt;script&gt;&#39;"), std::string::npos) << page;
  EXPECT_EQ(count(page, "<script"), 0u);
}

TEST(html, shows_arrays_and_aux_data) {
  const std::string arrays = tree_to_html(std::vector<small::array>{{{1, 2, 3}}});
  EXPECT_NE(arrays.find("<span class=\"value\">float64[3]</span> <span class=\"size\">24 bytes</span>"),
            std::string::npos)
      << arrays;
  const std::string aux = tree_to_html(corpus::cache{1.5, 3, std::string("nhwc")});
  EXPECT_NE(aux.find("<span class=\"aux\">.step=3</span>"), std::string::npos) << aux;
}

}  // namespace

// Trees that cannot be saved or loaded, through espalier/mlx/io.hpp.
#include <espalier/mlx/io.hpp>
#include <string>

struct wide {
  std::wstring text;
};

void control(const std::string& text) { espalier::save_safetensors("tree.safetensors", text); }

#ifdef CASE_unsavable_leaf
void bad(const wide& w) { espalier::save_safetensors("tree.safetensors", w); }
#endif
#ifdef CASE_const_target
void bad(const int& n) { espalier::load_safetensors("tree.safetensors", n); }
#endif

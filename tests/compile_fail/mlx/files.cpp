// Trees that cannot be saved or loaded, and values that files do not have, through espalier/mlx/{safetensors,gguf}.hpp.
#include <espalier/mlx/gguf.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <string>

struct wide {
  std::wstring text;
};

void control(const std::string& text) { espalier::save_safetensors("tree.safetensors", text); }
int control(const espalier::gguf_file& file) { return file.get<int>("llama.block_count"); }

#ifdef CASE_unsavable_leaf
void bad(const wide& w) { espalier::save_safetensors("tree.safetensors", w); }
#endif
#ifdef CASE_const_target
void bad(const int& n) { espalier::load_safetensors("tree.safetensors", n); }
#endif
#ifdef CASE_const_gguf_target
void bad(const espalier::gguf_file& file, const int& n) { espalier::load_gguf(file, n); }
#endif
#ifdef CASE_gguf_value
auto bad(const espalier::gguf_file& file) { return file.get<std::wstring>("general.name"); }
#endif

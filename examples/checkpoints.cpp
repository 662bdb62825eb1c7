// The code of docs/checkpoints.md: checkpoints [FOLDER]
#include <mlx/mlx.h>

#include <cstdio>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace mx = mlx::core;

namespace {

struct attention {
  mx::array query, key;
};
struct model {
  std::vector<attention> layers;
  mx::array head;
  float dropout;                      // a leaf that is no array
  espalier::aux<std::string> config;  // part of the structure
};

model make_model(int layers, float x) {
  model m{{}, mx::full({4, 2}, x), 0.1f, std::string("tiny")};
  for (int i = 0; i < layers; ++i) m.layers.push_back({mx::full({2, 2}, x), mx::full({2, 2}, x)});
  return m;
}

struct training_state {
  model params;
  int epoch;
};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

bool all_are(const mx::array& a, float x) { return mx::all(mx::equal(a, mx::array(x))).item<bool>(); }

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = std::filesystem::path(argc > 1 ? argv[1] : ".") / "checkpoints_example";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);

  {
    model m = make_model(2, 1);
    espalier::save_safetensors(folder / "model.safetensors", m);
    m = make_model(2, 0);
    espalier::load_safetensors(folder / "model.safetensors", m);
    require(all_are(m.layers[1].key, 1), "a loaded model is the saved one");
  }
  {
    model m = make_model(3, 0);
    const std::vector<espalier::mismatch> left_out =
        espalier::load_safetensors(folder / "model.safetensors", m, {.strict = false, .cast = true});
    for (const auto& [path, expected, found] : left_out) std::printf("%s: %s\n", path.c_str(), found.c_str());
    require(left_out.size() == 2 && all_are(m.layers[1].key, 1) && all_are(m.layers[2].key, 0),
            "the third layer stays");
  }
  {
    mx::save_safetensors((folder / "foreign.safetensors").string(),
                         {{"model.layers.0.self_attn.q_proj.weight", mx::full({2, 2}, 3.0f)},
                          {"model.layers.0.self_attn.k_proj.weight", mx::full({2, 2}, 4.0f)},
                          {"model.layers.0.rotary_emb.inv_freq", mx::zeros({1})},
                          {"lm_head.weight", mx::full({2, 4}, 5.0f)}});
    model m = make_model(1, 0);
    const espalier::name_rules rules = {{"model.layers.{}.self_attn.q_proj.weight", "layers.{}.query"},
                                        {"model.layers.{}.self_attn.k_proj.weight", "layers.{}.key"},
                                        {"lm_head.weight", "head", {1, 0}},  // transposed
                                        {"*.inv_freq", std::nullopt}};       // left out
    espalier::load_safetensors(folder / "foreign.safetensors", m, {.rules = rules});
    espalier::save_safetensors(folder / "again.safetensors", m, rules);  // under the foreign names
    require(all_are(m.layers[0].key, 4) && all_are(m.head, 5), "a foreign checkpoint is read by rules");
  }
  for (int run = 0; run < 2; ++run) {
    training_state state{make_model(1, 0), 0};
    const espalier::checkpoint_manager checkpoints{.folder = folder / "run", .max_to_keep = 3};
    const auto first = checkpoints.restore(state).value_or(0);  // the latest, or none
    for (auto step = first; step < first + 500; ++step) {
      ++state.epoch;
      if ((step + 1) % 100 == 0) checkpoints.save(step + 1, state);
    }
    require(state.epoch == 500 * (run + 1) && checkpoints.all_steps().size() == 3,
            "a run goes on where the last ended");
  }
  {
    mx::save_gguf((folder / "model.gguf").string(),
                  {{"blk.0.attn_q.weight", mx::full({2, 2}, 6.0f)},
                   {"blk.0.attn_k.weight", mx::full({2, 2}, 7.0f)},
                   {"output.weight", mx::full({4, 2}, 8.0f)}},
                  {{"llama.block_count", mx::array(1, mx::uint32)}});
    const espalier::gguf_file file(folder / "model.gguf");
    model m = make_model(file.get<int>("llama.block_count"), 0);
    espalier::load_gguf(file, m,
                        {.rules = {{"blk.{}.attn_q.weight", "layers.{}.query"},
                                   {"blk.{}.attn_k.weight", "layers.{}.key"},
                                   {"output.weight", "head"}}});
    require(all_are(m.layers[0].key, 7) && all_are(m.head, 8), "a GGUF file is read by rules");
  }
}

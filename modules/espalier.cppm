// The module `espalier`: what espalier/espalier.hpp declares for users, without its macros. Engines are headers:
// include them before the import.
//
//   import espalier;
//   auto twice = espalier::tree_map([](double x) { return 2 * x; }, model);
//
// Everything belongs to the global module, so that units which import it and units which include the headers link.
module;

#include <espalier/any_treedef.hpp>
#include <espalier/compile.hpp>
#include <espalier/espalier.hpp>

export module espalier;

export namespace espalier {
using espalier::any_treedef;
using espalier::array_function;
using espalier::array_traits;
using espalier::aux;
using espalier::aux_fields;
using espalier::check_error;
using espalier::compile;
using espalier::compile_event;
using espalier::compile_options;
using espalier::compile_stats;
using espalier::compiled;
using espalier::contiguous_tree;
using espalier::depth_error;
using espalier::describe_mismatches;
using espalier::describe_value;
using espalier::encodable;
using espalier::encode;
using espalier::encoding_of;
using espalier::engine;
using espalier::engine_array;
using espalier::error;
using espalier::field_list;
using espalier::fields;
using espalier::flattened;
using espalier::from_typed_text;
using espalier::has_engine_arrays;
using espalier::is_leaf_type;
using espalier::is_parameter;
using espalier::is_parameter_type;
using espalier::key_entry;
using espalier::key_path;
using espalier::leaf_array;
using espalier::leaf_equality;
using espalier::leaf_error;
using espalier::leaf_identity;
using espalier::leaf_if;
using espalier::leaf_if_t;
using espalier::leaf_value_t;
using espalier::leaves_t;
using espalier::mismatch;
using espalier::named_leaf;
using espalier::node_kind;
using espalier::number;
using espalier::of_type;
using espalier::of_type_t;
using espalier::parse_path;
using espalier::partitioned;
using espalier::path_error;
using espalier::path_literal;
using espalier::path_view;
using espalier::plan_output;
using espalier::promoted_leaf_t;
using espalier::promoted_t;
using espalier::pytree;
using espalier::pytree_name;
using espalier::pytree_node;
using espalier::raveled_tree;
using espalier::record_options;
using espalier::retrace_error;
using espalier::same_encoding;
using espalier::set_compile_log;
using espalier::signature_word;
using espalier::static_structure;
using espalier::structure_differences;
using espalier::structure_error;
using espalier::structure_hash_v;
using espalier::to_typed_text;
using espalier::trace_error;
using espalier::tree_all;
using espalier::tree_allclose;
using espalier::tree_any;
using espalier::tree_at;
using espalier::tree_broadcast_common;
using espalier::tree_broadcast_prefix;
using espalier::tree_cast;
using espalier::tree_check;
using espalier::tree_combine;
using espalier::tree_dot;
using espalier::tree_equal;
using espalier::tree_filter;
using espalier::tree_filter_view;
using espalier::tree_flatten;
using espalier::tree_flatten_names;
using espalier::tree_leaves;
using espalier::tree_map;
using espalier::tree_map_only;
using espalier::tree_map_parameters;
using espalier::tree_map_with_path;
using espalier::tree_max;
using espalier::tree_merge;
using espalier::tree_min;
using espalier::tree_norm;
using espalier::tree_norms;
using espalier::tree_of_numbers;
using espalier::tree_partition;
using espalier::tree_paths;
using espalier::tree_print;
using espalier::tree_ravel;
using espalier::tree_reduce;
using espalier::tree_reduce_associative;
using espalier::tree_span;
using espalier::tree_structure;
using espalier::tree_sum;
using espalier::tree_summary;
using espalier::tree_to_dot;
using espalier::tree_to_html;
using espalier::tree_transpose;
using espalier::tree_transpose_map;
using espalier::tree_unflatten;
using espalier::tree_unflatten_names;
using espalier::tree_visit;
using espalier::tree_visit_update;
using espalier::tree_visit_with_path;
using espalier::tree_zeros_like;
using espalier::treedef;
using espalier::unraveler;
using espalier::value_description;
using espalier::value_encoder;
inline namespace literals {
using espalier::literals::operator""_path;
}
}  // namespace espalier

export namespace espalier::reflect {
using espalier::reflect::construct;
using espalier::reflect::constructed_by;
using espalier::reflect::construction;
using espalier::reflect::field_count_v;
using espalier::reflect::field_names_v;
using espalier::reflect::field_t;
using espalier::reflect::field_value_t;
using espalier::reflect::reflectable;
using espalier::reflect::remake;
using espalier::reflect::with_fields;
}  // namespace espalier::reflect

export namespace espalier::optim {
using espalier::optim::adadelta;
using espalier::optim::adadelta_state;
using espalier::optim::adafactor;
using espalier::optim::adafactor_state;
using espalier::optim::adagrad;
using espalier::optim::adagrad_state;
using espalier::optim::adam;
using espalier::optim::adam_state;
using espalier::optim::adamax;
using espalier::optim::adamw;
using espalier::optim::add_decayed_weights;
using espalier::optim::all_finite;
using espalier::optim::apply_if_finite;
using espalier::optim::apply_if_finite_state;
using espalier::optim::apply_updates;
using espalier::optim::chain;
using espalier::optim::chained;
using espalier::optim::clip;
using espalier::optim::clip_by_block_rms;
using espalier::optim::clip_by_global_norm;
using espalier::optim::constant_schedule;
using espalier::optim::cosine_decay;
using espalier::optim::dynamic_loss_scale;
using espalier::optim::dynamic_loss_scale_state;
using espalier::optim::ema;
using espalier::optim::ema_state;
using espalier::optim::empty_state;
using espalier::optim::every_parameter;
using espalier::optim::exponential_decay;
using espalier::optim::global_norm;
using espalier::optim::inject_hyperparams;
using espalier::optim::inject_hyperparams_state;
using espalier::optim::join_schedules;
using espalier::optim::joined_schedules;
using espalier::optim::label_error;
using espalier::optim::leaf_math;
using espalier::optim::linear_schedule;
using espalier::optim::lion;
using espalier::optim::lion_state;
using espalier::optim::masked;
using espalier::optim::master_weights;
using espalier::optim::master_weights_state;
using espalier::optim::muon;
using espalier::optim::muon_state;
using espalier::optim::partitioned;
using espalier::optim::rate_count_t;
using espalier::optim::relative_step;
using espalier::optim::rmsprop;
using espalier::optim::rmsprop_state;
using espalier::optim::schedule_error;
using espalier::optim::sgd;
using espalier::optim::sgd_state;
using espalier::optim::static_loss_scale;
using espalier::optim::step_count;
using espalier::optim::step_count_t;
using espalier::optim::step_decay;
using espalier::optim::warmup_cosine_decay;
}  // namespace espalier::optim

// Classes that are adapted for Boost.Hana or described for Boost.Describe in a way that would lose fields. CASES 28.
#include <espalier/espalier.hpp>
#include <espalier/reflect/describe.hpp>
#include <espalier/reflect/hana.hpp>

using espalier::structure_hash_v;
using espalier::tree_map;

[[maybe_unused]] constexpr auto same = [](auto x) { return x; };

// --- Boost.Hana ---

struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (double, x), (double, y));
};
static_assert(structure_hash_v<point> != 0);

struct inherits : point {
  double z;
};
struct model {
  std::vector<inherits> layers;
};

class hides : point {
 public:
  BOOST_HANA_DEFINE_STRUCT(hides, (double, z));
};

struct no_members {
  BOOST_HANA_DEFINE_STRUCT(no_members);
  double x;
};

class by_functions {
 public:
  double x() const { return x_; }

 private:
  double x_ = 0;
};
BOOST_HANA_ADAPT_ADT(by_functions, (x, [](const auto& self) { return self.x(); }));

struct half_listed {
  double x, y;
};
BOOST_HANA_ADAPT_STRUCT(half_listed, x);
static_assert(structure_hash_v<half_listed> != 0);

struct virtually : virtual point {
  double z;
};
BOOST_HANA_ADAPT_STRUCT(virtually, x, y, z);

class not_made {
 public:
  explicit not_made(double scale) : x_(2 * scale), y_(scale) {}

 private:
  friend struct boost::hana::accessors_impl<not_made>;
  double x_, y_;
};
BOOST_HANA_ADAPT_STRUCT(not_made, x_, y_);
static_assert(structure_hash_v<not_made> != 0);

// Adapted twice, with different members.
struct by_both {
  double x, y;
};
BOOST_HANA_ADAPT_STRUCT(by_both, x);
BOOST_DESCRIBE_STRUCT(by_both, (), (x, y))
struct holds_by_both {
  std::array<by_both, 2> all;
};

struct holds_c_array {
  double x;
  int taps[3];
};
BOOST_HANA_ADAPT_STRUCT(holds_c_array, x, taps);
struct filters {
  std::vector<holds_c_array> layers;
};

#ifdef CASE_by_both
static_assert(structure_hash_v<holds_by_both> != 0);
#endif
#ifdef CASE_c_array
static_assert(structure_hash_v<filters> != 0);
#endif
#ifdef CASE_inherited_accessors
static_assert(structure_hash_v<inherits> != 0);
#endif
#ifdef CASE_inherited_accessors_deep
static_assert(structure_hash_v<model> != 0);
#endif
#ifdef CASE_hidden_accessors
static_assert(structure_hash_v<hides> != 0);
#endif
#ifdef CASE_no_members
static_assert(structure_hash_v<no_members> != 0);
#endif
#ifdef CASE_accessors_are_functions
static_assert(structure_hash_v<by_functions> != 0);
#endif
#ifdef CASE_virtual_base
static_assert(structure_hash_v<virtually> != 0);
#endif
#ifdef CASE_not_all_members
half_listed mapped(const half_listed& tree) { return tree_map(same, tree); }
#endif
#ifdef CASE_no_way_to_make_it
not_made mapped(const not_made& tree) { return tree_map(same, tree); }
#endif
struct holds_not_made {
  double x;
  std::vector<not_made> layers;
};
#ifdef CASE_no_way_to_make_it_deep
holds_not_made mapped(const holds_not_made& tree) { return tree_map(same, tree); }
#endif
#ifdef CASE_no_way_to_unflatten_it
holds_not_made made(const espalier::treedef<holds_not_made>& structure) { return structure.unflatten(std::vector{1.0}); }
#endif

// --- Boost.Describe ---

struct undescribed {
  double x;
};
struct of_undescribed : undescribed {
  double y;
};
BOOST_DESCRIBE_STRUCT(of_undescribed, (undescribed), (y))

struct described {
  double x;
};
BOOST_DESCRIBE_STRUCT(described, (), (x))
struct same_name : described {
  double x;
};
BOOST_DESCRIBE_STRUCT(same_name, (described), (x))

struct other_described {
  double x;
};
BOOST_DESCRIBE_STRUCT(other_described, (), (x))
struct same_name_in_bases : described, other_described {};
BOOST_DESCRIBE_STRUCT(same_name_in_bases, (described, other_described), ())

struct without_members {
  double x;
};
BOOST_DESCRIBE_STRUCT(without_members, (), ())

struct unlisted_base : described {
  double y;
};
BOOST_DESCRIBE_STRUCT(unlisted_base, (), (y))

struct block {
  std::optional<of_undescribed> inner;
};
struct blocks {
  std::vector<block> all;
};
struct pairs {
  std::map<std::string, same_name> by_name;
};

#ifdef CASE_undescribed_base_deep
static_assert(structure_hash_v<blocks> != 0);
#endif
#ifdef CASE_same_name_deep
static_assert(structure_hash_v<pairs> != 0);
#endif
#ifdef CASE_undescribed_base
static_assert(structure_hash_v<of_undescribed> != 0);
#endif
#ifdef CASE_same_name
static_assert(structure_hash_v<same_name> != 0);
#endif
#ifdef CASE_same_name_in_bases
static_assert(structure_hash_v<same_name_in_bases> != 0);
#endif
#ifdef CASE_described_without_members
static_assert(structure_hash_v<without_members> != 0);
#endif
#ifdef CASE_unlisted_base
unlisted_base mapped(const unlisted_base& tree) { return tree_map(same, tree); }
#endif

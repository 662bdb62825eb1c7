"""The structs whose cost is measured, and the programs that each library compiles over them.

A shape is a list of structs (name, members), each after those it uses, and the list of those that calls are made on.
"""

WORDS = ["weight", "bias", "scale", "shift", "mean", "rate", "count", "step"]
TYPES = ["double", "double", "float", "double", "float", "double", "int", "int"]


def flat(structs, fields):
    shape = [(f"layer_{i}", [(TYPES[j % 8], f"{WORDS[j % 8]}_{i}_{j}") for j in range(fields)]) for i in range(structs)]
    return shape, [name for name, _ in shape]


def transformer(layers=6):
    """Six levels from the model to a number; each block has types of its own, as generated code has."""
    shape, blocks = [], []
    for i in range(layers):
        numbers = lambda *names: [("double", name) for name in names]
        shape += [
            (f"linear_{i}", numbers("weight", "bias")),
            (f"norm_{i}", numbers("scale", "shift")),
            (f"attention_{i}", [(f"linear_{i}", name) for name in ("query", "key", "value", "output")]),
            (f"mlp_{i}", [(f"linear_{i}", name) for name in ("gate", "up", "down")]),
            (f"block_{i}", [(f"norm_{i}", "before"), (f"attention_{i}", "attention"), (f"norm_{i}", "after"),
                            (f"mlp_{i}", "mlp")]),
        ]
        blocks.append((f"block_{i}", f"block_{i}_"))
    shape += [
        ("stack", blocks),
        ("table", [("double", "tokens"), ("double", "positions")]),
        ("model", [("table", "embed"), ("stack", "layers"), ("double", "head")]),
    ]
    return shape, ["model"]


SHAPES = {"1x200": flat(1, 200), "50x8": flat(50, 8), "500x8": flat(500, 8), "transformer": transformer()}

PRINT = r'std::printf("%.*s\n", static_cast<int>(name.size()), name.data());'


def walks(each_named, each, end, name=""):
    """What a peer does by hand: structs inside are walked; of other fields `names` prints what they are called and
    assigns them, and `visit` reads them."""
    function = """template <class T> void walk(T& value) {{
  {each}
    if constexpr (std::is_class_v<std::remove_cvref_t<decltype(field)>>) {{
      walk(field);
    }} else {{
      {then}
    }}
  {end}
}}
"""
    assign = "field = std::remove_cvref_t<decltype(field)>(field);"
    return {
        "names": function.format(each=each_named, then=f"{name}{PRINT} {assign}", end=end),
        "visit": "inline double total = 0;\n"
                 + function.format(each=each, then="total += static_cast<double>(field);", end=end),
    }


PFR = "boost::pfr::for_each_field"
HANA = ("boost::hana::for_each(boost::hana::accessors<T>(), boost::hana::fuse("
        "[&]({}, auto get) {{ auto& field = get(value);")
DESCRIBE = ("boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>("
            "[&](auto member) { auto& field = value.*member.pointer;")
HANA_PARTS = ["accessors", "adapt_struct", "core/to", "for_each", "fuse", "string"]

# What each library includes; what it wants said of a struct, and of how many fields it takes that; what stands before
# the calls; the call.
LIBRARIES = {
    "espalier": {
        "includes": ["espalier/map.hpp", "espalier/visit.hpp"],
        "before": {"names": "", "visit": "inline double total = 0;\n"},
        "call": {
            "names": """value = espalier::tree_map_with_path(
        [](const auto& path, auto field) {
          const std::string_view name = path.back().name;
          """ + PRINT + """
          return field;
        },
        value);""",
            "visit": "espalier::tree_visit([](auto& field) { total += static_cast<double>(field); }, value);",
        },
    },
    "pfr": {
        "includes": ["boost/pfr.hpp"],
        "before": walks(PFR + "_with_name(value, [](std::string_view name, auto& field) {",
                        PFR + "(value, [](auto& field) {", "});"),
    },
    "hana": {
        "includes": [f"boost/hana/{part}.hpp" for part in HANA_PARTS],
        "describe": "BOOST_HANA_ADAPT_STRUCT({name}, {members});\n",
        "most": 55,
        "before": walks(HANA.format("auto key"), HANA.format("auto"), "}));",
                        "const std::string_view name = boost::hana::to<const char*>(key); "),
    },
    "describe": {
        "includes": ["boost/describe.hpp", "boost/mp11.hpp"],
        "describe": "BOOST_DESCRIBE_STRUCT({name}, (), ({members}))\n",
        "most": 64,
        "before": walks(DESCRIBE, DESCRIBE, "});", "const std::string_view name = member.name; "),
    },
}

# Espalier's operations, each with its header and a call on `value`.
OPERATIONS = {
    "structure_hash_v": ("structure", "total += static_cast<double>(espalier::structure_hash_v<decltype(value)>);"),
    "tree_equal": ("equal", "total += espalier::tree_equal(value, value);"),
    "tree_flatten": ("flatten", "total += static_cast<double>(espalier::tree_flatten(value).leaves.size());"),
    "tree_map": ("map", "value = espalier::tree_map([](auto x) { return x; }, value);"),
    "tree_map of two": ("map", "value = espalier::tree_map([](auto x, auto) { return x; }, value, value);"),
    "tree_map_with_path": ("map", "value = espalier::tree_map_with_path([](const auto&, auto x) { return x; }, value);"),
    "tree_print": ("print", "total += static_cast<double>(espalier::tree_print(value).size());"),
    "tree_reduce": ("reduce", "total += espalier::tree_reduce([](double sum, auto x) { return sum + x; }, value, 0.0);"),
    "tree_visit": ("visit", "espalier::tree_visit([](auto& x) { total += static_cast<double>(x); }, value);"),
    "tree_visit_update": ("visit_update", "espalier::tree_visit_update([](auto x) { return x; }, value);"),
    "tree_visit_with_path": ("visit", "espalier::tree_visit_with_path([](const auto&, auto& x) { x += x; }, value);"),
}


def includes(headers):
    return "".join(f"#include <{name}>\n" for name in headers)


def program(headers, shape=([], []), describe="", before="", call=""):
    """Includes, the structs, and the call on a value of each root."""
    structs, roots = shape
    text = includes([*headers, "cstdio", "string_view", "type_traits"]) + "\n"
    for name, members in structs:
        text += f"struct {name} {{\n" + "".join(f"  {kind} {member};\n" for kind, member in members) + "};\n"
        text += describe.format(name=name, members=", ".join(member for _, member in members))
    calls = "".join(f"  {{\n    {root} value{{}};\n    {call}\n  }}\n" for root in roots)
    return f"{text}\n{before}\nint main() {{\n{calls}}}\n"


def peer_program(library, operation, shape):
    """The program of a library for `names` or `visit`; None where it cannot have structs of so many fields."""
    about = LIBRARIES[library]
    if any(len(members) > about.get("most", 1000) for _, members in shape[0]):
        return None
    call = about["call"][operation] if "call" in about else "walk(value);"
    return program(about["includes"], shape, about.get("describe", ""), about["before"][operation], call)


def operation_program(operation, shape):
    header, call = OPERATIONS[operation]
    return program([f"espalier/{header}.hpp"], shape, before="inline double total = 0;\n", call=call)

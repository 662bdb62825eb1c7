#!/usr/bin/env python3
"""Derivatives, batches and random numbers of fixed functions, as MLX gives them in Python.

  transforms.py            writes transforms.json
  transforms.py --check    says whether the stored ones still hold; exits 1 if not, 77 without mlx

tests/mlx/transforms_peer_test.cpp computes the same with Espalier: the model and the data are written there too. Python's
MLX has no Hessian-vector product; here it is the derivative of the gradient's product with the direction.
"""

import json
import math
import pathlib
import sys

try:
    import mlx.core as mx
    import mlx.nn as nn
except ModuleNotFoundError as missing:
    print(f"{missing}; pip install -r requirements.txt")
    sys.exit(77)

STORED = pathlib.Path(__file__).with_suffix(".json")


def ramp(*shape, scale, shift):
    """sin(shift), sin(shift + 1), …: numbers that C++ can write as well."""
    size = math.prod(shape)
    return mx.array([scale * math.sin(shift + i) for i in range(size)]).reshape(shape)


def model(scale, shift):
    return {
        "layers": [
            {"weight": ramp(5, 3, scale=scale, shift=shift), "bias": ramp(5, scale=scale, shift=shift + 1)},
            {"weight": ramp(2, 5, scale=scale, shift=shift + 2)},
        ],
        "gain": mx.array(scale),
    }


def forward(params, x):
    hidden = mx.tanh(x @ params["layers"][0]["weight"].T + params["layers"][0]["bias"])
    return params["gain"] * (hidden @ params["layers"][1]["weight"].T)


def loss(params, x):
    return mx.mean(mx.square(forward(params, x)))


def flat(params):
    first, second = params["layers"]
    return [first["weight"], first["bias"], second["weight"], params["gain"]]


def tree(arrays):
    w0, b0, w1, gain = arrays
    return {"layers": [{"weight": w0, "bias": b0}, {"weight": w1}], "gain": gain}


def answers():
    params, direction = model(0.5, 0.25), model(0.3, 2.5)
    x, dx = ramp(4, 3, scale=1.0, shift=0.5), ramp(4, 3, scale=0.7, shift=1.5)
    cotangent = ramp(4, 2, scale=0.9, shift=3.0)
    names = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "gain"]
    on_arrays = lambda *a: forward(tree(a[:4]), a[4])

    yield "forward", forward(params, x)
    value, gradient = mx.value_and_grad(loss)(params, x)
    yield "loss", value
    for name, array in zip(names, flat(gradient)):
        yield f"grad.{name}", array

    _, vjps = mx.vjp(lambda *a: [on_arrays(*a)], [*flat(params), x], [cotangent])
    for name, array in zip([*names, "x"], vjps):
        yield f"vjp.{name}", array
    _, jvps = mx.jvp(lambda *a: [on_arrays(*a)], [*flat(params), x], [*flat(direction), dx])
    yield "jvp", jvps[0]

    def along(*a):
        gradients = flat(mx.grad(loss)(tree(a), x))
        return sum(mx.sum(g * d) for g, d in zip(gradients, flat(direction)))

    for name, array in zip(names, mx.grad(along, argnums=[0, 1, 2, 3])(*flat(params))):
        yield f"hvp.{name}", array

    # Examples along axis 1 of x; the first weight has one for each example too, along its last axis.
    weights = mx.stack([params["layers"][0]["weight"] * (i + 1) for i in range(4)], axis=-1)
    one = lambda w, v: forward(tree([w, *flat(params)[1:]]), v[None])[0]
    yield "vmap", mx.vmap(one, in_axes=(-1, 1), out_axes=1)(weights, x.T)
    yield "vmap_of_grad", mx.vmap(mx.grad(lambda w, v: mx.sum(mx.square(one(w, v)))), in_axes=(None, 0))(
        params["layers"][0]["weight"], x
    )

    a = mx.zeros((6, 4))
    initializers = {
        "normal": nn.init.normal(0.5, 2.0),
        "uniform": nn.init.uniform(-1.0, 3.0),
        "glorot_normal": nn.init.glorot_normal(),
        "glorot_uniform": nn.init.glorot_uniform(),
        "he_normal": nn.init.he_normal(),
        "he_uniform": nn.init.he_uniform(),
        "orthogonal": nn.init.orthogonal(2.0),
    }
    for name, initializer in initializers.items():
        mx.random.seed(11)
        yield f"init.{name}", initializer(a)
    mx.random.seed(11)
    yield "init.he_uniform_fan_out", nn.init.he_uniform()(mx.zeros((6, 2, 3, 4)), mode="fan_out", gain=1.5)
    mx.random.seed(11)
    yield "dropout", nn.Dropout(0.25)(ramp(6, 4, scale=1.0, shift=0.5))
    yield "key", mx.random.split(mx.random.key(2**40 + 3), 3)


def main():
    found = {name: {"shape": list(a.shape), "values": a.flatten().tolist()} for name, a in answers()}
    if "--check" not in sys.argv:
        lines = [f"  {json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items()]
        STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    stored = json.loads(STORED.read_text())
    wrong = [name for name in {**stored, **found} if not same(stored.get(name), found.get(name))]
    for name in wrong:
        print(f"{name}: stored {stored.get(name)}, found {found.get(name)}")
    return 1 if wrong else 0


def same(a, b):
    close = lambda x, y: math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6)
    return bool(a and b) and a["shape"] == b["shape"] and all(map(close, a["values"], b["values"]))


if __name__ == "__main__":
    sys.exit(main())

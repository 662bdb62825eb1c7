#!/usr/bin/env python3
"""Checkpoints between mlx.nn in Python and Espalier, both ways: checkpoints.py PROGRAM, which is made of checkpoints.cpp.

The expected values are Python's: a model that mlx.optimizers trains for ten steps without a file in between."""

import json
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import mlx.core as mx
    import mlx.nn as nn
    import mlx.optimizers as optim
    from mlx.utils import tree_flatten, tree_unflatten
except ImportError:
    print("skipped: mlx is not installed")
    sys.exit(77)

mx.set_default_device(mx.cpu)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 5), nn.Linear(5, 2, bias=False)]
        self.norm = nn.LayerNorm(5)

    def __call__(self, x):
        return self.layers[1](self.norm(nn.relu(self.layers[0](x))))


def make():
    mx.random.seed(1)
    model = MLP()
    optimizer = optim.Adam(learning_rate=0.01, bias_correction=True)
    mx.eval(model.parameters())
    return model, optimizer


def train(model, optimizer, data, steps):
    step = nn.value_and_grad(model, lambda m, x, y: mx.mean(mx.square(m(x) - y)))
    for _ in range(steps):
        _, gradients = step(model, data["x"], data["y"])
        optimizer.update(model, gradients)
        mx.eval(model.parameters(), optimizer.state)


def flat(tree):
    return dict(tree_flatten(tree))


def close(a, b, what):
    assert a.keys() == b.keys(), f"{what}: {a.keys() ^ b.keys()}"
    for name in a:
        assert a[name].shape == b[name].shape, f"{what}: {name}"
        difference = mx.max(mx.abs(a[name].astype(mx.float32) - b[name].astype(mx.float32))).item()
        assert difference <= 1e-6, f"{what}: {name} differs by {difference}"


def test_training_goes_on_in_cpp_and_back_in_python(program, folder):
    mx.random.seed(2)
    data = {"x": mx.random.normal((4, 3)), "y": mx.random.normal((4, 2))}
    expected, expected_optimizer = make()
    train(expected, expected_optimizer, data, 10)

    model, optimizer = make()
    train(model, optimizer, data, 3)
    mx.save_safetensors(str(folder / "data.safetensors"), data)
    model.save_weights(str(folder / "weights.safetensors"))
    mx.save_safetensors(str(folder / "optimizer.safetensors"), flat(optimizer.state))
    subprocess.run([program, "train", folder, "4"], check=True, timeout=300)

    seven, seven_optimizer = make()
    train(seven, seven_optimizer, data, 7)
    model, optimizer = make()
    model.load_weights(str(folder / "trained_weights.safetensors"))  # strict: all names and shapes
    close(flat(model.parameters()), flat(seven.parameters()), "weights after 3 steps in Python and 4 in C++")
    loaded = mx.load(str(folder / "trained_optimizer.safetensors"))
    assert loaded["step"].item() == 7
    optimizer.init(model.trainable_parameters())
    state = tree_unflatten(list(loaded.items())) | {"learning_rate": optimizer.learning_rate}
    close(flat(state), flat(seven_optimizer.state), "the optimizer's state after 3 steps in Python and 4 in C++")

    optimizer.state = state
    train(model, optimizer, data, 3)
    close(flat(model.parameters()), flat(expected.parameters()), "weights after 3 steps more in Python")


def test_python_reads_what_cpp_writes(program, folder):
    file = folder / "everything.safetensors"
    subprocess.run([program, "write", file], check=True, timeout=300)
    arrays, metadata = mx.load(str(file), return_metadata=True)
    expected = mx.array([[0, 1, 0], [1, 1, 0]])
    for name, value in arrays.items():
        if name.startswith("by_dtype.") and name != "by_dtype.transposed":
            dtype = "bool_" if name.endswith("bool") else name.removeprefix("by_dtype.")
            assert value.dtype == getattr(mx, dtype), name
            assert mx.array_equal(value, expected.astype(value.dtype)), name
    assert len(arrays) == 13 + 2, arrays.keys()
    assert mx.array_equal(arrays["by_dtype.transposed"], mx.array([[0, 3], [1, 4], [2, 5]]))
    assert arrays["scalar"].shape == () and arrays["scalar"].item() == 2.5
    assert metadata["leaf:on"] == "bool:true" and metadata["leaf:rate"] == "f64:0.1"
    assert metadata["leaf:none"] == "array:float32[0, 3]"
    assert metadata["node:absent"] == "None" and metadata["node:empty"] == "0 elements"
    assert metadata["espalier.version"] == "1" and len(metadata["espalier.structure_hash"]) == 16

    # The file by itself, as the format describes it: names and offsets, without a gap.
    raw = file.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    del header["__metadata__"]
    spans = sorted(entry["data_offsets"] for entry in header.values())
    assert spans[0][0] == 0 and spans[-1][1] == len(raw) - 8 - length
    assert all(a[1] == b[0] for a, b in zip(spans, spans[1:]))


def test_a_killed_save_leaves_a_whole_file(program, folder):
    file = folder / "churn.safetensors"
    for i in range(5):
        with subprocess.Popen([program, "churn", file], stdout=subprocess.PIPE) as saving:
            assert saving.stdout.readline() == b"saved\n"
            time.sleep(0.05 + 0.013 * i)
            saving.kill()
        arrays = mx.load(str(file))
        assert len(arrays) == 4
        first = arrays["0"][0].item()
        for name, value in arrays.items():
            assert mx.all(value == first), name


def main():
    program = sys.argv[1]
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as folder:
                test(program, Path(folder))
            print("passed:", name)


if __name__ == "__main__":
    main()

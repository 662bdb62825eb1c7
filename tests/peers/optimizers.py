#!/usr/bin/env python3
"""Asks mlx.optimizers for ten steps of every optimizer, and for what every schedule gives.

  optimizers.py            writes optimizers.json
  optimizers.py --check    says whether the stored one still holds; exits 1 if not

optimizers.cpp asks espalier::optim the same. The problem: float32 parameters of several shapes, p_i = sin(i + 1) +
k / 4 for the i-th element of parameter k, and in step t = 0, 1, …, 9 the gradients
g_i = (0.5 + 0.1 (i mod 3)) p_i + 0.01 t - 0.03 k, at the current parameters. `pip install -r requirements.txt` installs
the peer in its version; without it, this exits 77.
"""

import importlib.metadata
import json
import math
import pathlib
import sys

try:
    import mlx.core as mx
    import mlx.optimizers as optim
except ModuleNotFoundError as missing:
    print(f"{missing}; pip install -r requirements.txt")
    sys.exit(77)  # what CTest takes for a skipped test

STORED = pathlib.Path(__file__).parent / "optimizers.json"
SHAPES = [[], [3], [3, 2], [2, 4], [2, 2, 2, 3]]
STEPS = 10
COUNTS = [0, 1, 4, 5, 6, 9, 10, 11, 14, 15, 20, 29, 30, 40, 100]

# Adam's two corrections are the exact ones in Espalier; MLX takes 1 - b2^t in float32, off by 3e-5 in the first step.
# So their learning rate is small enough for that not to be seen here.
OPTIMIZERS = {
    "sgd": lambda: optim.SGD(0.1),
    "sgd_momentum": lambda: optim.SGD(0.1, momentum=0.9),
    "sgd_dampening": lambda: optim.SGD(0.1, momentum=0.9, dampening=0.2),
    "sgd_nesterov": lambda: optim.SGD(0.1, momentum=0.9, nesterov=True),
    "sgd_weight_decay": lambda: optim.SGD(0.1, momentum=0.9, weight_decay=0.05),
    "sgd_schedule": lambda: optim.SGD(optim.linear_schedule(0.2, 0.05, 6)),
    "rmsprop": lambda: optim.RMSprop(0.05),
    "rmsprop_options": lambda: optim.RMSprop(0.05, alpha=0.9, eps=1e-3),
    "adagrad": lambda: optim.Adagrad(0.1),
    "adadelta": lambda: optim.AdaDelta(1.0),
    "adadelta_options": lambda: optim.AdaDelta(0.5, rho=0.8, eps=1e-3),
    "adam": lambda: optim.Adam(0.01, bias_correction=True),
    "adam_uncorrected": lambda: optim.Adam(0.1),
    "adam_schedule": lambda: optim.Adam(optim.cosine_decay(0.1, 8, 0.01)),
    "adamw": lambda: optim.AdamW(0.01, weight_decay=0.05, bias_correction=True),
    "adamw_uncorrected": lambda: optim.AdamW(0.1, betas=[0.8, 0.95], eps=1e-3),
    "adamax": lambda: optim.Adamax(0.1),
    "lion": lambda: optim.Lion(0.01),
    "lion_weight_decay": lambda: optim.Lion(0.01, betas=[0.8, 0.95], weight_decay=0.1),
    "adafactor": lambda: optim.Adafactor(),
    "adafactor_warmup": lambda: optim.Adafactor(warmup_init=True, beta_1=0.9, weight_decay=0.01),
    "adafactor_rate": lambda: optim.Adafactor(0.05, relative_step=False, scale_parameter=False, clip_threshold=0.5),
    "muon": lambda: optim.Muon(0.02),
    "muon_plain": lambda: optim.Muon(0.02, momentum=0.9, weight_decay=0.0, nesterov=False, ns_steps=3),
    "multi": lambda: optim.MultiOptimizer(
        [optim.Muon(0.02), optim.Lion(0.01), optim.SGD(0.1)],
        [lambda _, p: p.ndim == 2, lambda _, p: p.ndim == 4],
    ),
}

SCHEDULES = {
    "linear_schedule": optim.linear_schedule(0.1, 0.02, 10),
    "exponential_decay": optim.exponential_decay(0.1, 0.9),
    "step_decay": optim.step_decay(0.1, 0.5, 5),
    "cosine_decay": optim.cosine_decay(0.1, 20, 0.01),
    "join_schedules": optim.join_schedules(
        [optim.linear_schedule(0.0, 0.1, 5), optim.cosine_decay(0.1, 10), optim.exponential_decay(0.05, 0.8)], [5, 15]
    ),
}


def start():
    return [
        mx.array([math.sin(i + 1) + k / 4 for i in range(math.prod(shape))], mx.float32).reshape(shape)
        for k, shape in enumerate(SHAPES)
    ]


def gradients(params, t):
    return [
        mx.array([0.5 + 0.1 * (i % 3) for i in range(p.size)], mx.float32).reshape(p.shape) * p
        + mx.array(0.01 * t - 0.03 * k, mx.float32)
        for k, p in enumerate(params)
    ]


def ten_steps(opt):
    names = [f"p{k}" for k in range(len(SHAPES))]
    params = dict(zip(names, start()))
    for t in range(STEPS):
        grads = dict(zip(names, gradients(list(params.values()), t)))
        stepped = opt.apply_gradients(grads, params)
        params = {name: stepped[name] for name in names}
    return [p.reshape(-1).tolist() for p in params.values()]


def rounded(values):
    """With the nine digits that tell float32 numbers apart."""
    return [rounded(value) for value in values] if isinstance(values, list) else float(f"{values:.9g}")


def text():
    lines = [f'"mlx": {json.dumps(importlib.metadata.version("mlx"))}', f'"counts": {json.dumps(COUNTS)}']
    lines += [f'"{name}": {json.dumps(rounded(ten_steps(make())))}' for name, make in OPTIMIZERS.items()]
    for name, schedule in SCHEDULES.items():
        values = [mx.array(schedule(mx.array(count, mx.uint64))).item() for count in COUNTS]
        lines.append(f'"{name}": {json.dumps(rounded(values))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def close(a, b):
    """As math.isclose, of numbers in lists and dicts: other processors round differently."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b if isinstance(a, str) else math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)


def main():
    if sys.argv[1:] != ["--check"]:
        STORED.write_text(text())
        return 0
    stored, now = json.loads(STORED.read_text()), json.loads(text())
    changed = [name for name in stored | now if name not in stored or name not in now or not close(stored[name], now[name])]
    print(f"Changed: {', '.join(changed)}" if changed else "The peer's answers are those that are stored.")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())

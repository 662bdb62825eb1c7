"""Prints the expected values of the tests beside it, computed by two peers.

    pip install optax==0.2.8 jax==0.10.2          # "optax ..." lines, in float64
    pip install "mlx[cpu]==0.32.4"                # "mlx ..." lines, in float32

The problem, the same everywhere: parameters w = (1, -2), b = 0.5, and ten steps with the gradients
gw_i = (0.5 + 0.1 i) w_i + 0.01 t (t = 0, 1, ..., 9; i = 0, 1) and gb = 0.3 b - 0.02 t, at the current parameters.
Each line gives w_0, w_1 and b after the ten steps.
"""


def gradients(w, b, t, array):
    return (array([0.5, 0.6]) * w + 0.01 * t, 0.3 * b - 0.02 * t)


def optax_lines():
    import jax
    import jax.numpy as jnp
    import optax

    jax.config.update("jax_enable_x64", True)
    cases = {
        "sgd": optax.sgd(0.1),
        "sgd_momentum": optax.sgd(0.1, momentum=0.9),
        "sgd_nesterov": optax.sgd(0.1, momentum=0.9, nesterov=True),
        "adam": optax.adam(0.1),
        "adam_betas": optax.adam(0.05, b1=0.8, b2=0.95, eps=1e-3),
        "adamw": optax.adamw(0.1, weight_decay=0.05),
        "clip": optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1)),
        "clip_adam": optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.1)),
    }
    for name, opt in cases.items():
        params = (jnp.array([1.0, -2.0]), jnp.array(0.5))
        state = opt.init(params)
        for t in range(10):
            updates, state = opt.update(gradients(*params, t, jnp.array), state, params)
            params = optax.apply_updates(params, updates)
        w, b = params
        print("optax", name, *(f"{float(x):.15g}" for x in (w[0], w[1], b)))


def mlx_lines():
    import mlx.core as mx
    import mlx.optimizers as optim

    cases = {
        "sgd_momentum": optim.SGD(0.1, momentum=0.9),
        "sgd_nesterov": optim.SGD(0.1, momentum=0.9, nesterov=True),
        "adam": optim.Adam(0.1, bias_correction=True),
        "adamw": optim.AdamW(0.1, weight_decay=0.05, bias_correction=True),
    }
    for name, opt in cases.items():
        params = {"w": mx.array([1.0, -2.0]), "b": mx.array(0.5)}
        for t in range(10):
            w, b = gradients(params["w"], params["b"], t, mx.array)
            params = opt.apply_gradients({"w": w, "b": b}, params)
        w, b = params["w"], params["b"]
        print("mlx", name, *(f"{x.item():.8g}" for x in (w[0], w[1], b)))


for lines in (optax_lines, mlx_lines):
    try:
        lines()
    except ImportError as missing:
        print(f"# {missing}: its lines are left out")

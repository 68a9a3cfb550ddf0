#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the demo profile: a small transformer trained on the CPU, as a user would profile it.

    capture-demo.py LOGDIR [--tiny]

Needs jax.  The run has what a report should find: a data loader that the step waits for, a loss that is printed
on every third step (the host waits for the device), and a last batch of another shape, which compiles the step
again in the middle of training.  --tiny records two
steps of one small product instead: some kilobytes, for the test that cuts a profile at every byte.
The profile takes the machine's name and the paths of this script and of jax:
run it where those say nothing, for example

    cd /tmp/profile-demo && unshare --uts sh -c 'hostname demo; exec PYTHON capture-demo.py logs'
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 256, 64, 4, 2, 64, 16
STEPS, SHORT_BATCH_AT = 9, 5


def make_parameters(generator):
    """Weights of a decoder with LAYERS blocks; made by numpy, so that they add no module to the profile."""

    def dense(n_in, n_out):
        return (generator.standard_normal((n_in, n_out)) / np.sqrt(n_in)).astype(np.float32)

    blocks = [{"qkv": dense(WIDTH, 3 * WIDTH), "out": dense(WIDTH, WIDTH),
               "up": dense(WIDTH, 4 * WIDTH), "down": dense(4 * WIDTH, WIDTH)} for _ in range(LAYERS)]
    return {"embed": dense(VOCABULARY, WIDTH), "head": dense(WIDTH, VOCABULARY), "blocks": blocks}


def normalise(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(block, x):
    n_batch, length, _ = x.shape
    q, k, v = jnp.split(x @ block["qkv"], 3, axis=-1)
    q, k, v = (t.reshape(n_batch, length, HEADS, -1).transpose(0, 2, 1, 3) for t in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS)
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return (weights @ v).transpose(0, 2, 1, 3).reshape(n_batch, length, WIDTH) @ block["out"]


def loss_of(parameters, tokens):
    x = parameters["embed"][tokens[:, :-1]]
    for i, block in enumerate(parameters["blocks"]):
        with jax.named_scope(f"block_{i}"):
            with jax.named_scope("attention"):
                x = x + attention(block, normalise(x))
            with jax.named_scope("mlp"):
                x = x + jax.nn.gelu(normalise(x) @ block["up"]) @ block["down"]
    with jax.named_scope("head"):
        logits = jax.nn.log_softmax(normalise(x) @ parameters["head"])
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1).mean()


@jax.jit
def train_step(parameters, tokens):
    loss, gradient = jax.value_and_grad(loss_of)(parameters, tokens)
    return loss, jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradient)


def next_batch(generator, step):
    """What a data loader does: read, decode, collate.  The sleep stands for a file on the network."""
    time.sleep(0.012)
    rows = BATCH if step != SHORT_BATCH_AT else BATCH // 2
    return generator.integers(0, VOCABULARY, (rows, LENGTH + 1), dtype=np.int32)


def profile(logdir, steps, hlo):
    """Run `steps` (a function) under the profiler.  The options keep the file small."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.enable_hlo_proto = hlo
    jax.profiler.start_trace(logdir, profiler_options=options)
    steps()
    jax.profiler.stop_trace()


def demo(logdir):
    generator = np.random.default_rng(0)
    parameters = jax.device_put(make_parameters(generator))
    loss, parameters = train_step(parameters, next_batch(generator, 0))
    jax.block_until_ready(parameters)

    def steps():
        nonlocal loss, parameters
        for step in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                with jax.profiler.TraceAnnotation("data_loading"):
                    tokens = next_batch(generator, step)
                loss, parameters = train_step(parameters, tokens)
                if step % 3 == 2:
                    print(f"step {step}: loss {float(loss):.3f}")
        jax.block_until_ready(parameters)

    profile(logdir, steps, hlo=True)


def tiny(logdir):
    square = jax.jit(lambda x: x @ x)
    x = jax.block_until_ready(square(jnp.ones((32, 32))))

    def steps():
        for step in range(2):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                jax.block_until_ready(square(x))

    profile(logdir, steps, hlo=False)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--tiny"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    # The programs in the profile name lines of this script: by the file's name alone.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    # A CPU that is given work asynchronously does it in a later step, and its profile does not tell which one
    # launched it.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    (tiny if "--tiny" in sys.argv else demo)(arguments[0])


if __name__ == "__main__":
    main()

"""Processor time in milliseconds of ACKTR's update by baselines' own optimizer.

`KfacOptimizer` comes from PyPI's baselines 0.1.5 as it is, but for the arguments
named `async`, a keyword since. The graph around it is that of baselines' ACKTR:
the loss of A2C, and the likelihood of the rollout's actions and of noisy values;
biases are added by BiasAdd, which the optimizer knows as part of a layer. Factors
are inverted in the graph, after every tenth update, and not in another thread.

First it repeats updates that bellman_acktr.ts has just recorded: `difference` is
the largest |a - b| / (1 + |a|) of any parameter, velocity, factor or statistic.
"""
import contextlib
import importlib.util
import io
import json
import re
import sys
import time
import types
from pathlib import Path
from statistics import median

import numpy as np
from tf1_acer import deviation, parameters, tf

ENTROPY_WEIGHT, VALUE_WEIGHT, MAX_NORM = 0.01, 0.5, 0.5
LEARNING_RATE, MOMENTUM, CLIP, DAMPING, DECAY = 0.25, 0.9, 0.001, 0.01, 0.99
COLD, EVERY = 10, 10
SCOPE = "model"
UPDATES = 3  # that are compared; after the second one the factors are inverted
REPEATS = {"mlp_640": (3, 7), "mlp_320": (3, 7), "cnn_640": (0, 1)}


def original_module():
    """Loads baselines/acktr/kfac.py, which knows only TensorFlow 1."""
    sys.modules["tensorflow"] = tf
    path = Path(importlib.util.find_spec("baselines").origin).parent
    text = (path / "acktr" / "kfac.py").read_text()
    module = types.ModuleType("kfac")
    exec(re.sub(r"\basync\b", "asynchronous", text), module.__dict__)
    return module


KFAC = original_module()


def dense(path, x, size):
    kernel, bias = parameters(path, [int(x.shape[-1]), size])
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def convolution(path, x, filters, side, stride):
    kernel, bias = parameters(path, [side, side, int(x.shape[-1]), filters])
    strides = [1, stride, stride, 1]
    found = tf.nn.conv2d(x, kernel, strides=strides, padding="VALID")
    return tf.nn.bias_add(found, bias)


def network(kind, observations, actions):
    """Logits of the policy, and values, on one trunk."""
    x = tf.cast(observations, tf.float32)
    if kind == "cnn":
        x = x / 255.0
        for i, sizes in enumerate([(32, 8, 4), (64, 4, 2), (64, 3, 1)]):
            x = tf.nn.relu(convolution(f"shared/conv{i}", x, *sizes))
        size = int(np.prod(x.shape[1:]))
        x = tf.nn.relu(dense("shared/dense0", tf.reshape(x, [-1, size]), 512))
    else:
        for i in range(2):
            x = tf.tanh(dense(f"shared/dense{i}", x, 64))
    return dense("pi/head", x, actions), dense("vf/head", x, 1)


class Model:
    """The graph: what is fed, what a training step runs, and what it moves."""

    def __init__(self, kind, observations, actions):
        rows = len(observations)
        x = tf.placeholder(observations.dtype, observations.shape)
        action = tf.placeholder(tf.int32, [rows])
        advantages, returns, noise = (
            tf.placeholder(tf.float32, [rows]) for _ in range(3)
        )
        self.inputs = x, action, advantages, returns, noise
        with tf.variable_scope(SCOPE):
            logits, value = network(kind, x, actions)
        value = value[:, 0]
        surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(
            logits=logits, labels=action
        )
        log_f = tf.nn.log_softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_f) * log_f, axis=1))
        policy_loss = tf.reduce_mean(advantages * surprise)
        value_loss = tf.reduce_mean(tf.square(value - returns))
        loss = policy_loss - ENTROPY_WEIGHT * entropy + VALUE_WEIGHT * value_loss
        target = tf.stop_gradient(value + noise)
        likelihood = -tf.reduce_mean(surprise) - tf.reduce_mean(
            tf.square(value - target)
        )
        params = tf.trainable_variables(SCOPE)
        self.optimizer = KFAC.KfacOptimizer(
            learning_rate=LEARNING_RATE,
            momentum=MOMENTUM,
            clip_kl=CLIP,
            kfac_update=EVERY,
            cold_iter=COLD,
            epsilon=DAMPING,
            stats_decay=DECAY,
            max_grad_norm=MAX_NORM,
        )
        gradients = tf.gradients(loss, params)
        self.optimizer.compute_and_apply_stats(likelihood, var_list=params)
        self.train, _ = self.optimizer.apply_gradients(list(zip(gradients, params)))
        eigen = self.optimizer.computeStatsEigen()
        self.invert = tf.group(*self.optimizer.applyStatsEigen(eigen))
        self.params = {it.op.name.removeprefix(f"{SCOPE}/"): it for it in params}
        self.statistics = {
            "loss": loss,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "grad_norm": tf.global_norm(gradients),
        }

    def velocities(self):
        slots = {it.op.name: it for it in tf.global_variables()}
        return {
            name: slots[f"{SCOPE}/{name}/Momentum"] for name in self.params
        }

    def factors(self):
        """A factor of a kernel, and its scale.

        The original divides inputs of convolutions by the number of places, and
        multiplies the gradients with it; ours are of the sum over places.
        """
        for name, param in self.params.items():
            if not name.endswith("kernel"):
                continue
            stats = self.optimizer.stats[param]
            grad = self.optimizer.factors[param]["bpropFactors_concat"]
            places = int(np.prod(grad.shape[1:-1]))
            both = (
                ("input", "fprop_concat_stats", places**-2.0),
                ("output", "bprop_concat_stats", places**2.0),
            )
            for side, key, scale in both:
                (factor,) = stats[key]
                yield f"{side}/{name}", factor, scale


class Program:
    """A session of one thread with the graph, and the recorded numbers."""

    def __init__(self, recorded, kind):
        self.recorded = recorded
        graph = tf.Graph()
        with graph.as_default():
            actions = recorded["before:policy:pi/head/bias"].size
            # The optimizer prints what it finds.
            with contextlib.redirect_stdout(io.StringIO()):
                self.model = Model(kind, recorded["batch0:observations"], actions)
            self.velocities = self.model.velocities()
            start = tf.global_variables_initializer()
        one = tf.ConfigProto(
            intra_op_parallelism_threads=1, inter_op_parallelism_threads=1
        )
        self.session = tf.Session(graph=graph, config=one)
        self.session.run(start)
        optimizer = self.model.optimizer
        counters = {
            optimizer.sgd_step: COLD + 1,
            optimizer.stats_step: 2 * COLD,
            optimizer.factor_step: 1,
        }
        for variable, value in counters.items():
            variable.load(value, self.session)
        for name, variable in self.model.params.items():
            variable.load(recorded[f"before:policy:{name}"], self.session)
        for name, factor, scale in self.model.factors():
            numbers = recorded[f"before:optimizer:all/{name}"] * scale
            factor.load(numbers, self.session)
        self.session.run(self.model.invert)

    def batch(self, i):
        names = "observations", "actions", "advantages", "returns", "valueNoise"
        return [self.recorded[f"batch{i}:{it}"] for it in names]

    def update(self, batch):
        fetched = [self.model.train, *self.model.statistics.values()]
        feed = dict(zip(self.model.inputs, batch))
        return self.session.run(fetched, feed)[1:]

    def difference(self):
        """The largest deviation of the recorded updates."""
        pairs = []
        for i in range(UPDATES):
            found = self.update(self.batch(i))
            names = [f"stats{i}:{it}" for it in self.model.statistics]
            pairs += [(self.recorded[it], value) for it, value in zip(names, found)]
            if i == 1:
                self.session.run(self.model.invert)
        after, run = "after:optimizer:all", self.session.run
        for name, variable in self.model.params.items():
            pairs.append((self.recorded[f"after:policy:{name}"], run(variable)))
            velocity = self.recorded[f"{after}/velocity/{name}"]
            pairs.append((velocity, run(self.velocities[name])))
        for name, factor, scale in self.model.factors():
            pairs.append((self.recorded[f"{after}/{name}"], run(factor) / scale))
        return max(deviation(*both) for both in pairs)

    def milliseconds(self, *, warm_up, runs):
        """Mean of the updates from one inversion to the next."""
        batch, times = self.batch(0), []
        for _ in range(warm_up + runs):
            started = time.process_time()
            for _ in range(EVERY):
                self.update(batch)
            times.append((time.process_time() - started) / EVERY * 1000)
        return median(times[warm_up:])


def main():
    task = json.loads(sys.argv[1])
    folder, figures = Path(task["folder"]), {}
    for name in task["cases"]:
        warm_up, runs = REPEATS[name]
        with np.load(folder / f"acktr_{name}.npz") as arrays:
            program = Program(dict(arrays), name[:3])
        figures[f"{name}_difference"] = program.difference()
        figures[f"{name}_ms"] = program.milliseconds(warm_up=warm_up, runs=runs)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

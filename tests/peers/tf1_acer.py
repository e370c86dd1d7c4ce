"""Processor time in milliseconds of ACER's update as the graph of baselines' `Model`.

The same operations in TensorFlow 1's graph mode: sequences are unrolled step by
step, there is a copy of the network on the averaged parameters, and a gradient
each for the policy and the Q function. First it repeats updates that
bellman_acer.ts has just recorded: `difference` is the largest |a - b| / (1 + |a|)
of any parameter, average, mean square or statistic after them.
"""
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402 -- TensorFlow reads the line above
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

ENVS, STEPS = 16, 20
BATCH = ENVS * STEPS
GAMMA, CLIP, DELTA = 0.99, 10.0, 1.0
Q_WEIGHT, ENTROPY_WEIGHT, MAX_NORM = 0.5, 0.01, 10.0
LEARNING_RATE, DECAY, EPSILON = 7e-4, 0.99, 1e-5
AVERAGE_DECAY, SMALL = 0.99, 1e-6
SCOPE = "acer_model"
UPDATES = 3  # that are compared
REPEATS = {"mlp": (15, 40), "cnn": (11, 1)}


def parameters(path, shape):
    with tf.variable_scope(path):
        return tf.get_variable("kernel", shape), tf.get_variable("bias", shape[-1:])


def dense(path, x, size):
    kernel, bias = parameters(path, [int(x.shape[-1]), size])
    return tf.matmul(x, kernel) + bias


def convolution(path, x, filters, side, stride):
    kernel, bias = parameters(path, [side, side, int(x.shape[-1]), filters])
    strides = [1, stride, stride, 1]
    return tf.nn.conv2d(x, kernel, strides=strides, padding="VALID") + bias


def network(kind, observations, actions):
    """Logits of the policy and values of all actions, on one trunk."""
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
    return dense("pi/head", x, actions), dense("q/head", x, actions)


def by_step(x, steps):
    """Splits env-major rows into a list of tensors, one for each step."""
    rows = tf.reshape(x, [ENVS, steps, *x.shape[1:]])
    return [tf.squeeze(it, [1]) for it in tf.split(rows, steps, axis=1)]


def in_rows(steps):
    """Joins what `by_step` has split."""
    rows = tf.stack(steps, axis=1)
    return tf.reshape(rows, [-1, *rows.shape[2:]])


def without_last(x):
    return in_rows(by_step(x, STEPS + 1)[:-1])


def chosen(x, actions):
    """Takes the number of each row's action."""
    places = tf.range(BATCH) * int(x.shape[-1]) + actions
    return tf.gather(tf.reshape(x, [-1]), places)


def retrace(rewards, dones, q, values, ratios):
    """Goes back through the steps, one operation after the other."""
    bars = by_step(tf.minimum(1.0, ratios), STEPS)
    rewards, dones, q = (by_step(it, STEPS) for it in (rewards, dones, q))
    values = by_step(values, STEPS + 1)
    follows, targets = values[-1], []
    for i in reversed(range(STEPS)):
        follows = rewards[i] + GAMMA * follows * (1.0 - dones[i])
        targets.insert(0, follows)
        follows = bars[i] * (follows - q[i]) + values[i]
    return in_rows(targets)


def mean_norm(x):
    return tf.reduce_mean(tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1)))


def variance(x):
    return tf.nn.moments(tf.reshape(x, [ENVS, STEPS]), axes=[0, 1])[1]


def plus(first, second):
    """Adds gradients, of which either may be missing."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


class Model:
    """The graph: what is fed, what a training step runs, and what it moves.

    The original makes the averaging before it opens the dependency on the step,
    so that it runs at any time, even before the averages are read. `ordered`
    makes it anew after the step, as intended: its numbers can be compared.
    """

    def __init__(self, kind, shape, dtype, actions, *, ordered):
        rows = [ENVS * (STEPS + 1), *shape]
        observations = tf.placeholder(dtype, rows)
        action = tf.placeholder(tf.int32, [BATCH])
        rewards, dones = (tf.placeholder(tf.float32, [BATCH]) for _ in range(2))
        mu = tf.placeholder(tf.float32, [BATCH, actions])
        rate = tf.placeholder(tf.float32, [])
        self.inputs = observations, action, rewards, dones, mu, rate

        with tf.variable_scope(SCOPE):
            logits, q = network(kind, observations, actions)
        self.params = params = tf.trainable_variables(SCOPE)
        average = tf.train.ExponentialMovingAverage(AVERAGE_DECAY)
        averaging = average.apply(params)

        def averaged(getter, *args, **kwargs):
            return average.average(getter(*args, **kwargs))

        with tf.variable_scope(SCOPE, custom_getter=averaged, reuse=True):
            average_logits, _ = network(kind, observations, actions)

        every_f = tf.nn.softmax(logits)
        values = tf.reduce_sum(every_f * q, axis=-1)
        f, f_average, q = map(
            without_last, (every_f, tf.nn.softmax(average_logits), q)
        )
        f_i, q_i = chosen(f, action), chosen(q, action)
        rho = f / (mu + SMALL)
        rho_i = chosen(rho, action)
        targets = retrace(rewards, dones, q_i, values, rho_i)
        values = without_last(values)

        entropy = tf.reduce_mean(-tf.reduce_sum(f * tf.log(f + SMALL), axis=1))
        weights = tf.stop_gradient((targets - values) * tf.minimum(CLIP, rho_i))
        loss_f = -tf.reduce_mean(tf.log(f_i + SMALL) * weights)
        left = tf.nn.relu(1.0 - CLIP / (rho + SMALL)) * f
        weights = tf.stop_gradient((q - tf.reshape(values, [BATCH, 1])) * left)
        gains = tf.reduce_sum(tf.log(f + SMALL) * weights, axis=1)
        loss_bc = -tf.reduce_mean(gains)
        loss_policy = loss_f + loss_bc
        errors = tf.stop_gradient(targets) - q_i
        loss_q = tf.reduce_mean(tf.square(errors) * 0.5)
        loss = loss_policy + Q_WEIGHT * loss_q - ENTROPY_WEIGHT * entropy
        explained = 1.0 - variance(q_i - targets) / variance(targets)

        gain = -(loss_policy - ENTROPY_WEIGHT * entropy) * BATCH
        (g,) = tf.gradients(gain, f)
        k = -f_average / (f + SMALL)
        k_dot_g = tf.reduce_sum(k * g, axis=-1)
        square = tf.reduce_sum(tf.square(k), axis=-1) + SMALL
        excess = tf.maximum(0.0, (k_dot_g - DELTA) / square)
        grads_f = -(g - tf.reshape(excess, [BATCH, 1]) * k) / BATCH
        of_policy = tf.gradients(f, params, grads_f)
        of_q = tf.gradients(loss_q * Q_WEIGHT, params)
        gradients = [plus(*both) for both in zip(of_policy, of_q)]
        gradients, norm = tf.clip_by_global_norm(gradients, MAX_NORM)

        optimizer = tf.train.RMSPropOptimizer(rate, decay=DECAY, epsilon=EPSILON)
        step = optimizer.apply_gradients(zip(gradients, params))
        with tf.control_dependencies([step]):
            self.train = tf.group(average.apply(params) if ordered else averaging)
        self.state = {}
        for it in params:
            name = it.op.name.removeprefix(f"{SCOPE}/")
            self.state[f"policy:{name}"] = it
            self.state[f"average:{name}"] = average.average(it)
            self.state[f"slots:rms/{name}"] = optimizer.get_slot(it, "rms")
        self.statistics = {
            "loss": loss,
            "q_loss": loss_q,
            "entropy": entropy,
            "policy_loss": loss_policy,
            "truncated_loss": loss_f,
            "bias_correction_loss": loss_bc,
            "explained_variance": explained,
            "grad_norm": norm,
            "q_grad_norm": tf.global_norm(of_q),
            "policy_grad_norm": tf.global_norm(of_policy),
            "projected_gradient_norm": mean_norm(grads_f) * BATCH,
            "kl_gradient_norm": mean_norm(k),
            "gain_gradient_norm": mean_norm(g),
            "kl_gain_product": tf.reduce_mean(tf.abs(k_dot_g)),
            "trust_region_adjustment": tf.reduce_mean(tf.abs(excess)),
        }


def deviation(ours, theirs):
    return float(np.max(np.abs(ours - theirs) / (1 + np.abs(ours)), initial=0))


class Program:
    """A session of one thread with the graph, and the recorded numbers."""

    def __init__(self, recorded, kind, *, ordered):
        self.recorded = recorded
        batch = self.batch(0)
        _, *shape = batch[0].shape
        actions = batch[-2].shape[1]
        graph = tf.Graph()
        with graph.as_default():
            self.model = Model(kind, shape, batch[0].dtype, actions, ordered=ordered)
            start = tf.global_variables_initializer()
        one = tf.ConfigProto(
            intra_op_parallelism_threads=1, inter_op_parallelism_threads=1
        )
        self.session = tf.Session(graph=graph, config=one)
        self.session.run(start)
        for variables, values in zip(*self.state("before")):
            variables.load(values, self.session)

    def batch(self, i):
        names = "observations", "actions", "rewards", "terminated", "mu"
        return [self.recorded[f"batch{i}:{it}"] for it in names] + [LEARNING_RATE]

    def state(self, when):
        """Variables, and the numbers that they had."""
        variables = self.model.state
        return variables.values(), [self.recorded[f"{when}:{it}"] for it in variables]

    def update(self, batch):
        fetched = [self.model.train, *self.model.statistics.values()]
        feed = dict(zip(self.model.inputs, batch))
        return self.session.run(fetched, feed)[1:]

    def difference(self):
        """The largest deviation of the recorded updates."""
        pairs = []
        for i in range(UPDATES):
            names = [f"stats{i}:{it}" for it in self.model.statistics]
            found = zip(names, self.update(self.batch(i)))
            # Some updates are recorded without statistics.
            pairs += [
                (self.recorded[name], value)
                for name, value in found
                if name in self.recorded
            ]
        variables, values = self.state("after")
        pairs += zip(values, self.session.run(list(variables)))
        return max(deviation(*both) for both in pairs)

    def milliseconds(self, *, runs, calls):
        batch, times = self.batch(0), []
        for _ in range(3 + runs):
            started = time.process_time()
            for _ in range(calls):
                self.update(batch)
            times.append((time.process_time() - started) / calls * 1000)
        return median(times[3:])


def main():
    folder = Path(json.loads(sys.argv[1])["folder"])
    figures = {}
    for kind, (runs, calls) in REPEATS.items():
        with np.load(folder / f"{kind}.npz") as arrays:
            recorded = dict(arrays)
        checked = Program(recorded, kind, ordered=True)
        figures[f"{kind}_difference"] = checked.difference()
        program = Program(recorded, kind, ordered=False)
        figures[f"{kind}_ms"] = program.milliseconds(runs=runs, calls=calls)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

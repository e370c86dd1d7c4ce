import * as tf from "@tensorflow/tfjs";
import { ACROBOT } from "../classic_control/acrobot.ts";
import { CART_POLE } from "../classic_control/cart_pole.ts";
import type { Dynamics } from "../classic_control/dynamics.ts";
import {
  MOUNTAIN_CAR,
  MOUNTAIN_CAR_CONTINUOUS,
} from "../classic_control/mountain_car.ts";
import { PENDULUM } from "../classic_control/pendulum.ts";
import type { TensorEnv } from "./episodes.ts";

/** Spaces of the environments on typed arrays. */
function spacesOf({ observationSpace, actionSpace }: Dynamics) {
  return { observationSpace, actionSpace };
}

/** Spreads uniform numbers over a range. */
function between(uniform: tf.Tensor, low: number, high: number): tf.Tensor {
  return tf.add(tf.mul(uniform, high - low), low);
}

/** Adds numbers times their weights. */
function weighted(...terms: [tf.Tensor, number][]): tf.Tensor {
  return terms.map(([x, weight]) => weight === 1 ? x : tf.mul(x, weight))
    .reduce((sum, it) => tf.add(sum, it));
}

/** Makes numbers of one action each out of a column. */
function numbersOf(actions: tf.Tensor): tf.Tensor {
  return tf.cast(tf.reshape(actions, [-1]), "float32");
}

const inside = (x: tf.Tensor, limit: number): tf.Tensor =>
  tf.clipByValue(x, -limit, limit);
const outside = (x: tf.Tensor, limit: number): tf.Tensor =>
  tf.greater(tf.abs(x), limit);

const FORCE = 10;
const POLE_MASS_LENGTH = 0.05;
const CART_POLE_MASS = 1.1;

/** The pole on a cart. */
const CART_POLE_RULES: Omit<TensorEnv, "id"> = {
  ...spacesOf(CART_POLE),
  startSize: 4,
  start(uniform) {
    const [position, velocity, angle, spin] = tf.unstack(
      between(uniform, -0.05, 0.05),
    );
    return { position, velocity, angle, spin };
  },
  step({ position, velocity, angle, spin }, actions) {
    const cos = tf.cos(angle), sin = tf.sin(angle);
    const force = tf.sub(tf.mul(numbersOf(actions), 2 * FORCE), FORCE);
    const swing = tf.mul(tf.mul(tf.square(spin), sin), POLE_MASS_LENGTH);
    const push = tf.div(tf.add(force, swing), CART_POLE_MASS);
    const turn = tf.div(
      tf.sub(tf.mul(sin, 9.8), tf.mul(cos, push)),
      tf.sub(0.5 * 4 / 3, tf.mul(tf.square(cos), 0.05 / CART_POLE_MASS)),
    );
    const pull = tf.mul(tf.mul(turn, cos), POLE_MASS_LENGTH / CART_POLE_MASS);
    const state = {
      position: weighted([position, 1], [velocity, 0.02]),
      velocity: weighted([velocity, 1], [tf.sub(push, pull), 0.02]),
      angle: weighted([angle, 1], [spin, 0.02]),
      spin: weighted([spin, 1], [turn, 0.02]),
    };
    return {
      state,
      rewards: tf.onesLike(position),
      terminated: tf.logicalOr(
        outside(state.position, 2.4),
        outside(state.angle, 12 * 2 * Math.PI / 360),
      ),
    };
  },
  observe: ({ position, velocity, angle, spin }) =>
    tf.stack([position, velocity, angle, spin], 1),
};

const GRAVITY = 9.8;

/** Angular accelerations of Acrobot's links by Sutton and Barto's equations. */
function acrobotSpeedup(
  [angle1, angle2, spin1, spin2]: readonly tf.Tensor[],
  torque: tf.Tensor,
): [tf.Tensor, tf.Tensor] {
  const cos2 = tf.cos(angle2), sin2 = tf.sin(angle2);
  const d1 = tf.add(cos2, 0.25 + 1.25 + 2);
  const d2 = tf.add(tf.mul(cos2, 0.5), 1.25);
  const phi2 = tf.mul(tf.sin(tf.add(angle1, angle2)), 0.5 * GRAVITY);
  const phi1 = tf.add(
    weighted(
      [tf.mul(tf.square(spin2), sin2), -0.5],
      [tf.mul(tf.mul(spin2, spin1), sin2), -1],
      [tf.sin(angle1), 1.5 * GRAVITY],
    ),
    phi2,
  );
  const ratio = tf.div(d2, d1);
  const pull = weighted(
    [torque, 1],
    [tf.mul(ratio, phi1), 1],
    [tf.mul(tf.square(spin1), sin2), -0.5],
    [phi2, -1],
  );
  const second = tf.div(pull, tf.sub(1.25, tf.mul(d2, ratio)));
  const first = tf.neg(tf.div(tf.add(tf.mul(d2, second), phi1), d1));
  return [first, second];
}

const TURN = 2 * Math.PI;

/** Turns angles into ones from -pi to pi. */
function wrapped(angle: tf.Tensor): tf.Tensor {
  return tf.sub(tf.mod(tf.add(angle, Math.PI), TURN), Math.PI);
}

const SECONDS = 0.2;

/** Two links, one step by the method of Runge and Kutta. */
const ACROBOT_RULES: Omit<TensorEnv, "id"> = {
  ...spacesOf(ACROBOT),
  startSize: 4,
  start(uniform) {
    const [angle1, angle2, spin1, spin2] = tf.unstack(
      between(uniform, -0.1, 0.1),
    );
    return { angle1, angle2, spin1, spin2 };
  },
  step({ angle1, angle2, spin1, spin2 }, actions) {
    const torque = tf.sub(numbersOf(actions), 1);
    const before = [angle1, angle2, spin1, spin2];
    const slope = (at: readonly tf.Tensor[]) => [
      at[2],
      at[3],
      ...acrobotSpeedup(at, torque),
    ];
    const after = (slope: readonly tf.Tensor[], seconds: number) =>
      before.map((x, i) => weighted([x, 1], [slope[i], seconds]));
    const k1 = slope(before);
    const k2 = slope(after(k1, SECONDS / 2));
    const k3 = slope(after(k2, SECONDS / 2));
    const k4 = slope(after(k3, SECONDS));
    const mean = k1.map((_, i) =>
      weighted([k1[i], 1], [k2[i], 2], [k3[i], 2], [k4[i], 1])
    );
    const [a, b, va, vb] = after(mean, SECONDS / 6);
    const state = {
      angle1: wrapped(a),
      angle2: wrapped(b),
      spin1: inside(va, 4 * Math.PI),
      spin2: inside(vb, 9 * Math.PI),
    };
    const height = tf.add(
      tf.cos(state.angle1),
      tf.cos(tf.add(state.angle1, state.angle2)),
    );
    const terminated = tf.less(height, -1);
    return {
      state,
      rewards: tf.sub(tf.cast(terminated, "float32"), 1),
      terminated,
    };
  },
  observe: ({ angle1, angle2, spin1, spin2 }) =>
    tf.stack([
      tf.cos(angle1),
      tf.sin(angle1),
      tf.cos(angle2),
      tf.sin(angle2),
      spin1,
      spin2,
    ], 1),
};

const MIN_POSITION = -1.2;
const MAX_POSITION = 0.6;

/** Moves a car by its thrust, within the valley. */
function drive(
  { position, velocity }: Readonly<Record<string, tf.Tensor>>,
  thrust: tf.Tensor,
  goal: number,
) {
  const slope = tf.mul(tf.cos(tf.mul(position, 3)), -0.0025);
  const speed = inside(tf.add(velocity, tf.add(thrust, slope)), 0.07);
  const place = tf.clipByValue(
    tf.add(position, speed),
    MIN_POSITION,
    MAX_POSITION,
  );
  const isStopped = tf.logicalAnd(
    tf.lessEqual(place, MIN_POSITION),
    tf.less(speed, 0),
  );
  const state = {
    position: place,
    velocity: tf.where(isStopped, tf.zerosLike(speed), speed),
  };
  const terminated = tf.logicalAnd(
    tf.greaterEqual(state.position, goal),
    tf.greaterEqual(state.velocity, 0),
  );
  return { state, terminated };
}

/** The car in a valley, driven left, not at all or right. */
const MOUNTAIN_CAR_RULES: Omit<TensorEnv, "id"> = {
  ...spacesOf(MOUNTAIN_CAR),
  startSize: 1,
  start(uniform) {
    const position = tf.reshape(between(uniform, -0.6, -0.4), [-1]);
    return { position, velocity: tf.zerosLike(position) };
  },
  step(state, actions) {
    const thrust = tf.mul(tf.sub(numbersOf(actions), 1), 0.001);
    return {
      ...drive(state, thrust, 0.5),
      rewards: tf.neg(tf.onesLike(state.position)),
    };
  },
  observe: ({ position, velocity }) => tf.stack([position, velocity], 1),
};

/** The car with an engine of any force. */
const MOUNTAIN_CAR_CONTINUOUS_RULES: Omit<TensorEnv, "id"> = {
  ...MOUNTAIN_CAR_RULES,
  ...spacesOf(MOUNTAIN_CAR_CONTINUOUS),
  step(state, actions) {
    const action = numbersOf(actions);
    const thrust = tf.mul(inside(action, 1), 0.0015);
    const { terminated, ...next } = drive(state, thrust, 0.45);
    const goal = tf.mul(tf.cast(terminated, "float32"), 100);
    return {
      ...next,
      terminated,
      rewards: tf.sub(goal, tf.mul(tf.square(action), 0.1)),
    };
  },
};

/** The rod that is to be swung upright. */
const PENDULUM_RULES: Omit<TensorEnv, "id"> = {
  ...spacesOf(PENDULUM),
  startSize: 2,
  start(uniform) {
    const [angle, speed] = tf.unstack(uniform);
    return {
      angle: between(angle, -Math.PI, Math.PI),
      speed: between(speed, -1, 1),
    };
  },
  step({ angle, speed }, actions) {
    const torque = inside(numbersOf(actions), 2);
    const cost = weighted(
      [tf.square(wrapped(angle)), 1],
      [tf.square(speed), 0.1],
      [tf.square(torque), 0.001],
    );
    const pull = weighted([tf.sin(angle), 15], [torque, 3]);
    const faster = inside(weighted([speed, 1], [pull, 0.05]), 8);
    return {
      state: {
        angle: weighted([angle, 1], [faster, 0.05]),
        speed: faster,
      },
      rewards: tf.neg(cost),
      terminated: tf.zerosLike(tf.greater(angle, 0)),
    };
  },
  observe: ({ angle, speed }) =>
    tf.stack([tf.cos(angle), tf.sin(angle), speed], 1),
};

/** Classic control with the rules of the environments on typed arrays. */
export const CLASSIC_CONTROL: readonly TensorEnv[] = [
  { ...CART_POLE_RULES, id: "CartPole-v0", maxEpisodeSteps: 200 },
  { ...CART_POLE_RULES, id: "CartPole-v1", maxEpisodeSteps: 500 },
  { ...MOUNTAIN_CAR_RULES, id: "MountainCar-v0", maxEpisodeSteps: 200 },
  {
    ...MOUNTAIN_CAR_CONTINUOUS_RULES,
    id: "MountainCarContinuous-v0",
    maxEpisodeSteps: 999,
  },
  { ...ACROBOT_RULES, id: "Acrobot-v1", maxEpisodeSteps: 500 },
  { ...PENDULUM_RULES, id: "Pendulum-v1", maxEpisodeSteps: 200 },
];

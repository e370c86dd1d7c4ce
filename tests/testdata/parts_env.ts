/**
 * A cart pole that is seen in parts, by numbers and on a picture: `Parts-v0`, or in
 * nested parts: `Nested-v0`.
 */
import {
  box,
  dict,
  make,
  register,
  TransformObservation,
  tuple,
} from "@bellman/envs";
import type { SpaceValue } from "@bellman/types";

const SIDE = 36;

/** Draws the angle of the pole as a bright column. */
function drawn(angle: number): Uint8Array {
  const column = Math.floor(SIDE * Math.min(Math.max(angle + 0.5, 0), 0.99));
  return Uint8Array.from(
    { length: SIDE * SIDE },
    (_, i) => i % SIDE === column ? 255 : 0,
  );
}

function inParts(observation: SpaceValue): SpaceValue {
  const [x, velocity, angle, turning] = observation as Float32Array;
  return {
    camera: drawn(angle),
    cart: Float32Array.of(x, velocity),
    turning: Float32Array.of(turning),
  };
}

register({
  id: "Parts-v0",
  maxEpisodeSteps: 40,
  make: () =>
    new TransformObservation(make("CartPole-v1"), inParts, {
      space: dict({
        camera: box({
          low: 0,
          high: 255,
          shape: [SIDE, SIDE, 1],
          dtype: "uint8",
        }),
        cart: box({ shape: [2] }),
        turning: box({ shape: [1] }),
      }),
    }),
});

register({
  id: "Nested-v0",
  maxEpisodeSteps: 40,
  make: () =>
    new TransformObservation(make("CartPole-v1"), (observation) => {
      const [x, velocity, angle, turning] = observation as Float32Array;
      return [
        Float32Array.of(x, velocity),
        { angle: Float32Array.of(angle), turning: Float32Array.of(turning) },
      ];
    }, {
      space: tuple([
        box({ shape: [2] }),
        dict({ angle: box({ shape: [1] }), turning: box({ shape: [1] }) }),
      ]),
    }),
});

import { checkOptions, whole } from "@bellman/files/options";
import type {
  BoxArray,
  RandomSource,
  RenderOptions,
  RgbImage,
} from "@bellman/types";
import { Canvas, type Color, rectangle } from "../render/canvas.ts";
import { box, discrete } from "../spaces/constructors.ts";
import {
  ArrayWorld,
  clamp,
  TIMED_GAME,
  type TimedGameOptions,
} from "./array_world.ts";
import {
  playsIn,
  type ScriptedWorld,
  type Turn,
} from "../self_play/players.ts";

/** Settings of {@linkcode PaddleBall}. */
export interface PaddleBallOptions extends TimedGameOptions {
  /**
   * Points that win a game.
   *
   * @default 3
   */
  points?: number;
}

const OPTIONS = { ...TIMED_GAME, points: whole(1) };

/** Half of a paddle's length, and its ways in a step by the action. */
const PADDLE = 0.2, WAYS = [0, 0.06, -0.06];
/** Height up to which the middle of a paddle moves. */
const PADDLE_LIMIT = 1 - PADDLE;
/** Ball's way along x in a step: of a serve, its growth at each hit, and its most. */
const SERVE_SPEED = 0.04, SPEED_UP = 1.1, TOP_SPEED = 0.1;
/** Ball's greatest way along y in a step: of a serve, and after a hit at the edge. */
const SERVE_SLOPE = 0.03, EDGE_SLOPE = 0.1;
/** Steps of which the scripted player rests in one. */
const RESTS = 3;

const GROUND: Color = [32, 36, 48];
const BALL: Color = [255, 255, 255];
const SIDES: readonly Color[] = [[87, 155, 252], [240, 101, 96]];

/**
 * A ball between two paddles, as in Pong: seats `left` and `right` act at once, stay
 * (0), move up (1) or down (2).
 *
 * The field is the square from -1 to 1. Paddles stand at its left and right edge, are
 * 0.4 long and move by 0.06 in a step, before the ball does. A serve starts in the
 * middle to either side, by 0.04 along x and up to 0.03 along y in a step, both drawn
 * as the game begins. Walls reflect the ball. In the step that takes it to a paddle's
 * edge of the field, the paddle returns it if their heights then differ by at most 0.2:
 * 1.1 times as fast along x, up to 0.1, and along y by half of their difference. Else
 * the other side has a point: reward 1, and -1 for who missed. The game is terminated as
 * a side has `points` (3) points, and truncated after `maxEpisodeSteps` (1000).
 *
 * Both seats see the same from their side, mirrored for `right` as if it stood at the
 * left: x and y of the ball, its ways in a step over 0.1, height of the own
 * paddle and of the other, own points and the other's over `points`.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { PaddleBall } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new PaddleBall();
 * world.begin(0, new SeededRandom(0));
 * world.step([Int32Array.of(1), Int32Array.of(2)], Uint8Array.of(1));
 * const [left, right] = [world.observe(0), world.observe(1)];
 * assertEquals(left[0], -right[0]);
 * assertEquals([left[4], left[5]], [right[5], right[4]]);
 * ```
 */
export class PaddleBall extends ArrayWorld<Float32Array>
  implements ScriptedWorld<Float32Array, Int32Array> {
  #points: number;
  /** Place and way of the ball. */
  #ball: Float64Array;
  #paddles: Float64Array;
  #scores: Int32Array;
  /** Each serve of a game: its sign is the side, its size tells the way along y. */
  #serves: Float64Array;

  /**
   * Makes worlds whose games have not begun.
   *
   * @param options Number of worlds, points and longest game.
   * @throws {RangeError} If one is not a whole number of at least 1.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: PaddleBallOptions = {}) {
    const given = checkOptions("PaddleBall", options, OPTIONS);
    super({
      name: "PaddleBall",
      seats: [{ name: "left" }, { name: "right" }],
      observationSpace: box({ low: -1, high: 1, shape: [8] }),
      actionSpace: discrete(3),
    }, { maxEpisodeSteps: 1000, ...given });
    const { points = 3 } = given;
    this.#points = points;
    this.#ball = new Float64Array(this.numEnvs * 4);
    this.#paddles = new Float64Array(this.numEnvs * 2);
    this.#scores = new Int32Array(this.numEnvs * 2);
    this.#serves = new Float64Array(this.numEnvs * (2 * points - 1));
  }

  /** Draws all serves of a game. */
  protected override beginGame(env: number, random: RandomSource): void {
    const count = 2 * this.#points - 1;
    for (let i = env * count; i < (env + 1) * count; i++) {
      this.#serves[i] = 2 * random.uniform() - 1;
    }
    for (let i = 2 * env; i < 2 * env + 2; i++) {
      this.#paddles[i] = this.#scores[i] = 0;
      this.toAct[i] = 1;
    }
    this.#serve(env);
  }

  #serve(env: number): void {
    const played = this.#scores[2 * env] + this.#scores[2 * env + 1];
    const serve = this.#serves[env * (2 * this.#points - 1) + played];
    const ball = this.#ball, at = 4 * env;
    ball[at] = ball[at + 1] = 0;
    ball[at + 2] = serve < 0 ? -SERVE_SPEED : SERVE_SPEED;
    ball[at + 3] = SERVE_SLOPE * (2 * Math.abs(serve) - 1);
  }

  /** Moves paddles and ball. */
  protected override stepGame(
    env: number,
    actions: readonly Int32Array[],
  ): void {
    const ball = this.#ball, paddles = this.#paddles, at = 4 * env;
    for (let seat = 0; seat < 2; seat++) {
      const own = 2 * env + seat, way = WAYS[actions[seat][env]];
      paddles[own] = clamp(paddles[own] + way, PADDLE_LIMIT);
    }
    ball[at] += ball[at + 2];
    ball[at + 1] += ball[at + 3];
    if (Math.abs(ball[at + 1]) > 1) {
      ball[at + 1] = Math.sign(ball[at + 1]) * 2 - ball[at + 1];
      ball[at + 3] = -ball[at + 3];
    }
    if (Math.abs(ball[at]) >= 1) this.#reach(env, ball[at] < 0 ? 0 : 1);
  }

  /** Returns the ball at a paddle's side, or counts the point. */
  #reach(env: number, side: number): void {
    const ball = this.#ball, at = 4 * env;
    const edge = side === 0 ? -1 : 1;
    const gap = ball[at + 1] - this.#paddles[2 * env + side];
    ball[at] = edge;
    if (Math.abs(gap) <= PADDLE) {
      const speed = Math.min(Math.abs(ball[at + 2]) * SPEED_UP, TOP_SPEED);
      ball[at + 2] = -edge * speed;
      ball[at + 3] = EDGE_SLOPE * (gap / PADDLE);
      return;
    }
    const lost = 2 * env + side, won = 2 * env + 1 - side;
    const { rewards } = this.result;
    rewards[lost] = -1;
    rewards[won] = 1;
    if (++this.#scores[won] < this.#points) return this.#serve(env);
    this.end(lost, -1);
    this.end(won, 1);
  }

  /** Writes what a seat sees from its side. */
  protected override write(seat: number, observations: Float32Array): void {
    const ball = this.#ball, paddles = this.#paddles, scores = this.#scores;
    const mirror = seat === 0 ? 1 : -1;
    for (let env = 0; env < this.numEnvs; env++) {
      const at = 4 * env, to = 8 * env;
      const own = 2 * env + seat, other = 2 * env + 1 - seat;
      observations[to] = mirror * ball[at];
      observations[to + 1] = ball[at + 1];
      observations[to + 2] = mirror * ball[at + 2] / TOP_SPEED;
      observations[to + 3] = ball[at + 3] / EDGE_SLOPE;
      observations[to + 4] = paddles[own];
      observations[to + 5] = paddles[other];
      observations[to + 6] = scores[own] / this.#points;
      observations[to + 7] = scores[other] / this.#points;
    }
  }

  /**
   * Follows the ball in two of three steps while it comes, and waits while it goes: a
   * ball that the edge of a paddle returned may be faster.
   *
   * @param turn The turn.
   */
  scripted({ seat, actions, which }: Turn<Int32Array>): void {
    for (let env = 0; env < this.numEnvs; env++) {
      if (!playsIn(this, { seat, env, which })) continue;
      const comes = (this.#ball[4 * env + 2] < 0) === (seat === 0);
      const gap = this.#ball[4 * env + 1] - this.#paddles[2 * env + seat];
      const isNear = Math.abs(gap) <= PADDLE / 2;
      const rests = this.steps[env] % RESTS === 0;
      actions[env] = !comes || isNear || rests ? 0 : gap > 0 ? 1 : 2;
    }
  }

  /** Names ball, paddles, points and serves. */
  protected override state(): Record<string, BoxArray> {
    return {
      ball: this.#ball,
      paddles: this.#paddles,
      scores: this.#scores,
      serves: this.#serves,
    };
  }

  /**
   * Draws a world's field.
   *
   * @param env Index of the world.
   * @param options Size; 300 by 300 by default.
   * @returns The picture.
   * @throws {RangeError} If there is no such world, or the size is no whole number of
   * pixels.
   */
  override render(
    env: number,
    { width = 300, height = 300 }: RenderOptions = {},
  ): RgbImage {
    this.checkIndex("world", env);
    const canvas = new Canvas({ width, height, view: [2.2, 2.2] });
    canvas.fillPolygon([[0, 0], [2.2, 0], [2.2, 2.2], [0, 2.2]], GROUND);
    const [x, y] = this.#ball.subarray(4 * env);
    canvas.fillCircle({ center: [x + 1.1, y + 1.1], radius: 0.04 }, BALL);
    SIDES.forEach((color, seat) => {
      const at = [
        seat === 0 ? 0.07 : 2.13,
        this.#paddles[2 * env + seat] + 1.1,
      ];
      const [x, y] = [[-0.03, 0.03], [-PADDLE, PADDLE]] as const;
      canvas.fillPolygon(
        rectangle({ at: at as [number, number], x, y }),
        color,
      );
    });
    return canvas.image();
  }
}

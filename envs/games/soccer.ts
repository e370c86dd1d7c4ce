import { checkOptions, FLAG } from "@bellman/files/options";
import type {
  BoxArray,
  RandomSource,
  RenderOptions,
  RgbImage,
} from "@bellman/types";
import { Canvas, type Color } from "../render/canvas.ts";
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

/** Settings of {@linkcode Soccer}. */
export interface SoccerOptions extends TimedGameOptions {
  /**
   * Let players tackle: who is tackled is out.
   *
   * @default false
   */
  tackles?: boolean;
}

const OPTIONS = { ...TIMED_GAME, tackles: FLAG };

const SEATS = ["blue0", "blue1", "red0", "red1"]
  .map((name) => ({ name, team: name.slice(0, -1) }));
const TEAM = 2, PLAYERS = 2 * TEAM;

/** Half of the field's height, and of a goal's. */
const FIELD = 0.6, GOAL = 0.2;
/** Player's way in a step. */
const SPEED = 0.04;
/** Distance up to which the ball, or another player, is within reach. */
const REACH = 0.1;
/** Ball's way in a step after a kick, and the share of it that is left in the next. */
const KICK = 0.12, FRICTION = 0.92;
/** Actions: 0 stays, 1 to 4 move by these, 5 kicks. */
const MOVES = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [0, 0]] as const;
const KICKS = 5;
/** Numbers that a seat sees. */
const SEEN = 15;

const GRASS: Color = [70, 140, 80];
const WHITE: Color = [255, 255, 255];
/** Colours of the teams, and of players who are out. */
const COLORS: Readonly<Record<string, readonly [Color, Color]>> = {
  blue: [[52, 92, 200], [153, 173, 227]],
  red: [[205, 60, 55], [230, 157, 155]],
};

/**
 * Soccer of two against two: seats `blue0` and `blue1` play to the right, `red0` and
 * `red1` to the left. All act at once: stay (0), move forward (1), back (2), up (3),
 * down (4), or kick (5).
 *
 * The field reaches from -1 to 1 along x and from -0.6 to 0.6 along y; the goals are the
 * middle thirds of its ends. Players start at x -0.7 and -0.3 (0.7 and 0.3 for red),
 * the ball at 0, their y are drawn as a game begins. Players move by 0.04 in a step,
 * through each other. One whose distance to the ball is at most 0.1 kicks it straight
 * away from itself, by 0.12 in this step and 0.92 times as far in each after it. Walls reflect it. A goal terminates the game: reward 1 for
 * the team, -1 for the other. After `maxEpisodeSteps` (300) steps it is truncated.
 *
 * With `tackles`, a kick without the ball in reach tackles the players of the other team
 * who are in reach and have the ball in reach: they are out and have lost, with reward
 * -1, terminated, for the rest of the game, while the others go on.
 *
 * Red sees the field mirrored, as if it played to the right, too. A seat sees 15
 * numbers: its own place, the ball's place, its way in a step over 0.12, then of its
 * team mate and of both others the place, and 1 while it has not been tackled.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { Soccer } from "@bellman/envs/games";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * const world = new Soccer();
 * world.begin(0, new SeededRandom(0));
 * const forward = world.seats.map(() => Int32Array.of(1));
 * world.step(forward, Uint8Array.of(1));
 * assertAlmostEquals(world.observe(0)[0], -0.66, 1e-6);
 * // Red sees itself go forward to the right, too.
 * assertAlmostEquals(world.observe(2)[0], -0.66, 1e-6);
 * assertEquals([...world.toAct], [1, 1, 1, 1]);
 * ```
 */
export class Soccer extends ArrayWorld<Float32Array>
  implements ScriptedWorld<Float32Array, Int32Array> {
  #canTackle: boolean;
  /** Place of each player `[numEnvs, players, 2]`. */
  #places: Float64Array;
  /** Place and way of the ball. */
  #ball: Float64Array;
  /** 1 for players that have been tackled. */
  #out: Uint8Array;

  /**
   * Makes worlds whose games have not begun.
   *
   * @param options Number of worlds, longest game, and if players tackle.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: SoccerOptions = {}) {
    const given = checkOptions("Soccer", options, OPTIONS);
    super({
      name: "Soccer",
      seats: SEATS,
      observationSpace: box({ low: -1, high: 1, shape: [SEEN] }),
      actionSpace: discrete(MOVES.length),
    }, { maxEpisodeSteps: 300, ...given });
    this.#canTackle = given.tackles ?? false;
    this.#places = new Float64Array(this.toAct.length * 2);
    this.#ball = new Float64Array(this.numEnvs * 4);
    this.#out = new Uint8Array(this.toAct.length);
  }

  /** Places players and ball. */
  protected override beginGame(env: number, random: RandomSource): void {
    for (let seat = 0; seat < PLAYERS; seat++) {
      const at = env * PLAYERS + seat;
      const x = seat % TEAM === 0 ? -0.7 : -0.3;
      this.#places[2 * at] = seat < TEAM ? x : -x;
      this.#places[2 * at + 1] = 0.8 * random.uniform() - 0.4;
      this.#out[at] = 0;
      this.toAct[at] = 1;
    }
    this.#ball.fill(0, 4 * env, 4 * env + 4);
    this.#ball[4 * env + 1] = 0.6 * random.uniform() - 0.3;
  }

  /** Distance of a player from the ball. */
  #toBall(env: number, seat: number): number {
    const at = 2 * (env * PLAYERS + seat);
    return Math.hypot(
      this.#ball[4 * env] - this.#places[at],
      this.#ball[4 * env + 1] - this.#places[at + 1],
    );
  }

  /** True if a kick of a seat tackles another player. */
  #tackles(env: number, seat: number, other: number): boolean {
    const places = this.#places, at = env * PLAYERS;
    const x = places[2 * (at + seat)] - places[2 * (at + other)];
    const y = places[2 * (at + seat) + 1] - places[2 * (at + other) + 1];
    return this.#canTackle && this.#out[at + other] === 0 &&
      Math.hypot(x, y) <= REACH && this.#toBall(env, other) <= REACH &&
      this.#toBall(env, seat) > REACH;
  }

  /** Tackles, kicks and moves, then rolls the ball. */
  protected override stepGame(
    env: number,
    actions: readonly Int32Array[],
  ): void {
    const at = env * PLAYERS;
    for (let seat = 0; seat < PLAYERS; seat++) {
      if (this.#out[at + seat] === 1 || actions[seat][env] !== KICKS) continue;
      const first = seat < TEAM ? TEAM : 0;
      for (let other = first; other < first + TEAM; other++) {
        if (!this.#tackles(env, seat, other)) continue;
        this.#out[at + other] = 1;
        this.end(at + other, -1);
      }
    }
    this.#kick(env, actions);
    for (let seat = 0; seat < PLAYERS; seat++) {
      if (this.#out[at + seat] === 1) continue;
      const [x, y] = MOVES[actions[seat][env]], to = 2 * (at + seat);
      const forward = seat < TEAM ? x : -x, places = this.#places;
      places[to] = clamp(places[to] + SPEED * forward, 1);
      places[to + 1] = clamp(places[to + 1] + SPEED * y, FIELD);
    }
    this.#roll(env);
  }

  /** Kicks the ball; those of several players add up, to one kick at most. */
  #kick(env: number, actions: readonly Int32Array[]): void {
    const ball = this.#ball, places = this.#places;
    let x = 0, y = 0, kicks = 0;
    for (let seat = 0; seat < PLAYERS; seat++) {
      const at = env * PLAYERS + seat, distance = this.#toBall(env, seat);
      if (this.#out[at] === 1 || actions[seat][env] !== KICKS) continue;
      if (distance > REACH) continue;
      kicks++;
      if (distance === 0) x += seat < TEAM ? 1 : -1;
      else {
        x += (ball[4 * env] - places[2 * at]) / distance;
        y += (ball[4 * env + 1] - places[2 * at + 1]) / distance;
      }
    }
    if (kicks === 0) return;
    const scale = KICK / Math.max(1, Math.hypot(x, y));
    ball[4 * env + 2] = scale * x;
    ball[4 * env + 3] = scale * y;
  }

  #roll(env: number): void {
    const ball = this.#ball, at = 4 * env;
    ball[at] += ball[at + 2];
    ball[at + 1] += ball[at + 3];
    ball[at + 2] *= FRICTION;
    ball[at + 3] *= FRICTION;
    if (Math.abs(ball[at + 1]) > FIELD) {
      ball[at + 1] = 2 * FIELD * Math.sign(ball[at + 1]) - ball[at + 1];
      ball[at + 3] = -Math.sign(ball[at + 1]) * Math.abs(ball[at + 3]);
    }
    if (Math.abs(ball[at]) <= 1) return;
    const side = Math.sign(ball[at]);
    if (Math.abs(ball[at + 1]) >= GOAL) {
      ball[at] = 2 * side - ball[at];
      ball[at + 2] = -side * Math.abs(ball[at + 2]);
      return;
    }
    ball[at] = side;
    for (let seat = 0; seat < PLAYERS; seat++) {
      const own = env * PLAYERS + seat;
      if (this.toAct[own] === 1) this.end(own, seat < TEAM ? side : -side);
    }
  }

  /** Writes what a seat sees from its side. */
  protected override write(seat: number, observations: Float32Array): void {
    const ball = this.#ball, places = this.#places;
    const mirror = seat < TEAM ? 1 : -1, first = seat - seat % TEAM;
    for (let env = 0; env < this.numEnvs; env++) {
      const at = env * PLAYERS;
      let to = env * SEEN;
      observations[to++] = mirror * places[2 * (at + seat)];
      observations[to++] = places[2 * (at + seat) + 1];
      observations[to++] = mirror * ball[4 * env];
      observations[to++] = ball[4 * env + 1];
      observations[to++] = mirror * ball[4 * env + 2] / KICK;
      observations[to++] = ball[4 * env + 3] / KICK;
      for (let i = 0; i < PLAYERS; i++) {
        // The team mate first, then the others.
        const other = (first + i) % PLAYERS;
        if (other === seat) continue;
        observations[to++] = mirror * places[2 * (at + other)];
        observations[to++] = places[2 * (at + other) + 1];
        observations[to++] = 1 - this.#out[at + other];
      }
    }
  }

  /**
   * Goes behind the ball and kicks it to the goal, if it is the team's nearest to it;
   * else it stays between ball and own goal. It tackles whoever it can. In one of ten
   * steps it does anything, which frees players who kick against each other.
   *
   * @param turn The turn.
   */
  scripted({ seat, actions, random, which }: Turn<Int32Array>): void {
    for (let env = 0; env < this.numEnvs; env++) {
      if (!playsIn(this, { seat, env, which })) continue;
      actions[env] = random.uniform() < 0.1
        ? random.integer(MOVES.length)
        : this.#choose(env, seat);
    }
  }

  #choose(env: number, seat: number): number {
    const ball = this.#ball, at = env * PLAYERS, mate = seat ^ 1;
    const mirror = seat < TEAM ? 1 : -1, first = seat < TEAM ? TEAM : 0;
    for (let other = first; other < first + TEAM; other++) {
      if (this.#tackles(env, seat, other)) return KICKS;
    }
    const x = mirror * this.#places[2 * (at + seat)];
    const y = this.#places[2 * (at + seat) + 1];
    const ballX = mirror * ball[4 * env], ballY = ball[4 * env + 1];
    const distance = this.#toBall(env, seat);
    const isNearest = this.#out[at + mate] === 1 ||
      distance <= this.#toBall(env, mate);
    if (!isNearest) return toward((ballX - 1) / 2 - x, ballY / 2 - y);
    // From the ball into the goal, which begins at the end of the field.
    const aim = Math.hypot(1.05 - ballX, ballY);
    const aimX = (1.05 - ballX) / aim, aimY = -ballY / aim;
    const along = (ballX - x) * aimX + (ballY - y) * aimY;
    if (distance <= REACH && along >= 0.95 * distance) return KICKS;
    const behindX = Math.max(ballX - REACH / 2 * aimX, -1);
    return toward(behindX - x, ballY - REACH / 2 * aimY - y);
  }

  /** Names players, ball and who is out. */
  protected override state(): Record<string, BoxArray> {
    return { places: this.#places, ball: this.#ball, out: this.#out };
  }

  /**
   * Draws a world's field; players who are out are pale.
   *
   * @param env Index of the world.
   * @param options Size; 440 by 280 by default.
   * @returns The picture.
   * @throws {RangeError} If there is no such world, or the size is no whole number of
   * pixels.
   */
  override render(
    env: number,
    { width = 440, height = 280 }: RenderOptions = {},
  ): RgbImage {
    this.checkIndex("world", env);
    const canvas = new Canvas({ width, height, view: [2.2, 1.4] });
    canvas.fillPolygon([[0, 0], [2.2, 0], [2.2, 1.4], [0, 1.4]], GRASS);
    for (const x of [0.05, 1.1, 2.15]) {
      const [half, width] = x === 1.1 ? [FIELD, 0.01] : [GOAL, 0.1];
      const line = [[x, 0.7 - half], [x, 0.7 + half]] as const;
      canvas.strokeLine(line, { color: WHITE, width });
    }
    SEATS.forEach(({ team }, seat) => {
      const at = env * PLAYERS + seat, isOut = this.#out[at] === 1;
      const [x, y] = this.#places.subarray(2 * at);
      const [color, pale] = COLORS[team], center = [x + 1.1, y + 0.7] as const;
      canvas.fillCircle({ center, radius: 0.05 }, isOut ? pale : color);
    });
    const [x, y] = this.#ball.subarray(4 * env);
    canvas.fillCircle({ center: [x + 1.1, y + 0.7], radius: 0.03 }, WHITE);
    return canvas.image();
  }
}

/** Action that moves along the larger gap; none if both are less than half a step. */
function toward(x: number, y: number): number {
  if (Math.max(Math.abs(x), Math.abs(y)) < SPEED / 2) return 0;
  return Math.abs(x) > Math.abs(y) ? x > 0 ? 1 : 2 : y > 0 ? 3 : 4;
}

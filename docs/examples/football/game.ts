/** Football for two, on planck's physics; nothing here knows of an agent. */
import { Circle, Edge, Vec2, World } from "npm:planck@^1.5.0";

/** Half of the field's length and width, and of a goal's width, in metres. */
export const LENGTH = 10, WIDTH = 6, GOAL = 3;
/** Radii of players and ball, in metres. */
export const PLAYER = 0.6, BALL = 0.35;

/** Seconds of a tick of the physics. */
const TICK = 1 / 60;
/** Force of a player, in newtons. */
const FORCE = 30;
/** Speed in metres a second below which a ball is stuck, and ticks until it is free. */
const SLOW = 0.5, STUCK = 90;

/** A match until the next goal; the first player attacks to the right. */
export class Football {
  readonly #world = new World({ gravity: new Vec2(0, 0) });
  readonly players = [-1, 1].map(() => this.#disc(PLAYER, 1.5));
  readonly ball = this.#disc(BALL, 0.6);
  #stuck = 0;

  constructor() {
    const walls = this.#world.createBody();
    const wall = (x1: number, y1: number, x2: number, y2: number) =>
      walls.createFixture({
        shape: new Edge(new Vec2(x1, y1), new Vec2(x2, y2)),
        restitution: 0.8,
      });
    for (const side of [-1, 1]) {
      wall(-LENGTH, side * WIDTH, LENGTH, side * WIDTH);
      for (const end of [-1, 1]) {
        wall(end * LENGTH, side * GOAL, end * LENGTH, side * WIDTH);
      }
    }
  }

  #disc(radius: number, damping: number) {
    const body = this.#world.createDynamicBody({
      linearDamping: damping,
      fixedRotation: true,
    });
    body.createFixture({
      shape: new Circle(radius),
      density: 1,
      restitution: 0.7,
      friction: 0,
    });
    return body;
  }

  /** Kicks off; a number from 0 to below 1 says where the ball lies. */
  kickOff(random: () => number): void {
    const y = () => (2 * random() - 1) * WIDTH / 2;
    this.#dropBall(y());
    this.players.forEach((it, i) => {
      it.setPosition(new Vec2((i === 0 ? -1 : 1) * LENGTH / 2, y()));
      it.setLinearVelocity(new Vec2(0, 0));
    });
  }

  #dropBall(y: number): void {
    this.#stuck = 0;
    this.ball.setPosition(new Vec2(0, y));
    this.ball.setLinearVelocity(new Vec2(0, 0));
  }

  /** Pushes a player to where a direction points, each from -1 to 1. */
  push(player: number, x: number, y: number): void {
    const size = Math.max(1, Math.hypot(x, y));
    const force = new Vec2(FORCE * x / size, FORCE * y / size);
    this.players[player].applyForceToCenter(force, true);
  }

  /** Moves on by a tick; returns 1 if the first player scores, -1 if the other does. */
  tick(): number {
    this.#world.step(TICK);
    for (const it of this.players) {
      // Nobody hides in a goal.
      const { x, y } = it.getPosition(), most = LENGTH - PLAYER;
      if (Math.abs(x) > most) it.setPosition(new Vec2(Math.sign(x) * most, y));
    }
    // A ball that is stuck, as at a wall, is dropped in the middle.
    const isSlow = this.ball.getLinearVelocity().length() < SLOW;
    this.#stuck = isSlow ? this.#stuck + 1 : 0;
    if (this.#stuck === STUCK) this.#dropBall(0);
    const { x } = this.ball.getPosition();
    return Math.abs(x) > LENGTH + BALL ? Math.sign(x) : 0;
  }
}

/** Directions that a player chooses from: none, and the eight of a compass. */
export const DIRECTIONS: readonly (readonly [x: number, y: number])[] = [
  ...[[0, 0], [1, 0], [1, 1], [0, 1], [-1, 1]] as const,
  ...[[-1, 0], [-1, -1], [0, -1], [1, -1]] as const,
];

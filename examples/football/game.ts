/** Football for two, one against one: planck moves the bodies, this file has the rules. */
import { Circle, Edge, Vec2, World } from "npm:planck@^1.5.0";

/** Half of the field and of a goal's mouth, in metres. */
export const FIELD = { x: 5, y: 3, goal: 1.1 };
/** Radii in metres. */
export const RADIUS = { player: 0.4, ball: 0.25 };

/** Frames of 1/60 s for which an action holds, and actions until a draw. */
export const FRAMES = 4, LONGEST = 300;
const FORCE = 14;
/** What bodies are, for those that pass a line that others do not. */
const WALL = 1, LINE = 2, PLAYER = 4, BALL = 8;

/** Directions of the actions 1 to 8; 0 stands still. */
const DIRECTIONS = Array.from({ length: 8 }, (_, i) => {
  const angle = i * Math.PI / 4;
  return Vec2(Math.cos(angle), Math.sin(angle));
});

/** A match: each player sees the field from its own side, and runs to the right. */
export class Football {
  readonly agents = 2;
  readonly observationSpace = {
    type: "box",
    shape: [12],
    low: -Infinity,
    high: Infinity,
    dtype: "float32",
  } as const;
  readonly actionSpace = { type: "discrete", n: 9 } as const;
  readonly framesPerSecond = 60 / FRAMES;
  readonly #world = new World({ gravity: Vec2(0, 0) });
  readonly ball = this.#body(RADIUS.ball, { damping: 0.7, density: 0.4 });
  readonly players = [0, 1].map(() =>
    this.#body(RADIUS.player, { damping: 4, density: 1 })
  );
  #steps = 0;

  constructor() {
    const { x, y, goal } = FIELD, depth = x + 1;
    for (const side of [-1, 1]) {
      this.#wall([-x, side * y], [x, side * y]);
      for (const end of [-1, 1]) {
        this.#wall([end * x, side * y], [end * x, side * goal]);
        this.#wall([end * x, side * goal], [end * depth, side * goal]);
      }
      this.#wall([side * depth, -goal], [side * depth, goal]);
      // Only the ball goes in.
      this.#wall([side * x, -goal], [side * x, goal], LINE);
    }
  }

  #wall(from: [number, number], to: [number, number], kind = WALL): void {
    const body = this.#world.createBody();
    const shape = new Edge(Vec2(...from), Vec2(...to));
    body.createFixture({ shape, filterCategoryBits: kind, restitution: 0.6 });
  }

  #body(radius: number, { damping, density }: Record<string, number>) {
    const isBall = radius === RADIUS.ball;
    const body = this.#world.createBody({
      type: "dynamic",
      linearDamping: damping,
      fixedRotation: true,
      bullet: isBall,
    });
    body.createFixture({
      shape: new Circle(radius),
      density,
      friction: 0,
      restitution: isBall ? 0.7 : 0.2,
      filterCategoryBits: isBall ? BALL : PLAYER,
      filterMaskBits: WALL | PLAYER | BALL | (isBall ? 0 : LINE),
    });
    return body;
  }

  /** Kicks off: everyone somewhere in their own half. */
  reset({ random }: { random: { uniform(): number } }): number[][] {
    const within = (size: number) => size * (2 * random.uniform() - 1);
    const place = (body: typeof this.ball, x: number, y: number) => {
      body.setPosition(Vec2(x, y));
      body.setLinearVelocity(Vec2(0, 0));
    };
    place(this.ball, 0, within(1));
    this.players.forEach((player, seat) => {
      place(player, (seat === 0 ? -1 : 1) * (2.5 + within(1)), within(2));
    });
    this.#steps = 0;
    return this.see();
  }

  /** Both players act for some frames. */
  step(actions: ArrayLike<number>) {
    for (let frame = 0; frame < FRAMES; frame++) this.move(actions);
    return this.judge();
  }

  /** Moves everything by one frame. */
  move(actions: ArrayLike<number>): void {
    this.players.forEach((player, seat) => {
      if (actions[seat] === 0) return;
      const force = DIRECTIONS[actions[seat] - 1].clone();
      player.applyForceToCenter(force.mul(seat === 0 ? FORCE : -FORCE));
    });
    this.#world.step(1 / 60);
  }

  /** Tells what the players see, and whether there is a goal. */
  judge() {
    const { x } = this.ball.getPosition();
    const goal = Math.abs(x) > FIELD.x + RADIUS.ball ? Math.sign(x) : 0;
    const isLate = ++this.#steps >= LONGEST && goal === 0;
    return {
      observation: this.see(),
      reward: goal === 0 ? [0, 0] : [goal, -goal],
      terminated: [goal !== 0, goal !== 0],
      truncated: [isLate, isLate],
    };
  }

  /** Places and speeds of oneself, the ball and the other, for each player. */
  see(): number[][] {
    return [0, 1].map((seat) => {
      const side = seat === 0 ? 1 : -1;
      const bodies = [this.players[seat], this.ball, this.players[1 - seat]];
      return bodies.flatMap((body) => {
        const at = body.getPosition(), speed = body.getLinearVelocity();
        return [at.x, at.y, speed.x / 3, speed.y / 3].map((it) => side * it);
      });
    });
  }
}

/** Plays by a rule: gets behind the ball, then runs through it towards the goal. */
export function scripted(seen: ArrayLike<number>): number {
  const [x, y, , , ballX, ballY] = Array.from(seen);
  const toGoal = Math.hypot(FIELD.x - ballX, ballY);
  const reach = RADIUS.player + RADIUS.ball;
  // Where it stands to shoot: the ball between it and the goal.
  const behindX = ballX - reach * (FIELD.x - ballX) / toGoal;
  const behindY = ballY + reach * ballY / toGoal;
  const isBehind = x < ballX - 0.2 &&
    Math.hypot(x - behindX, y - behindY) < 0.5;
  if (isBehind) return directionTo(ballX - x, ballY - y);
  // Around it, so as not to push it back.
  const around = x > ballX - reach ? Math.sign(y - ballY || 1) * 0.9 : 0;
  return directionTo(behindX - x - (around ? 0.4 : 0), behindY + around - y);
}

/** The action that runs in a direction. */
export function directionTo(x: number, y: number): number {
  if (Math.hypot(x, y) < 0.05) return 0;
  return 1 + (Math.round(Math.atan2(y, x) / (Math.PI / 4)) + 8) % 8;
}

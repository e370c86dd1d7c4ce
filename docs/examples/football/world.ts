/** The match as an agent sees it: from the left, whichever side it plays. */
import type { GameReset } from "@bellman/client";
import { DIRECTIONS, Football, LENGTH, WIDTH } from "./game.ts";

/** Ticks of the physics for each decision. */
export const TICKS = 4;
/** Decisions until a match without a goal ends: 40 seconds. */
const LIMIT = 600;

/** What a side sees: itself, the other one and the ball, each by place and speed. */
export function seenBy(game: Football, side: number): number[] {
  const turn = side === 0 ? 1 : -1;
  const bodies = [game.players[side], game.players[1 - side], game.ball];
  return bodies.flatMap((it) => {
    const { x, y } = it.getPosition(), v = it.getLinearVelocity();
    return [turn * x / LENGTH, y / WIDTH, turn * v.x / 10, v.y / 10];
  });
}

/** Pushes a side by the number of a direction. */
export function act(game: Football, side: number, action: number): void {
  const [x, y] = DIRECTIONS[action];
  game.push(side, side === 0 ? x : -x, y);
}

/** Direction that points most to where a vector does. */
function towards(x: number, y: number): number {
  const size = Math.hypot(x, y) || 1;
  const likeness = DIRECTIONS.map(([dx, dy]) =>
    (dx * x + dy * y) / size / (Math.hypot(dx, dy) || 1)
  );
  return likeness.indexOf(Math.max(...likeness));
}

/** A simple player: gets behind the ball, then pushes it towards the other goal. */
export function scripted(game: Football, side: number): number {
  const turn = side === 0 ? 1 : -1;
  const own = game.players[side].getPosition(), ball = game.ball.getPosition();
  const [x, y] = [turn * (own.x - ball.x), own.y - ball.y];
  const [goalX, goalY] = [LENGTH + 1 - turn * ball.x, -ball.y];
  const far = Math.hypot(goalX, goalY), [u, v] = [goalX / far, goalY / far];
  const behind = -(x * u + y * v), beside = y * u - x * v;
  if (behind > 0 && Math.abs(beside) < 0.3) return towards(goalX, goalY);
  // Who is in front of the ball walks around it.
  const around = behind > 0 ? 0 : Math.sign(beside || 1) * 1.2;
  return towards(-u - x - v * around, -v - y + u * around);
}

/** A match of two agents, which learn one policy, or of one against the simple player. */
export class Match {
  /** Agents whose values are in lists. */
  readonly agents: number;
  readonly observationSpace = {
    ...{ type: "box", shape: [12], low: -Infinity, high: Infinity } as const,
    dtype: "float32",
  } as const;
  readonly actionSpace = { type: "discrete", n: DIRECTIONS.length } as const;
  readonly framesPerSecond = 60 / TICKS;
  readonly game = new Football();
  #steps = 0;
  #guidance = 0;

  constructor({ opponent }: { opponent?: unknown } = {}) {
    this.agents = opponent === "scripted" ? 1 : 2;
  }

  reset({ random, parameters }: GameReset) {
    this.#guidance = parameters.guidance ?? 0.02;
    this.#steps = 0;
    this.game.kickOff(() => random.uniform());
    return this.#seen();
  }

  step(actions: readonly number[]) {
    let goal = 0;
    for (let i = 0; i < TICKS && goal === 0; i++) goal = this.tick(actions);
    return this.judge(goal);
  }

  /** Moves on by a tick; returns 1 or -1 for a goal. */
  tick(actions: readonly number[]): number {
    const { game } = this;
    actions.forEach((it, side) => act(game, side, it));
    if (this.agents === 1) act(game, 1, scripted(game, 1));
    return game.tick();
  }

  /** Tells what a step came to; guidance is for each metre that the ball rolls. */
  judge(goal: number) {
    const rolled = this.game.ball.getLinearVelocity().x / this.framesPerSecond;
    const reward = goal + this.#guidance * rolled, isOver = goal !== 0;
    const isLate = !isOver && ++this.#steps >= LIMIT;
    const each = <T>(...values: T[]) => values.slice(0, this.agents);
    return {
      observation: this.#seen(),
      reward: each(reward, -reward),
      terminated: each(isOver, isOver),
      truncated: each(isLate, isLate),
    };
  }

  #seen() {
    return [0, 1].slice(0, this.agents).map((side) => seenBy(this.game, side));
  }
}

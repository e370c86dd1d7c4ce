/** CartPole that breaks at random moments, in every way there is. */
import {
  CART_POLE,
  DynamicsEnv,
  SeededRandom,
  SyncVecEnv,
  Wrapper,
} from "@bellman/envs";
import type {
  Env,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
} from "@bellman/types";
import type { GroupOptions } from "@bellman/envs/workers";

/** How long it stays silent when it hangs, in milliseconds. */
export const HANG_MS = 4_000;

const BREAKS: Record<string, () => void> = {
  throw: () => {
    throw new Error("the cart left the track");
  },
  exit: () => Deno.exit(3),
  hang: () => {
    const word = new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(word, 0, 0, HANG_MS);
  },
  kill: () => Deno.kill(Deno.pid, "SIGKILL"),
  abort: () => {
    const { symbols } = Deno.dlopen("libc.so.6", {
      abort: { parameters: [], result: "void" },
    });
    symbols.abort();
  },
};

/** Breaks with a probability at each step, drawn from its copy's seed. */
class Crashing extends Wrapper {
  #random = new SeededRandom(0);
  #chances: Record<string, number>;

  constructor(env: Env, chances: Record<string, number>) {
    super(env);
    this.#chances = chances;
  }

  override reset(options: { seed?: number } = {}): SpaceValue {
    const { seed } = options;
    if (seed !== undefined) this.#random = new SeededRandom(seed);
    return super.reset(options);
  }

  override step(action: SpaceValue): StepResult {
    for (const [how, chance] of Object.entries(this.#chances)) {
      if (this.#random.uniform() < chance) BREAKS[how]();
    }
    return super.step(action);
  }

  protected override ownState(): StateTree {
    return this.#random.save();
  }

  protected override loadOwnState(state: StateTree): void {
    this.#random.load(state);
  }
}

export default function make({ numEnvs, chances }: GroupOptions): VecEnv {
  const one = () =>
    new Crashing(new DynamicsEnv(CART_POLE), chances as Record<string, number>);
  return new SyncVecEnv(Array.from({ length: numEnvs }, () => one));
}

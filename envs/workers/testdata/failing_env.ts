/** Registers CartPole as it fails where it is told to. */
import type { DiscreteSpace } from "@bellman/types";
import { CART_POLE, DynamicsEnv, type EnvKwargs, register } from "../../mod.ts";

/** How an environment fails. */
export interface Failing extends EnvKwargs {
  where: "constructor" | "reset" | "step" | "nowhere";
  /** The file that it writes its process into then. */
  sign: string;
  /**
   * What it does.
   *
   * @default "hang"
   */
  how?: "hang" | "exit" | "throw" | "pause";
  /**
   * How often it gets there before it fails.
   *
   * @default 0
   */
  after?: number;
  /**
   * Whether one that finds the sign goes on.
   *
   * @default false
   */
  once?: boolean;
}

class FailingEnv extends DynamicsEnv<DiscreteSpace> {
  readonly #options: Failing;
  #passed = 0;

  constructor(options: Failing) {
    super(CART_POLE);
    this.#options = options;
    this.#pass("constructor");
  }

  #pass(here: Failing["where"]): void {
    const { where, sign, how = "hang", after = 0, once } = this.#options;
    if (where !== here || this.#passed++ < after) return;
    if (once && hasText(sign)) return;
    Deno.writeTextFileSync(sign, String(Deno.pid));
    if (how === "throw") throw new Error("the pole is lost");
    if (how === "exit") Deno.exit(3);
    if (how === "pause") return pause();
    for (;;);
  }

  override reset(
    options?: Parameters<DynamicsEnv["reset"]>[0],
  ): ReturnType<DynamicsEnv["reset"]> {
    this.#pass("reset");
    return super.reset(options);
  }

  override step(action: number): ReturnType<DynamicsEnv["step"]> {
    this.#pass("step");
    return super.step(action);
  }
}

/** Blocks for two seconds. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
}

function hasText(path: string): boolean {
  try {
    return Deno.readTextFileSync(path) !== "";
  } catch {
    return false;
  }
}

register({
  id: "Failing-v0",
  maxEpisodeSteps: 50,
  make: (kwargs) => new FailingEnv(kwargs as Failing),
});

/**
 * An environment that fails as its option says, or whose logger does:
 * `Failing-v0`. Tests train on it.
 */
import process from "node:process";
import { isMainThread } from "node:worker_threads";
import { registerLogger } from "@bellman/runs/settings";
import { CART_POLE, DynamicsEnv, register } from "@bellman/envs";
import type { DiscreteSpace } from "@bellman/types";

/** When and how it fails. */
interface Failure {
  how?: string;
  /** Steps of all copies until then. */
  after?: number;
}

let steps = 0;

class FailingEnv extends DynamicsEnv<DiscreteSpace> {
  readonly #failure: Failure;

  constructor(failure: Failure) {
    super(CART_POLE);
    this.#failure = failure;
    const { how } = failure;
    if (how === "throw on making") throw new Error("no luck\nat all");
    if (how === "throw text on making") throw "no luck";
    if (how === "no space") {
      Object.defineProperty(this, "observationSpace", { value: undefined });
    }
  }

  override step(action: number): ReturnType<DynamicsEnv["step"]> {
    const { how, after = 100 } = this.#failure;
    steps++;
    if (steps === after) {
      if (how === "throw null") throw null;
      if (how === "throw text") throw "no luck";
      if (how === "throw nothing") throw undefined;
      if (how === "throw a numbered error") {
        throw Object.assign(new Error(), { message: 5 });
      }
      if (how === "throw what cannot be read") {
        throw Object.defineProperty(new Error(), "message", {
          get: () => {
            throw new Error("inside");
          },
        });
      }
      if (how === "exit") Deno.exit(0);
      if (how === "exit with 3") Deno.exit(3);
      if (how === "exit of Node") process.exit(0);
      if (how === "close the worker" && !isMainThread) globalThis.close();
      if (how === "reject") Promise.reject(new Error("no luck"));
      if (how === "reject nothing") Promise.reject();
      if (how === "throw in timer") {
        setTimeout(() => {
          throw new Error("no luck");
        });
      }
    }
    return super.step(action);
  }

  override close(): void {
    if (this.#failure.how === "throw on closing") throw new Error("no luck");
  }
}

register({
  id: "Failing-v0",
  maxEpisodeSteps: 50,
  make: (kwargs) => {
    steps = 0;
    return new FailingEnv(kwargs as Failure);
  },
});

registerLogger(({ config }) => {
  const { how } = config.envKwargs as Failure;
  if (how === "throw in logger") throw new Error("no luck");
  return { write() {}, close() {} };
});

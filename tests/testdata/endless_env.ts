/**
 * An environment without a limit of steps, whose episodes end after `ends` steps, or
 * never: `Endless-v0`.
 */
import type { DiscreteSpace } from "@bellman/types";
import { CART_POLE, DynamicsEnv, register } from "@bellman/envs";

class EndlessEnv extends DynamicsEnv<DiscreteSpace> {
  readonly #ends: number;
  #steps = 0;

  constructor({ ends = Infinity }: { ends?: number }) {
    super(CART_POLE);
    this.#ends = ends;
  }

  override reset(
    options?: { seed?: number },
  ): ReturnType<DynamicsEnv["reset"]> {
    this.#steps = 0;
    return super.reset(options);
  }

  override step(action: number): ReturnType<DynamicsEnv["step"]> {
    const step = super.step(action);
    const observation = super.reset();
    const terminated = ++this.#steps >= this.#ends;
    return { ...step, observation, terminated };
  }
}

register({
  id: "Endless-v0",
  make: (kwargs) => new EndlessEnv(kwargs),
});

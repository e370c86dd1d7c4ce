/** Registers an environment that never comes back from where it is told to. */
import { ChainEnv, type EnvKwargs, register } from "../../mod.ts";

/** Where it hangs, and the file that it makes then. */
export interface Endless extends EnvKwargs {
  where: "constructor" | "reset" | "step" | "nowhere";
  sign: string;
}

class EndlessEnv extends ChainEnv {
  #options: Endless;

  constructor(options: Endless) {
    super();
    this.#options = options;
    this.#pass("constructor");
  }

  #pass(here: Endless["where"]): void {
    const { where, sign } = this.#options;
    if (where !== here) return;
    Deno.writeTextFileSync(sign, String(Deno.pid));
    for (;;);
  }

  override reset(options?: { seed?: number }): ReturnType<ChainEnv["reset"]> {
    this.#pass("reset");
    return super.reset(options);
  }

  override step(action: number): ReturnType<ChainEnv["step"]> {
    this.#pass("step");
    return super.step(action);
  }
}

register({
  id: "Endless-v0",
  maxEpisodeSteps: 50,
  make: (kwargs) => new EndlessEnv(kwargs as Endless),
});

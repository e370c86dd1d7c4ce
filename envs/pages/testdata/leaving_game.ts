import { connect } from "@bellman/client";
import { Counter } from "../../../client/testdata/counter.ts";

const { location } = globalThis as unknown as {
  location: { reload(): void };
};

/** A game that reloads its page where `x` comes to 2. */
class Leaving extends Counter {
  override step(action: number) {
    const step = super.step(action);
    const [seen] = (step as unknown as { observation: number[] }).observation;
    if (seen !== 0.25) return step;
    location.reload();
    return new Promise<never>(() => {});
  }
}

connect(() => new Leaving());

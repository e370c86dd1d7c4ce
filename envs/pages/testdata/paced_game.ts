import { connect } from "@bellman/client";
import { Counter } from "../../../client/testdata/counter.ts";

const { requestAnimationFrame } = globalThis as unknown as {
  requestAnimationFrame(call: () => void): void;
};

const frame = () =>
  new Promise<void>((resolve) => requestAnimationFrame(resolve));

/** A game at its own pace: a step takes four frames. */
class Paced extends Counter {
  override async step(action: number) {
    for (let i = 0; i < 4; i++) await frame();
    return super.step(action);
  }
}

connect(() => new Paced());

import type { Callback, CallbackResult, TrainContext } from "./callback.ts";
import type { StateTree } from "@bellman/types";

/** The hooks whose result may ask for the end. */
export type Hook =
  | "onStart"
  | "onStep"
  | "onEpisode"
  | "onUpdate"
  | "onEvaluation"
  | "onCheckpoint";

type Listener = (
  context: TrainContext,
  event: unknown,
) => CallbackResult | Promise<CallbackResult>;

/** Tells callbacks what happens, and remembers the first wish to stop. */
export class CallbackList {
  /** The first reason given. */
  stopReason: string | undefined;
  #callbacks: readonly Callback[];
  #names: readonly string[];

  constructor(callbacks: readonly Callback[]) {
    this.#callbacks = callbacks;
    this.#names = uniqueNames(callbacks, "callback");
  }

  /** Whether anyone listens; without this, each step would wait for nobody. */
  has(hook: Hook): boolean {
    return this.#callbacks.some((callback) => callback[hook] !== undefined);
  }

  async notify(
    hook: Hook,
    context: TrainContext,
    event?: unknown,
  ): Promise<void> {
    for (let i = 0; i < this.#callbacks.length; i++) {
      const callback = this.#callbacks[i];
      const listener = callback[hook] as Listener | undefined;
      if (listener === undefined) continue;
      const called = listener.call(callback, context, event);
      const result = called instanceof Promise ? await called : called;
      if (!result) continue;
      this.stopReason ??= result === "stop" ? this.#names[i] : result.reason;
    }
  }

  save(): StateTree {
    const states: Record<string, StateTree> = {};
    this.#callbacks.forEach((callback, i) => {
      if (callback.save) states[this.#names[i]] = callback.save();
    });
    return states;
  }

  /** Callbacks that the state does not know begin anew. */
  load(state: StateTree): void {
    const states = state as Record<string, StateTree>;
    this.#callbacks.forEach((callback, i) => {
      const name = this.#names[i];
      if (Object.hasOwn(states, name)) callback.load?.(states[name]);
    });
  }
}

/** Names by which states are saved; the second of a name gets a number. */
export function uniqueNames(
  things: readonly { readonly name?: string }[],
  fallback: string,
): string[] {
  const counts = new Map<string, number>();
  return things.map(({ name = fallback }) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

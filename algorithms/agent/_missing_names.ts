import type { Tensors } from "./experience/context.ts";
import type { AgentState, Update } from "./definition.ts";

/**
 * Adds the missing tensor and the available names to errors of an update.
 *
 * @param update Update of an algorithm.
 */
export function namingMissing(
  update: Update<AgentState, Tensors, Tensors>,
): Update<AgentState, Tensors, Tensors> {
  return (state, batch, inputs) => {
    const missing: string[] = [];
    const watch = <T extends Tensors>(of: string, tensors: T): T =>
      new Proxy(tensors, {
        get(target, name) {
          if (typeof name === "string" && !(name in target)) {
            const names = Object.keys(target).join(", ");
            missing.push(`${of} no '${name}', only ${names}`);
          }
          return Reflect.get(target, name);
        },
      });
    try {
      return update(
        state,
        watch("the batch has", batch),
        watch("the inputs have", inputs),
      );
    } catch (error) {
      // A lookup of an optional name explains no other error.
      const isForWant = error instanceof Error && missing.length > 0 &&
        /\b(undefined|null)\b/.test(error.message);
      if (isForWant) error.message += `; ${missing[0]}`;
      throw error;
    }
  };
}

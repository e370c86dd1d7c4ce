import type { AgentParts } from "./definition.ts";

/**
 * Makes an update whose errors for want of a tensor name what the batch has not,
 * and what it has.
 *
 * @param update Update of an algorithm.
 */
export function namingMissing(
  update: AgentParts["update"],
): AgentParts["update"] {
  return (state, batch, numbers) => {
    const missing = new Set<string>();
    const watched = new Proxy(batch, {
      get(target, name) {
        if (typeof name === "string" && !(name in target)) missing.add(name);
        return Reflect.get(target, name);
      },
    });
    try {
      return update(state, watched, numbers);
    } catch (error) {
      const [name] = missing;
      // An optional name that was looked for explains no other error.
      const isForWant = error instanceof Error && name !== undefined &&
        /\b(undefined|null)\b/.test(error.message);
      if (isForWant) error.message += `; ${absence(name, batch)}`;
      throw error;
    }
  };
}

function absence(name: string, batch: object): string {
  const names = Object.keys(batch);
  return `the batch has no '${name}', only ${names.join(", ")}`;
}

/**
 * Returns the tensor or array of a name that `targets` was to compute.
 *
 * @throws {TypeError} If there is none.
 */
export function targetOf<T>(
  targets: Readonly<Record<string, T>>,
  name: string,
): T {
  const found = targets[name];
  if (found !== undefined) return found;
  const names = Object.keys(targets).join(", ") || "nothing";
  throw new TypeError(
    `Cannot learn from a rollout without '${name}', which its inputs name: targets gives ${names}`,
  );
}

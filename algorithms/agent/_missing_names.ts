/**
 * Calls a function of named tensors. Where it fails for want of one, the message
 * names what there is not, and what there is.
 *
 * @param batch Tensors by name.
 * @param call The function.
 */
export function namingMissing<Batch extends object, T>(
  batch: Batch,
  call: (batch: Batch) => T,
): T {
  const missing = new Set<string>();
  const watched = new Proxy(batch, {
    get(target, name) {
      if (typeof name === "string" && !(name in target)) missing.add(name);
      return Reflect.get(target, name);
    },
  });
  try {
    return call(watched);
  } catch (error) {
    const [name] = missing;
    // An optional name that was looked for explains no other error.
    const isForWant = error instanceof Error && name !== undefined &&
      /\b(undefined|null)\b/.test(error.message);
    if (isForWant) error.message += `; ${absence(name, batch)}`;
    throw error;
  }
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

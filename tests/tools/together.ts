/** TensorFlow.js's engine, which it puts where all of its copies find it. */
interface Engine {
  backendName: string;
  setBackend(name: string): Promise<boolean>;
}

/**
 * Imports files of tests into one thread: each loads modules and compiles them
 * once for all of them. Names of tests begin with their file; each finds the
 * backend that its file chose when it was imported.
 */
export async function testTogether(
  files: readonly (readonly [name: string, path: string])[],
): Promise<void> {
  const { test } = Deno;
  const engine = () => (globalThis as { _tfengine?: Engine })._tfengine;
  const backends = new Map<string, string | undefined>();
  let file = "";
  const add = (
    first: string | Deno.TestDefinition,
    second:
      | Omit<Deno.TestDefinition, "name" | "fn">
      | Deno.TestDefinition["fn"],
    third?: Deno.TestDefinition["fn"],
  ): void => {
    const { name, fn, ...given } = typeof first === "object"
      ? first
      : typeof second === "function"
      ? { name: first, fn: second }
      : { name: first, ...second, fn: third! };
    const owner = file;
    test({
      ...given,
      name: `${owner}: ${name}`,
      async fn(context) {
        const backend = backends.get(owner);
        if (backend !== undefined && engine()!.backendName !== backend) {
          await engine()!.setBackend(backend);
        }
        await fn(context);
      },
    });
  };
  const scope: { test: unknown } = Deno;
  scope.test = add;
  for (const [name, path] of files) {
    file = name;
    try {
      await import(`file://${path}`);
      backends.set(name, engine()?.backendName);
    } catch (error) {
      test(`${file}: is loaded`, () => Promise.reject(error));
    }
  }
  scope.test = test;
}

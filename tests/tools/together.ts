/** TensorFlow.js's engine, which it puts where all of its copies find it. */
interface Engine {
  backendName: string;
  setBackend(name: string): Promise<boolean>;
  findBackendFactory(name: string): unknown;
}

type Variables = Record<string, string>;

/** Sets the variables of the environment, and removes all others. */
function setVariables(wanted: Variables): void {
  for (const name in Deno.env.toObject()) {
    if (!(name in wanted)) Deno.env.delete(name);
  }
  for (const name in wanted) Deno.env.set(name, wanted[name]);
}

/**
 * Imports files of tests into one thread: each loads modules and compiles them
 * once for all of them. Names of tests begin with their file; each finds the
 * backend and the variables of the environment that its file chose when it was
 * imported.
 */
export async function testTogether(
  files: readonly (readonly [name: string, path: string])[],
): Promise<void> {
  const { test } = Deno;
  const engine = () => (globalThis as { _tfengine?: Engine })._tfengine;
  /** What a file leaves when it is imported, and its tests find. */
  const scenes = new Map<string, [string | undefined, Variables]>();
  const variables = Deno.env.toObject();
  let file = "", last = "";
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
        const [backend, own] = scenes.get(owner)!;
        if (backend !== undefined && engine()!.backendName !== backend) {
          await engine()!.setBackend(backend);
        }
        if (owner !== last) setVariables(own);
        last = owner;
        await fn(context);
      },
    });
  };
  const scope: { test: unknown } = Deno;
  const { beforeAll, beforeEach, afterEach, afterAll } = test;
  scope.test = Object.assign(add, {
    ...{ beforeAll, beforeEach, afterEach, afterAll },
  });
  for (const [name, path] of files) {
    file = name;
    setVariables(variables);
    // As in a process of its own: modules that chose a backend are not run again.
    if (engine()?.findBackendFactory("cpu")) await engine()!.setBackend("cpu");
    try {
      await import(`file://${path}`);
      scenes.set(name, [engine()?.backendName, Deno.env.toObject()]);
    } catch (error) {
      test(`${file}: is loaded`, () => Promise.reject(error));
    }
  }
  scope.test = test;
}

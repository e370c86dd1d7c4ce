/**
 * Imports files of tests into one thread: each loads modules and compiles them
 * once for all of them. Names of tests begin with their file.
 */
export async function testTogether(
  files: readonly (readonly [name: string, path: string])[],
): Promise<void> {
  const { test } = Deno;
  let file = "";
  const add = (
    first: string | Deno.TestDefinition,
    second:
      | Omit<Deno.TestDefinition, "name" | "fn">
      | Deno.TestDefinition["fn"],
    third?: Deno.TestDefinition["fn"],
  ): void => {
    const { name, ...given } = typeof first === "object"
      ? first
      : typeof second === "function"
      ? { name: first, fn: second }
      : { name: first, ...second, fn: third! };
    test({ ...given, name: `${file}: ${name}` });
  };
  const scope: { test: unknown } = Deno;
  scope.test = add;
  for (const [name, path] of files) {
    file = name;
    try {
      await import(`file://${path}`);
    } catch (error) {
      test(`${file}: is loaded`, () => Promise.reject(error));
    }
  }
  scope.test = test;
}

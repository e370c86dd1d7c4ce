import type { EngineName } from "../compile/options.ts";
import { isXlaInstalled } from "../xla/install/installed.ts";

/** Engines of compiled functions. */
export const ENGINES = ["onnx", "xla", "eager"] as const;

/** Engines that compile. */
export type CompiledEngine = Exclude<EngineName, "eager">;

/** Engines that this machine has. */
export const INSTALLED: readonly EngineName[] = ENGINES
  .filter((engine) => engine !== "xla" || isXlaInstalled());

/** Adds a test for each engine; that of XLA is ignored where it is not installed. */
export function testEngines<Name extends EngineName = EngineName>(
  name: string,
  test: (engine: Name) => void | Promise<void>,
  engines: readonly Name[] = ENGINES as readonly EngineName[] as Name[],
): void {
  for (const engine of engines) {
    Deno.test({
      name: `${name} ${engine === "xla" ? "[XLA]" : `(${engine})`}`,
      ignore: !INSTALLED.includes(engine),
      fn: () => test(engine),
    });
  }
}

/** Adds a test for each engine that compiles. */
export function testCompiledEngines(
  name: string,
  test: (engine: CompiledEngine) => void,
): void {
  testEngines(name, test, ["onnx", "xla"]);
}

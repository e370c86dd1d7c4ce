import { assertThrows } from "@std/assert";
import { resolveConfig } from "../settings/resolve.ts";
import { UsageError } from "../program/errors.ts";
import { checkCarried } from "./carried.ts";

const configOf = (entries: [string, unknown][] = []) =>
  resolveConfig("a2c", { entries });

Deno.test("what a run names by a path is not shipped", () => {
  const own = configOf([["envModules", ["file:///code/own.ts"]]]);
  checkCarried(own, undefined);
  checkCarried(own, { code: "here" });
  checkCarried(configOf(), { code: "ship" });
  const remote = [["envModules", ["jsr:@own/envs"]]];
  checkCarried(configOf(remote as [string, unknown][]), { code: "ship" });
  assertThrows(
    () => checkCarried(own, { code: "ship" }),
    UsageError,
    "Cannot ship file:///code/own.ts to the cluster",
  );
  assertThrows(
    () => checkCarried(configOf([["vectorization", "ray"]]), undefined),
    UsageError,
    "Cannot use vectorization: ray for several runs",
  );
});

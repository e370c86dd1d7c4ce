import { assert, assertEquals, assertThrows } from "@std/assert";
import { resolveConfig } from "../config/resolve.ts";
import { signConfig } from "@bellman/runs";
import { openRun } from "../run/saved_run.ts";
import { UsageError } from "../terminal/errors.ts";
import { adoptRun, checkCarried, configIn } from "./carried.ts";
import { stringify } from "@std/yaml";

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

Deno.test("a file of a configuration is found from the folder of the code", () => {
  const folder = Deno.cwd(), code = "ship";
  const words = (path: string) => ["train", "--config", path, "--quiet"];
  assertEquals(configIn(["train"], { folder, code }), ["train"]);
  const inside = words("a/b.yaml");
  assertEquals(configIn(words(`${folder}/a/b.yaml`), { folder, code }), inside);
  assertEquals(configIn(inside, { folder, code }), inside);
  const outside = words("/etc/b.yaml");
  assertEquals(configIn(outside, { folder, code: "here" }), outside);
  assertThrows(
    () => configIn(outside, { folder, code }),
    UsageError,
    `Cannot ship /etc/b.yaml to the cluster: expected a file in ${folder}`,
  );
});

Deno.test("a run that a node has begun is the user's own, unless it names code", async () => {
  const dir = await Deno.makeTempDir();
  const isOwn = (entries: [string, unknown][]) => {
    const text = stringify(configOf(entries));
    Deno.writeTextFileSync(`${dir}/config.yaml`, text);
    Deno.writeTextFileSync(
      `${dir}/config.sig`,
      signConfig(text, { isOwn: false }),
    );
    adoptRun(dir);
    return openRun(dir, { isTrusted: true }).isOwn;
  };
  assert(isOwn([]));
  assert(!isOwn([["envModules", ["file:///code/own.ts"]]]));
  Deno.removeSync(`${dir}/config.sig`);
  adoptRun(dir);
  await Deno.remove(dir, { recursive: true });
});

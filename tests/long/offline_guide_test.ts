/** The command lines of the guide to logs run, and what they train has learned. */
import { assert } from "@std/assert";
import { runGuide } from "../testdata/guide_commands.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-offline-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});

Deno.test("the guide's runs are better than the mixture that they learn from", async () => {
  const returns = await runGuide("offline", "## From the command line", dir);
  const { beginner, iql, td3, best } = returns, text = JSON.stringify(returns);
  // The other half of the episodes is of an agent of -150.
  const data = (beginner - 150) / 2;
  assert(iql > data + 300 && best > data + 300 && td3 > beginner, text);
  const more = await runGuide("offline", "## Beside fresh steps", dir);
  assert(more.both > data, JSON.stringify(more));
});

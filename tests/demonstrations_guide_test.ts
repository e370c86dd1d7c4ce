/** The command lines of the guide to demonstrations run, and what they train has learned. */
import { assert } from "@std/assert";
import { runGuide } from "./testdata/guide_commands.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-demonstrations-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});

Deno.test("the guide's clone balances, and PPO goes on from there", async () => {
  const { clone, further } = await runGuide(
    "demonstrations",
    "# Demonstrations",
    dir,
  );
  assert(clone > 450, `${clone}`);
  assert(further > 450, `${further}`);
});

Deno.test("the guide's clone of Pendulum is better after PPO's steps than without", async () => {
  const returns = await runGuide("demonstrations", "## Go on", dir);
  const { swing, "swing-on": further } = returns;
  assert(swing > -350 && further > -200, JSON.stringify(returns));
});

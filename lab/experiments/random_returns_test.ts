import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { resolveConfig } from "@bellman/runs/settings";
import { randomReturns } from "./random_returns.ts";

const configOf = (env: string) =>
  resolveConfig("a2c", { entries: [["env", env]] });

/** Returns of some environments, and the lines that the user sees. */
async function measured(dir: string, ...environments: string[]) {
  const lines: string[] = [];
  const configs = new Map(environments.map((it) => [it, configOf(it)]));
  const returns = await randomReturns(configs, {
    dir,
    onNotice: (line) => lines.push(line),
  });
  return { returns: Object.fromEntries(returns), lines };
}

Deno.test("random actions reach what is known of them, and the same each time", () =>
  withFolder(async (dir) => {
    const names = ["CartPole-v1", "Pendulum-v1", "MountainCar-v0"];
    const { returns, lines } = await measured(dir, ...names);
    assertEquals(
      lines,
      names.map((it) =>
        `Measuring the return of random actions on ${it}: 100 episodes`
      ),
    );
    // Episodes are 22 steps long on average, with a standard error of 1.2.
    assert(Math.abs(returns["CartPole-v1"] - 22) < 6, `${returns}`);
    assert(Math.abs(returns["Pendulum-v1"] + 1200) < 120);
    assertEquals(returns["MountainCar-v0"], -200);
    await withFolder(async (other) => {
      assertEquals((await measured(other, ...names)).returns, returns);
    });
  }));

Deno.test("the folder's returns are taken, what it lacks or has spoilt is measured", () =>
  withFolder(async (dir) => {
    const path = `${dir}/random_returns.json`;
    await Deno.writeTextFile(path, '{"CartPole-v1": 7, "Acrobot-v1": "x"}');
    const names = ["CartPole-v1", "Acrobot-v1"];
    const { returns } = await measured(dir, ...names);
    assertEquals(returns["CartPole-v1"], 7);
    assert(returns["Acrobot-v1"] < -400);
    assertEquals(JSON.parse(await Deno.readTextFile(path)), returns);
    await Deno.writeTextFile(path, '{"CartPole-v1": 7, "Ac');
    const again = (await measured(dir, ...names)).returns;
    assert(again["CartPole-v1"] > 10);
    assertEquals(again["Acrobot-v1"], returns["Acrobot-v1"]);
  }));

Deno.test("what cannot be measured is left out, with a line", () =>
  withFolder(async (dir) => {
    const { returns, lines } = await measured(dir, "CartPole-v9");
    assertEquals(returns, {});
    assertEquals(lines.length, 2);
    assertStringIncludes(
      lines[1],
      "Cannot measure the return of random actions on CartPole-v9: ",
    );
  }));

/** Pages and programs that break: their rows are cut off once, and they are replaced. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  type GameOptions,
  inPages,
  inPrograms,
  type Played,
  renderersOf,
  Tabs,
  testInPages,
} from "./testdata/games.ts";

const STILL = Int32Array.of(1, 1, 1, 1), UP = Int32Array.of(2, 1, 1, 1);

/** Two pages, of which the first breaks where it is told to. */
function pages(fault?: string): GameOptions {
  return { numEnvs: 4, workers: 2, kwargs: { fault } };
}

const ALL = [0, 1, 2, 3];

/** Starts episodes in which `x` is 0. */
function begin({ env }: Played): void {
  env.reset({ seed: [1, 1, 1, 1] });
  env.step(STILL);
}

/** Sends a signal to all that draw pages. */
async function signal({ env }: Played, name: Deno.Signal): Promise<void> {
  for (const pid of await renderersOf(env.pids()[0])) Deno.kill(pid, name);
}

/**
 * Steps until as many rows are lost; returns them. A signal takes a while to arrive, and
 * does not reach all pages at once.
 */
async function lostRows(
  { env, failures }: Played,
  count: number,
  actions: Int32Array = STILL,
): Promise<readonly number[]> {
  const all: number[] = [];
  while (all.length < count) {
    const seen = env.observations().slice();
    const step = env.step(actions), { lost } = step;
    if (lost === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      continue;
    }
    for (const row of lost) {
      assertEquals([step.truncated[row], step.rewards[row]], [1, 0]);
      const rowOf = (it: Float32Array) => it.slice(2 * row, 2 * row + 2);
      assertEquals(rowOf(step.finalObservations), rowOf(seen));
    }
    all.push(...lost);
  }
  const after = env.step(STILL);
  assertEquals(after.lost, undefined);
  for (const row of all) assertEquals(after.truncated[row], 0);
  assertEquals(failures.length, all.length / 2);
  return all.sort();
}

testInPages(
  "pages whose processes are killed are replaced",
  () =>
    inPages("counter_game", pages(), async (it) => {
      begin(it);
      await signal(it, "SIGKILL");
      assertEquals(await lostRows(it, 4), ALL);
      assertEquals(it.failures[0].message, "its page is gone");
      await new Tabs(it.env.pids()[0]).settle(2);
    }),
);

testInPages(
  "a page that throws in a step is replaced",
  () =>
    inPages("counter_game", pages("throw"), async (it) => {
      begin(it);
      it.env.step(UP);
      assertEquals(await lostRows(it, 2, UP), [0, 1]);
      assertEquals(it.failures[0].message, "no ball");
      assert(it.failures[0].stack?.includes("game.js"));
      await new Tabs(it.env.pids()[0]).settle(2);
    }),
);

testInPages("a page in an endless loop is replaced", () =>
  inPages(
    "counter_game",
    { ...pages("loop"), stepTimeoutMs: 1_000 },
    async (it) => {
      begin(it);
      it.env.step(UP);
      assertEquals(await lostRows(it, 2, UP), [0, 1]);
      assertEquals(it.failures[0].reason, "timeout");
      await new Tabs(it.env.pids()[0]).settle(2);
    },
  ));

testInPages(
  "pages whose processes are stopped are replaced",
  () =>
    inPages(
      "counter_game",
      { ...pages(), stepTimeoutMs: 1_000 },
      async (it) => {
        begin(it);
        const stopped = await renderersOf(it.env.pids()[0]);
        await signal(it, "SIGSTOP");
        assertEquals(await lostRows(it, 4), ALL);
        assertEquals(it.failures[0].reason, "timeout");
        await new Tabs(it.env.pids()[0]).settle(2);
        assert(stopped.length > 0);
      },
    ),
);

testInPages(
  "a page whose tab is closed is replaced",
  () =>
    inPages("counter_game", pages(), async (it) => {
      begin(it);
      const tabs = new Tabs(it.env.pids()[0]);
      await tabs.close((await tabs.list())[0].id);
      assertEquals((await lostRows(it, 2)).length, 2);
      assertEquals(it.failures[0].message, "its page is gone");
      await tabs.settle(2);
    }),
);

testInPages(
  "a page that reloads is replaced, and leaves no tab",
  () =>
    inPages("leaving_game", pages(), async (it) => {
      begin(it);
      it.env.step(UP);
      assertEquals(await lostRows(it, 2, UP), [0, 1]);
      assertEquals(it.failures[0].message, "its page is gone");
      await new Tabs(it.env.pids()[0]).settle(2);
    }),
);

testInPages(
  "a browser that is killed is replaced, with all of its pages",
  () =>
    inPages("counter_game", pages(), async (it) => {
      begin(it);
      const [before] = it.env.pids();
      Deno.kill(before, "SIGKILL");
      assertEquals(await lostRows(it, 4), ALL);
      assert(it.env.pids()[0] !== before);
    }),
);

testInPages(
  "a browser that is stopped is replaced",
  () =>
    inPages(
      "counter_game",
      { ...pages(), stepTimeoutMs: 1_000, startTimeoutMs: 20_000 },
      async (it) => {
        begin(it);
        const [before] = it.env.pids();
        Deno.kill(before, "SIGSTOP");
        await signal(it, "SIGKILL");
        assertEquals(await lostRows(it, 4), ALL);
        assert(it.env.pids()[0] !== before);
      },
    ),
);

Deno.test("a program that is killed is replaced", () =>
  inPrograms("counter_game", pages(), async (it) => {
    begin(it);
    Deno.kill(it.env.pids()[1], "SIGKILL");
    assertEquals(await lostRows(it, 2), [2, 3]);
    // Not only that it is gone, but why.
    assertMatch(it.failures[0].message, /^its program was ended by SIGKILL/);
  }));

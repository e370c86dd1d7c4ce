import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
import { box } from "@bellman/envs";
import { PaddleBall, Soccer, TicTacToe } from "@bellman/envs/games";
import { exportPolicy, stochasticPolicy } from "@bellman/policies";
import type { World } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { actionsOf, Match } from "./match.ts";

/** Exports an untrained policy of a game. */
async function policyOf(world: World): Promise<Uint8Array> {
  await selectBackend("cpu");
  const [spaces] = Object.values(world.roles), { actionSpace } = spaces;
  const policy = stochasticPolicy(spaces);
  const params = paramsToArrays(policy.init(new RandomStream(1)));
  const masked = world.actionMasks !== undefined;
  return exportPolicy(policy, {
    ...{ params, actionSpace, masked, probabilities: true },
  });
}

Deno.test("the agent moves as it thinks, and a person as told", async () => {
  const world = new TicTacToe(),
    match = new Match(world, await policyOf(world));
  for (let games = 0; games < 2; games++) {
    const [own, none] = match.thoughts;
    assertEquals([none, Array.from(own!.allowed)], [
      undefined,
      Array(9).fill(1),
    ]);
    const free = own!.action === 4 ? 3 : 4;
    match.step(0, free);
    const thought = match.thoughts[1]!;
    assertEquals(match.thoughts[0], undefined);
    assertEquals(thought.allowed[free], 0);
    assertEquals(thought.probabilities![free], 0);
    const best = Math.max(...thought.probabilities!);
    assertEquals(thought.probabilities!.indexOf(best), thought.action);
    match.step(0, -1); // is not to act
    const cells = world.text(0).split(/\s/);
    assertEquals([cells[free], cells[thought.action]], ["X", "O"]);
    match.begin();
  }
});

Deno.test("the one with a line won", async () => {
  const world = new TicTacToe(),
    match = new Match(world, await policyOf(world));
  const lines = ["012", "345", "678", "036", "147", "258", "048", "246"];
  const ends = new Set<number>();
  for (let game = 0; game < 60; game++) {
    for (let move = 0; world.toAct.includes(1); move++) {
      const allowed = match.thoughts[0]?.allowed ?? [0];
      const all = Array.from(allowed, (it, i) => it ? i : -1)
        .filter((it) => it >= 0);
      match.step(0, all[(3 * game + 5 * move) % all.length] ?? 0);
    }
    assertEquals(match.thoughts, [undefined, undefined]);
    const cells = world.text(0).split(/\s/);
    const has = (piece: string) =>
      lines.some((line) => [...line].every((it) => cells[+it] === piece));
    assertEquals(Math.sign(match.lead(0)), +has("X") - +has("O"));
    assertEquals(match.lead(1), -match.lead(0));
    ends.add(match.lead(0));
    match.begin();
  }
  assert(ends.has(2) && ends.has(-2), [...ends].join());
});

Deno.test("all seats move at once, and a team wins together", async () => {
  const world = new Soccer(), match = new Match(world, await policyOf(world));
  assertEquals(match.thoughts.map((it) => it !== undefined), [
    ...[true, true, true, true],
  ]);
  const { n } = actionsOf(world, 2);
  assertEquals(match.thoughts[2]!.allowed.length, n);
  const before = world.observe(0).slice();
  match.step(2, 0);
  assert(String(world.observe(0)) !== String(before));
  assertEquals([0, 1, 2, 3].map((it) => match.lead(it)), [0, 0, 0, 0]);
});

Deno.test("what a person cannot play is one line", async () => {
  const policy = await policyOf(new TicTacToe());
  const refused = (world: World, line: string) =>
    assertThrows(() => new Match(world, policy), TypeError, line);
  const start = "Cannot play this game in a page: it has ";
  refused(new TicTacToe({ numEnvs: 2 }), `${start}2 worlds, expected one`);
  const changed = (own: Partial<World>) =>
    Object.defineProperties(
      new PaddleBall(),
      Object.getOwnPropertyDescriptors(own),
    ) as World;
  refused(
    changed({ seats: [{ name: "one" }] }),
    `${start}one seat, expected several`,
  );
  const { roles: { player } } = new PaddleBall();
  refused(
    changed({ roles: { player, keeper: player } }),
    `${start}2 roles, expected one, of one policy`,
  );
  const space = box({ low: -1, high: 1, shape: [2] });
  refused(
    changed({
      roles: { player: { observationSpace: space, actionSpace: space } },
    }),
    `${start}box actions, expected discrete ones`,
  );
  refused(
    changed({ actionGrid: [2, 4] } as Partial<World>),
    `${start}an actionGrid of 2 by 4, expected 3 fields`,
  );
  assertThrows(
    () => new Match(new PaddleBall(), policy),
    RangeError,
    "numbers of observation: expected 18",
  );
});

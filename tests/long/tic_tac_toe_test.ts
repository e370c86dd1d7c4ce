/** PPO's preset of TicTacToe-v0: no reply of the opponent beats the agent. */
import { SeededRandom } from "@bellman/envs";
import { TicTacToe } from "@bellman/envs/games";
import { loadRun } from "@bellman/runs";
import type { Actor } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import { trainWell } from "../runs.ts";

/** Counts the lines of play against every reply, from both seats. */
function linesOf(actor: Actor): { played: number; lost: number } {
  const world = new TicTacToe(), which = Uint8Array.of(1);
  const actions = world.seats.map(() => new Int32Array(1));
  const count = { played: 0, lost: 0 };
  const walk = (own: number) => {
    const mover = world.toAct.indexOf(1), state = world.save();
    const mask = world.actionMasks(mover).slice();
    const moves = mover === own
      ? actor.act(world.observe(own), mask) as Int32Array
      : [...mask.keys()].filter((it) => mask[it] === 1);
    for (const move of [...moves]) {
      world.load(state);
      actions[mover][0] = move;
      const { rewards, terminated } = world.step(actions, which);
      if (terminated[0] === 0) walk(own);
      else {
        count.played++;
        if (rewards[own] < 0) count.lost++;
      }
    }
  };
  for (const own of world.seats.keys()) {
    world.begin(0, new SeededRandom(0));
    walk(own);
  }
  return count;
}

for (let seed = 0; seed < 5; seed++) {
  Deno.test(`no line of play is lost, seed ${seed}`, async () => {
    const dir = await Deno.makeTempDir({ prefix: "bellman-tic-tac-toe-" });
    await trainWell([
      ...["ppo", "--env=TicTacToe-v0", `--seed=${seed}`, "--set=threads=1"],
      ...["--quiet", "--out", `${dir}/run`],
    ]);
    const run = await loadRun(`${dir}/run`, { checkpoint: "latest" });
    const policy = { frozen: true, deterministic: true, numEnvs: 1 };
    const { played, lost } = linesOf(run.agent.policy(policy));
    run.close();
    await Deno.remove(dir, { recursive: true });
    assertEquals(lost, 0);
    assert(played > 500, `${played} lines`);
  });
}

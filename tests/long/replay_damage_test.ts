/** Damages with the command that `tests/replay_damage.ts` is. */
import { assertEquals } from "@std/assert";
import { damageEach } from "../damage_loop.ts";
import { REPLAY_DAMAGES } from "../replay_damage.ts";

Deno.test("200 damaged replay files: no rows are learned from in silence, and no run is lost", async () => {
  const options = { damages: 200, seed: 35 };
  assertEquals((await damageEach(REPLAY_DAMAGES, options)).failures, []);
});

import { assertEquals } from "@std/assert";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { plainGame, ScriptedAtari } from "../testdata/scripted_atari.ts";
import { EpisodeInfo } from "./episode_info.ts";
import { InfoClear } from "./info_clear.ts";
import { EpisodicLife } from "./resets.ts";

const game = () => new ScriptedAtari([plainGame(3, { livesAt: () => 2 })]);

Deno.test("only what is kept stays", () => {
  const infoOf = (env: InfoClear) => {
    env.reset({ seed: 0 });
    return env.step(0).info;
  };
  assertEquals(infoOf(new InfoClear(game())), undefined);
  assertEquals(infoOf(new InfoClear(new EpisodeInfo(game()))), {
    episodes: [],
  });
  const keep = ["lives", "nothing"];
  assertEquals(infoOf(new InfoClear(game(), { keep })), { lives: 2 });
});

Deno.test("wrappers around it still know the lives", () => {
  const livesAt = (frame: number) => frame < 2 ? 3 : 2;
  const inner = new ScriptedAtari([plainGame(5, { livesAt })]);
  const env = new EpisodicLife(new InfoClear(inner));
  env.reset({ seed: 0 });
  assertEquals([env.step(0).terminated, env.step(0).terminated], [false, true]);
});

testSnapshot("InfoClear", () => new InfoClear(game()));

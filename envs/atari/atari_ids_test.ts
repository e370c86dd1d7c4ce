import { assertEquals, assertThrows } from "@std/assert";
import { type EnvRegistry, make, registeredIds } from "../registry/registry.ts";
import type { TimeLimit } from "../wrappers/time_limit.ts";
import type { AtariEnv } from "./atari_env.ts";
import { checkOptionNames, registerAtari } from "./atari_ids.ts";
import { isAtariInstalled } from "./emulator/installed.ts";

const ID = "ALE/Pong-v5";

Deno.test("options that a game has pass", () => {
  checkOptionNames(ID, {});
  checkOptionNames(ID, { obsType: "ram", mode: 1 });
  checkOptionNames(ID, { preprocessing: "baselines", noopMax: 0 });
  checkOptionNames(ID, { noopMax: undefined });
});

Deno.test("others are refused with the nearest one", () => {
  const refused = (options: Record<string, unknown>, says: string) =>
    assertThrows(() => checkOptionNames(ID, options), TypeError, says);
  refused({ frameskp: 3 }, "with 'frameskp': did you mean 'frameskip'?");
  refused({ preprocesing: "deepmind" }, "did you mean 'preprocessing'?");
  refused({ clipReward: true }, "that is for preprocessed games");
  refused({ preprocessing: "deepmind", obsType: "ram" }, "did you mean");
  refused({ preprocessing: "deepmind", preset: "deepmind" }, "with 'preset'");
});

/** Lines of id, game, frames a step, repetition and frame limit. */
const GYMNASIUM = Deno.readTextFileSync(
  new URL("./testdata/gymnasium_ids.txt", import.meta.url),
).trim().split("\n").map((line) => line.split(" "));

function atariRegistry(): EnvRegistry {
  const registry: EnvRegistry = new Map();
  registerAtari({ registry });
  return registry;
}

Deno.test("registerAtari registers exactly Gymnasium's ids", () => {
  const ids = registeredIds({ registry: atariRegistry() }).sort();
  assertEquals(ids, GYMNASIUM.map(([id]) => id).sort());
});

Deno.test("registerAtari leads from a wrong id to the nearest one", () => {
  const registry = atariRegistry();
  const wrong = () => make("ALE/Brekout-v5", { registry });
  assertThrows(wrong, RangeError, "did you mean 'ALE/Breakout-v5'?");
});

/** What an environment of an id does: frames a step, chance and frame limit. */
function settingsOf(id: string, registry: EnvRegistry): unknown[] {
  // What is undefined is as left out.
  const kwargs = { obsType: "ram", frameskip: undefined };
  const env = make(id, { registry, kwargs }) as TimeLimit;
  const inner = env.env as AtariEnv;
  try {
    env.reset({ seed: 1 });
    const frames = new Set(Array.from({ length: 30 }, () => {
      const before = inner.ale.frameNumber;
      env.step(0);
      return inner.ale.frameNumber - before;
    }));
    const { settings } = inner.ale.save() as { settings: string };
    const [chance, limit] = settings.split(",").slice(-2).map(Number);
    return [inner.ale.game.id, [...frames].sort().join(), chance, limit];
  } finally {
    env.close();
  }
}

Deno.test({
  name: "registerAtari gives the ids of a game Gymnasium's settings",
  ignore: !isAtariInstalled(),
  fn() {
    const registry = atariRegistry();
    for (const [id, game, skip, chance, limit] of GYMNASIUM) {
      if (game !== "pong") continue;
      const frames = skip === "[2,5]" ? "2,3,4" : skip;
      assertEquals(settingsOf(id, registry), [
        game,
        frames,
        Number(chance),
        Number(limit),
      ]);
    }
  },
});

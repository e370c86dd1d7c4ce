import type { ConfigSchema } from "@bellman/agent";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { capture } from "../../../cli/testdata/capture.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";
import { type Entry, validateEntries } from "./settings.ts";
import { UsageError } from "../program/errors.ts";
import { runConfigSchema } from "./schema.ts";

const schema: ConfigSchema = {
  properties: {
    numSteps: { type: "integer", minimum: 1, alias: "nsteps, n_steps" },
    gamma: { type: "number", minimum: 0, maximum: 1 },
  },
};

Deno.test("the nearest key looks at aliases and ignores case", () => {
  const cases: [string, string][] = [
    ["n_stps", "did you mean 'n_steps'?"],
    ["GAMA", "did you mean 'gamma'?"],
    ["zebra", "expected one of numSteps, nsteps, n_steps, gamma"],
  ];
  for (const [name, hint] of cases) {
    assertThrows(
      () => validateEntries([[name, 1]], { schema, origin: "it" }),
      UsageError,
      `Unknown key '${name}' in it: ${hint}`,
    );
  }
});

const mixedSchema: ConfigSchema = {
  properties: {
    numSteps: { type: "integer", minimum: 1, alias: "nsteps" },
    maxGradNorm: { type: ["number", "null"], exclusiveMinimum: 0 },
    optimizer: { type: "string", enum: ["rmsprop", "adam"] },
    hiddenSizes: { type: "array", items: { type: "integer", minimum: 1 } },
  },
};
const options = { schema: mixedSchema, origin: "a2c.yaml" };

Deno.test("valid entries come back under the schema's own names", () => {
  const valid = validateEntries([
    ["nsteps", 16],
    ["maxGradNorm", null],
    ["hiddenSizes", [64, 64]],
  ], options);
  assertEquals(valid, {
    numSteps: 16,
    maxGradNorm: null,
    hiddenSizes: [64, 64],
  });
});

Deno.test("each bad entry is one line that names what was expected", () => {
  const use = (key: string, value: unknown) => () =>
    validateEntries([[key, value]], options);
  const of = "of a2c.yaml: expected";
  assertRefused({
    "UsageError: Unknown key 'numStep' in a2c.yaml: did you mean 'numSteps'?":
      use("numStep", 5),
    [`UsageError: Cannot use nsteps = 0 ${of} an integer of at least 1`]: use(
      "nsteps",
      0,
    ),
    [`UsageError: Cannot use numSteps = 2.5 ${of} an integer of at least 1`]:
      use("numSteps", 2.5),
    [`UsageError: Cannot use maxGradNorm = NaN ${of} a number above 0 or null`]:
      use("maxGradNorm", NaN),
    [`UsageError: Cannot use maxGradNorm = Infinity ${of} a number above 0 or null`]:
      use("maxGradNorm", Infinity),
    [`UsageError: Cannot use optimizer = "adm" ${of} rmsprop or adam; did you mean 'adam'?`]:
      use("optimizer", "adm"),
    [`UsageError: Cannot use hiddenSizes = [64,-1] ${of} a list, each an integer of at least 1`]:
      use("hiddenSizes", [64, -1]),
  });
});

Deno.test("a setting of earlier versions is dropped, or one line says where it went", () => {
  const former = {
    interval: { const: 1, description: "it is gone", alias: "every" },
    reparameterize: { const: null, description: "it is another's" },
  };
  const options = { schema: { ...schema, former }, origin: "a2c.yaml" };
  const entries = [["interval", 1], ["every", 1], ["reparameterize", null]];
  assertEquals(
    validateEntries([...entries, ["gamma", 0.5]] as Entry[], options),
    { gamma: 0.5 },
  );
  assertRefused({
    "UsageError: Cannot use every = 2 of a2c.yaml: it is gone": () =>
      validateEntries([["every", 2]], options),
    "UsageError: Cannot use reparameterize = true of a2c.yaml: it is another's":
      () => validateEntries([["reparameterize", true]], options),
  });
});

Deno.test("entries of a mapping have aliases, and names with a point", () => {
  const of = "of a2c.yaml: expected";
  const given = (...entries: Entry[]) =>
    validateEntries(entries, {
      schema: runConfigSchema,
      origin: "a2c.yaml",
    }).opponents;
  const names = { save_steps: "3_000", play_against_latest_model_ratio: 1 };
  const wanted = { snapshotEvery: 3000, latest: 1 };
  assertEquals(given(["self_play", names]), wanted);
  assertEquals(
    given(["opponents.save_steps", 3000], ["self_play.latest", 1]),
    wanted,
  );
  assertEquals(given(["opponents", null]), null);
  const both = "in opponents of a2c.yaml: they are the same key, give one";
  assertRefused({
    [`UsageError: Cannot use both 'save_steps' and 'snapshotEvery' ${both}`]:
      () => given(["opponents", { save_steps: 1, snapshotEvery: 2 }]),
    [`UsageError: Cannot use both 'opponents.swap_steps' and 'opponents.swapEvery' ${both}`]:
      () => given(["opponents.swap_steps", 1], ["opponents.swapEvery", 1]),
    "UsageError: Cannot use both 'opponents' and 'self_play.window' in a2c.yaml: they are the same key, give one":
      () => given(["opponents", {}], ["self_play.window", 1]),
    "UsageError: Unknown key 'windo' in opponents of a2c.yaml: did you mean 'window'?":
      () => given(["opponents", { windo: 1 }]),
    "UsageError: Unknown key 'initial_elo' in opponents of a2c.yaml: the first policy of a run has the rating 1200":
      () => given(["opponents", { initial_elo: 1200 }]),
    "UsageError: Unknown key 'team_change' in self_play of a2c.yaml: the learner takes the next seat after each game; '--set opponents.seat=NAME' keeps one":
      () => given(["self_play", { team_change: 1 }]),
    [`UsageError: Cannot use window = "x" of opponents ${of} a number`]: () =>
      given(["opponents", { window: "x" }]),
    "UsageError: Unknown key 'seed.window' in a2c.yaml: 'train ALGORITHM --help' lists the keys":
      () => given(["seed.window", 1]),
  });
});

Deno.test("names of other libraries are told with their counterparts", async () => {
  const cases: Record<string, string> = {
    "trpo": "Unknown algorithm 'trpo': it is not here; expected ppo or acktr",
    "PPO2": "Unknown algorithm 'PPO2': it is not here; expected ppo",
    "RecurrentPPO":
      "it is a setting here; expected ppo, with '--set network=lstm'",
    "maskable_ppo": "expected ppo, which obeys the masks of environments",
    "TQC":
      "Unknown algorithm 'TQC': it is a setting here; expected sac, with '--set method=tqc'",
    "--algo ppo":
      "Unknown option '--algo': the algorithm stands without a name",
    "--lr 0.1":
      "Unknown option '--lr': it is a setting, as in '--set lr=VALUE'",
    "--net-arch 64": "'--set hiddenSizes=[64, 64]' sizes the layers",
    "--set load_path=x": "--init-from RUN",
    "--set num_hidden=64": "'--set hiddenSizes=[64, 64]' sizes the layers",
    "--set batch_size=64": "numSteps steps of each of numEnvs environments",
    "--set n_epochs=4":
      "Unknown key 'n_epochs' in the command line: that is PPO's",
    "--set cg_damping=4": "that is TRPO's: it is not here",
    "--set hiddenSizes=64": "each an integer from 1 to 1000000, as in [64, 64]",
  };
  for (const [words, message] of Object.entries(cases)) {
    const { code, err } = await capture("train", ...words.split(" "));
    assertEquals(code, 2, words);
    assertStringIncludes(err, message);
  }
});

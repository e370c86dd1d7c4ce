import { assert, assertEquals, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import type { GymnasiumOptions, PythonWrapper } from "./python.ts";
import { PYTHON, test } from "./testdata/python.ts";

const FOLDER = fileURLToPath(new URL("testdata/own", import.meta.url));
const FILE = `${FOLDER}/own_env.py`;

function open(id: string, options: GymnasiumOptions = {}): GymnasiumEnv {
  return new GymnasiumEnv(id, { python: PYTHON, ...options });
}

/** What making an environment, or stepping in it, throws: one line. */
function refusal(options: GymnasiumOptions, id = "Own-v0"): string {
  const { message } = assertThrows(() => {
    const env = open(id, options);
    try {
      env.reset({ seed: 0 });
      env.step(0);
    } finally {
      env.close();
    }
  }, Error);
  assert(!message.includes("\n"), message);
  return message.replaceAll(`${FOLDER}/`, "");
}

const wrapping = (name: string, kwargs?: PythonWrapper["kwargs"]) =>
  refusal({ modules: [FILE], wrappers: [{ name, kwargs }] });

test("a file registers environments, and imports what lies beside it", () => {
  const env = open("Own-v0", { modules: [FILE] });
  assertEquals(env.spec.maxEpisodeSteps, 20);
  env.reset({ seed: 0 });
  assertEquals(env.step(1).observation, Float32Array.of(1, 1, 1));
  env.close();
});

test("errors of a file are told with its line", () => {
  const importing = (file: string) =>
    refusal({ modules: [`${FOLDER}/${file}`] });
  const cases: Record<string, string> = {
    "SyntaxError: invalid syntax (syntax.py:4)": "syntax.py",
    "NameError: name 'undefined_name' is not defined (raises.py:2)":
      "raises.py",
    "SystemExit: 3 (leaves.py:1)": "leaves.py",
    "ImportError: there is no such file": "none.py",
    "ImportError: another module of Python has the name 'colorsys': rename the file":
      "colorsys.py",
  };
  for (const [says, file] of Object.entries(cases)) {
    assertEquals(
      importing(file),
      `Cannot import the module '${file}' for 'Own-v0': ${says}`,
    );
  }
  const modules = [FILE];
  assertEquals(
    refusal({ modules, kwargs: { raises: "make" } }),
    "Cannot make 'Own-v0': ValueError: not made (own_env.py:18)",
  );
  assertEquals(
    refusal({ modules, kwargs: { raises: "step" } }),
    "Cannot step Own-v0: Python raised ValueError: not stepped (own_env.py:27)",
  );
});

test("a module that is not found is told with the nearest one, or its file", () => {
  const before = Deno.cwd();
  Deno.chdir(FOLDER);
  try {
    assertEquals(
      refusal({}, "own_env:Own-v0"),
      "Cannot import the module 'own_env' for 'own_env:Own-v0': Python does not look for it in the current folder; name its file: ./own_env.py",
    );
  } finally {
    Deno.chdir(before);
  }
  const near = refusal({ modules: ["gymnasiun"] });
  assert(near.includes("did you mean 'gymnasium'?"), near);
  const none = refusal({ modules: ["xq_zzzzzzz"] });
  assert(none.includes("there is no 'xq_zzzzzzz'; install its package with '"));
});

test("an unknown id says that a module may stand in front of it", () => {
  assertEquals(
    refusal({}, "CartPol-v1"),
    "Unknown environment 'CartPol-v1': did you mean 'CartPole-v1'?; a Python module that registers it goes in front: 'module:CartPol-v1' (gym:module:CartPol-v1 on the command line)",
  );
});

test("wrappers go around each environment, the innermost first", () => {
  const wrappers = [
    { name: `${FILE}:Repeated`, kwargs: { times: 3 } },
    // As files of rl-baselines3-zoo write it.
    { name: "gymnasium.wrappers.TimeAwareObservation" },
    { name: "own_env:tenfold" },
  ];
  const options = { python: PYTHON, modules: [FILE], wrappers };
  const env = new GymnasiumVecEnv("Own-v0", { ...options, numEnvs: 2 });
  env.reset({ seed: 0 });
  const { observations, rewards } = env.step(Int32Array.of(0, 1));
  const row = [...Array(9).fill(1), 1];
  assertEquals([...observations as Float64Array], [...row, ...row]);
  assertEquals([...rewards], [10, 10]);
  env.close();
});

test("a wrapper that there is not is told with the nearest name", () => {
  const cases: [string, string][] = [
    [
      "gymnasium.wrapers:FlattenObservation",
      "Cannot import 'gymnasium.wrapers' for the wrapper 'gymnasium.wrapers:FlattenObservation': there is no 'gymnasium.wrapers'; did you mean 'gymnasium.wrappers'?",
    ],
    [
      "gymnasium.wrappers:FlattenObservations",
      "Cannot wrap 'Own-v0' by 'gymnasium.wrappers:FlattenObservations': the module has none of that name; did you mean 'FlattenObservation'?",
    ],
    [
      "own_env:Own",
      "Cannot wrap 'Own-v0' by 'own_env:Own': it is no wrapper of an environment; expected one of Leaves, Repeated",
    ],
    [
      "own_env:nothing",
      "Cannot wrap 'Own-v0' by 'own_env:nothing': it returned an object of type 'NoneType': expected an environment",
    ],
    [
      "own_env:Leaves",
      "Cannot wrap 'Own-v0' by 'own_env:Leaves': SystemExit: 3 (own_env.py:58)",
    ],
    [
      "gymnasium",
      "Cannot wrap 'Own-v0' by 'gymnasium': expected a module and a class, such as gymnasium.wrappers:FlattenObservation",
    ],
  ];
  for (const [name, says] of cases) assertEquals(wrapping(name), says);
});

test("arguments of a wrapper that do not fit are told", () => {
  assertEquals(
    wrapping("own_env:Repeated", { time: 3 }),
    "Cannot wrap 'Own-v0' by 'own_env:Repeated': it has no argument 'time'; did you mean 'times'?",
  );
  assertEquals(
    wrapping("gymnasium.wrappers:RescaleAction", { min_action: 0 }),
    "Cannot wrap 'Own-v0' by 'gymnasium.wrappers:RescaleAction': missing a required argument: 'max_action'",
  );
});

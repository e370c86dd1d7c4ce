import { assert, assertEquals, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import { EnvDataError } from "../env_data_error.ts";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import { PYTHON, test } from "./testdata/python.ts";

const FILE = fileURLToPath(new URL("testdata/hostile_env.py", import.meta.url));

/** What an environment comes to in ten steps: the error, if there is one. */
function play(kwargs: Record<string, string>): string | undefined {
  try {
    const env = new GymnasiumEnv("Hostile-v0", {
      python: PYTHON,
      modules: [FILE],
      kwargs,
      stepTimeoutMs: 1_000,
    });
    try {
      env.reset({ seed: 0 });
      for (let t = 0; t < 10; t++) env.step(0);
    } finally {
      env.close();
    }
  } catch (error) {
    assert(error instanceof Error);
    const line = error.message;
    assert(!line.includes("\n") && line.length < 1_000, line);
    return line.replaceAll(FILE, "hostile_env.py");
  }
}

const raised = (what: string, line: number) =>
  `Python raised ${what} (hostile_env.py:${line})`;
const DATA = "Cannot use the data of gym:Hostile-v0, copy 0: ";
const SPACE =
  "change it in the environment, or by a wrapper of Python's in the option 'wrappers' (--set wrappers=[module:Class])";

const STEP = "Cannot step Hostile-v0: ";
const none = (what: string) =>
  `Cannot use the ${what} of 'Hostile-v0', as it is none of gymnasium.spaces: ${SPACE}`;
const SHAPE = `${DATA}an observation has the shape (3,): expected (2,)`;

/** What is said of an environment with these options. */
const CASES: Record<string, string | undefined> = {
  "do=raise": STEP + raised("ValueError: harm", 39),
  "do=raise at=reset": `Cannot reset Hostile-v0: ${
    raised("ValueError: harm", 39)
  }`,
  "do=raise at=make":
    "Cannot make 'Hostile-v0': ValueError: harm (hostile_env.py:39)",
  "do=raise_nothing": STEP + raised("ValueError:", 42),
  "do=raise_silent": STEP + raised("Silent: its message cannot be shown", 45),
  "do=raise_long": STEP + raised(`ValueError: ${"x".repeat(497)}...`, 48),
  "do=raise_base": STEP + raised("BaseException: harm", 51),
  "do=leave": STEP + raised("SystemExit: 0", 54),
  "do=leave at=make":
    "Cannot make 'Hostile-v0': SystemExit: 0 (hostile_env.py:54)",
  "do=exit": `${STEP}its process ended with code 0`,
  "do=sleep": `${STEP}it gave no answer within 1000 ms`,
  "do=print": undefined,
  "do=close": undefined,
  "do=shape": SHAPE,
  "do=shape at=reset": SHAPE,
  "do=dict": `${DATA}an observation has the shape (): expected (2,)`,
  "do=array": `${DATA}the reward is array([0., 0., 0.]): expected a number`,
  "sees=none": none("observation space None"),
  "acts=text": none("action space Box(2)"),
  "acts=number": none("action space 3.0"),
};

for (const [name, says] of Object.entries(CASES)) {
  const kwargs = Object.fromEntries(name.split(" ").map((it) => it.split("=")));
  test(
    `an environment with ${name} comes to ${
      says === undefined ? "no harm" : "one clear line"
    }`,
    () => assertEquals(play(kwargs), says),
  );
}

test("numbers that are not finite end a run of several in one clear line", () => {
  const cases = { nan: "the reward", dtype: "observation[1]" };
  for (const [does, field] of Object.entries(cases)) {
    const env = new GymnasiumVecEnv("Hostile-v0", {
      python: PYTHON,
      modules: [FILE],
      kwargs: { do: does },
      numEnvs: 2,
    });
    env.reset({ seed: 0 });
    assertThrows(
      () => env.step(new Int32Array(2)),
      EnvDataError,
      `Cannot use ${field} of gym:Hostile-v0, copy 0: it is ${
        does === "nan" ? "NaN" : "Infinity"
      }, expected a finite number`,
    );
    env.close();
  }
});

test("a process that ends while it makes an environment is told as that", () => {
  const { message } = assertThrows(() => {
    const said = play({ do: "exit", at: "make" });
    throw new Error(said);
  }, Error);
  assert(
    message.includes("it ended with code 0 before it answered, by its env"),
    message,
  );
});

import { assertEquals } from "@std/assert";
import type { RestartEvent } from "../workers/restarts.ts";
import {
  GymnasiumVecEnv,
  type GymnasiumVecEnvOptions,
} from "./gymnasium_vec_env.ts";
import { PYTHON, test } from "./testdata/python.ts";

const COUNTER = "odd_envs:odd/Counter-v1";

/** Uses an environment and closes it, whatever happens. */
function using(
  id: string,
  options: GymnasiumVecEnvOptions,
  use: (env: GymnasiumVecEnv) => void,
): void {
  const env = new GymnasiumVecEnv(id, {
    python: PYTHON,
    onRestart: () => {},
    ...options,
  });
  try {
    use(env);
  } finally {
    env.close();
  }
}

for (const processes of [1, 2]) {
  test(`hosts that hang in a step are cut off, of ${processes}`, () => {
    const events: RestartEvent[] = [];
    const options = {
      numEnvs: 2,
      processes,
      kwargs: { odd: "hang" },
      stepTimeoutMs: 500,
      onRestart: (event: RestartEvent) => events.push(event),
    };
    using(COUNTER, options, (env) => {
      env.reset({ seed: 0 });
      env.step(new Int32Array(2));
      env.step(new Int32Array(2));
      const { lost } = env.step(Int32Array.of(0, 1));
      assertEquals(lost, processes === 1 ? [0, 1] : [1]);
      assertEquals(events.map((it) => it.error.reason), ["timeout"]);
    });
  });
}

test("a restore may take as long as the steps before it", () => {
  const options = {
    numEnvs: 4,
    kwargs: { pause: 0.1 },
    stepTimeoutMs: 1_000,
    restarts: 0,
  };
  using(COUNTER, options, (env) => {
    env.reset({ seed: 0 });
    for (let t = 0; t < 4; t++) env.step(new Int32Array(4));
    env.load(env.save());
    assertEquals([...env.step(new Int32Array(4)).terminated], [1, 1, 1, 1]);
  });
});

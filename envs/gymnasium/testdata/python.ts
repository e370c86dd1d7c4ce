import { assert } from "@std/assert";
import { testsWith } from "../../../tests/testdata/tests_with.ts";
import {
  GymnasiumVecEnv,
  type GymnasiumVecEnvOptions,
} from "../gymnasium_vec_env.ts";
import { hasGymnasium } from "../python.ts";

const NEAR = new URL("../../../.venv/env-peers/bin/python", import.meta.url);

/** The Python of the tests: BELLMAN_PYTHON, or that of the benches. */
export const PYTHON: string = Deno.env.get("BELLMAN_PYTHON") || NEAR.pathname;

/** Whether the tests cannot be run: there is no Python with Gymnasium. */
export const NO_GYMNASIUM: boolean = !hasGymnasium({ python: PYTHON });

const add = testsWith("Gymnasium", !NO_GYMNASIUM);

/** Adds a test that needs this Python, which finds the environments of the tests. */
export function test(name: string, run: () => void | Promise<void>): void {
  add(name, () => {
    Deno.env.set("PYTHONPATH", new URL(".", import.meta.url).pathname);
    return run();
  });
}

if (NO_GYMNASIUM) {
  // deno-lint-ignore no-console -- says why tests are ignored
  console.warn(
    `The tests of the bridge are ignored: ${PYTHON} has no Gymnasium (see BELLMAN_PYTHON)`,
  );
}

/** Opens three copies of an environment in this Python. */
export function open(
  id: string,
  options: Partial<GymnasiumVecEnvOptions> = {},
): GymnasiumVecEnv {
  return new GymnasiumVecEnv(id, {
    numEnvs: 3,
    python: PYTHON,
    onRestart: () => {},
    ...options,
  });
}

/** Whether this Python can make an environment. */
export function canMake(id: string): boolean {
  const source = `import gymnasium; gymnasium.make("${id}").close()`;
  return !NO_GYMNASIUM &&
    new Deno.Command(PYTHON, { args: ["-c", source] }).outputSync().success;
}

/** Runs a program next to this file that checks a part of the host in Python. */
export function check(program: string): void {
  const { pathname } = new URL(program, import.meta.url);
  const { success, stderr } = new Deno.Command(PYTHON, { args: [pathname] })
    .outputSync();
  assert(success, new TextDecoder().decode(stderr));
}

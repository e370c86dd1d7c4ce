import type { RayVecEnvOptions } from "../ray_vec_env.ts";
import type { Script } from "./scripted_driver.ts";

const DRIVER = import.meta.resolve("./scripted_driver.ts");

let python: string | undefined;

/** Makes a program in the place of Python, which follows scripts. */
function scriptedPython(): string {
  if (python !== undefined) return python;
  const folder = Deno.makeTempDirSync({ prefix: "bellman-scripted-" });
  addEventListener(
    "unload",
    () => Deno.removeSync(folder, { recursive: true }),
  );
  python = `${folder}/python`;
  const command = `exec '${Deno.execPath()}' run -A -q --no-check '${DRIVER}'`;
  Deno.writeTextFileSync(python, `#!/bin/sh\n${command} "$@"\n`, {
    mode: 0o755,
  });
  return python;
}

/** Returns the options of environments whose driver follows a script. */
export function scripted(
  script: Script = {},
): Pick<RayVecEnvOptions, "cluster" | "python"> {
  return { cluster: JSON.stringify(script), python: scriptedPython() };
}

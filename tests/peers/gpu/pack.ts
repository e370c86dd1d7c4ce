// deno-lint-ignore-file no-console -- part of a program that prints
import { ROOT } from "../../tools/packages.ts";

/** Files and folders that the programs read, in the places where they look. */
const CARRIED = [
  "tests/reference",
  ...[
    "torch_graphs",
    ...["jax_whole_a2c", "torch_whole_a2c"],
    ...["jax_sac_update", "torch_sac_update"],
    ...["jax_nature_a2c", "torch_nature_a2c"],
    ...["jax_whole_ppo", "jax_ppo", "jax_dqn_update", "jax_td3_update"],
  ].map((it) => `tests/peers/${it}.py`),
];

/** ONNX Runtime stays at home: its version alone is asked for. */
const CONFIG = {
  imports: { "onnxruntime-node/package.json": "./onnxruntime.json" },
};

/** Starts the program with the Deno beside it, which needs no network. */
const START = `#!/bin/sh
cd "$(dirname "$0")"
exec env DENO_DIR="$PWD/.deno" ./deno run -q -A tests/peers/gpu/main.js "$@"
`;

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args,
    cwd: ROOT,
  }).output();
  if (success) return;
  const [line] = new TextDecoder().decode(stderr).trim().split("\n").slice(-1);
  throw new Error(`Cannot pack the bench: ${command} failed: ${line}`);
}

/** Makes the archive that a machine without Deno takes. */
export async function pack(file: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "bellman-pack-" });
  const top = `${folder}/bench_gpu`;
  try {
    await Deno.mkdir(`${top}/tests/peers/gpu`, { recursive: true });
    for (const path of CARRIED) {
      await run("cp", "-r", path, `${top}/${path}`);
    }
    await Deno.copyFile(Deno.execPath(), `${top}/deno`);
    await Deno.writeTextFile(`${top}/deno.json`, JSON.stringify(CONFIG));
    await Deno.writeTextFile(`${top}/onnxruntime.json`, '{"version": "none"}');
    await Deno.writeTextFile(`${top}/run`, START, { mode: 0o755 });
    await run(
      Deno.execPath(),
      ...["bundle", "-q", "--external", "onnxruntime-node", "--output"],
      `${top}/tests/peers/gpu/main.js`,
      "tests/peers/gpu/main.ts",
    );
    await run("tar", "-czf", `${folder}/packed`, "-C", folder, "bench_gpu");
    await Deno.copyFile(`${folder}/packed`, file);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const { size } = await Deno.stat(file);
  console.log(
    `wrote ${file}, ${
      Math.round(size / 1e6)
    } MB: on the other machine, tar -xzf it and ./bench_gpu/run`,
  );
}

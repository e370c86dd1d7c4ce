// deno-lint-ignore-file no-console -- a program that prints
/** A Python environment with peers. */
export type PeersName = keyof typeof STEPS;

/**
 * Packages that the peers need, one step of pip after the other: torch comes
 * first, as newer ones bring CUDA. Environments have a Python of their own, so
 * that a change of theirs does not touch the learners'.
 */
const STEPS = {
  "peers": [
    ["torch==2.13.0"],
    [
      "stable-baselines3==2.9.2",
      "gymnasium==1.4.0",
      "jax==0.10.2",
      "jaxlib==0.10.2",
      "optax==0.2.8",
      "onnxruntime==1.31.1",
      "numpy==2.4.6",
      "scipy==1.17.1",
      "sbx-rl==0.28.0",
      "flax==0.12.8",
      "tfp-nightly==0.26.0.dev20261027",
      "cpprb==11.0.0",
      "torchrl==0.14.1",
      "tensordict==0.14.3",
      "ale-py==0.12.1",
      "mujoco==4.0.0",
      "imageio==2.38.1",
      "opencv-python-headless==5.0.0.93",
    ],
  ],
  "env-peers": [[
    "gymnasium==1.4.0",
    "numpy==2.4.6",
    "ale-py==0.12.1",
    "mujoco==4.0.0",
    "mujoco-core==4.0.0",
    "Box2D==2.3.10",
    "pygame==2.6.1",
    "opencv-python-headless==5.0.0.93",
    "envpool==1.2.5",
  ]],
} as const;

async function run(command: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args })
    .output();
  if (success) return;
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  throw new Error(
    `Cannot set up the Python peers: ${command} ${args.join(" ")} failed: ${
      lines[lines.length - 1]
    }`,
  );
}

/** Reads a file; null when there is none. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/**
 * A Python with some peers in a virtual environment under `.venv`, made when it
 * is not there and brought up to date when the list above has changed.
 */
export async function peersPython(
  root: string,
  name: PeersName = "peers",
): Promise<string> {
  const folder = `${root}.venv/${name}`, steps = STEPS[name];
  const python = `${folder}/bin/python`;
  const ready = `${folder}/.ready`;
  const wanted = `${steps.flat().join("\n")}\n`;
  if (await textOf(ready) === wanted) return python;
  console.error(`setting up the Python peers in ${folder}`);
  await run("python3", ["-m", "venv", folder]);
  for (const packages of steps) {
    await run(python, ["-m", "pip", "install", "-q", ...packages]);
  }
  await Deno.writeTextFile(ready, wanted);
  return python;
}

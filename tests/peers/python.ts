// deno-lint-ignore-file no-console -- a program that prints
/** A Python environment with peers. */
export type PeersName = keyof typeof STEPS;

/** Version of Python that an environment needs; others take any. */
const PYTHONS: Partial<Record<PeersName, string>> = { "tensorflow": "3.11" };

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
      "sb3-contrib==2.9.2",
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
      "pettingzoo==1.27.0",
      "pygame==2.6.1",
      "h5py==3.16.0",
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
    "pettingzoo==1.27.0",
    "opencv-python-headless==5.0.0.93",
    "envpool==1.2.5",
  ]],
  "statistics": [[
    "rliable==1.2.0",
    "arch==7.2.0",
    "numpy==2.4.6",
    "scipy==1.17.1",
    // arch 7 cannot be imported with newer ones.
    "pandas<3",
  ]],
  "bandits": [[
    "mabwiser==2.7.4",
    "vowpalwabbit==9.11.9",
    "scikit-learn==1.9.1",
    "numpy==2.4.6",
  ]],
  "tensorflow": [
    ["tensorflow-cpu==2.15.1", "numpy==1.26.4"],
    // One file of it is used, which needs none of the rest.
    ["--no-deps", "baselines==0.1.5"],
  ],
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

/** Finds a Python of some version; undefined where there is none. */
async function findPython(version: string): Promise<string | undefined> {
  const print = "import sys; print('%d.%d' % sys.version_info[:2])";
  for (const command of [`python${version}`, "python3"]) {
    try {
      const { stdout } = await new Deno.Command(command, {
        args: ["-c", print],
      }).output();
      if (new TextDecoder().decode(stdout).trim() === version) return command;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/**
 * Finds or makes a Python with some peers in a virtual environment under `.venv`,
 * brought up to date when the list above has changed.
 *
 * @returns Its path; undefined where the version of Python that the peers need is
 * missing or has no such packages, after a line that says what to install.
 */
export async function peersPython(
  root: string,
  name: PeersName = "peers",
): Promise<string | undefined> {
  const folder = `${root}.venv/${name}`, steps = STEPS[name];
  const python = `${folder}/bin/python`;
  const ready = `${folder}/.ready`;
  const wanted = `${steps.flat().join("\n")}\n`;
  if (await textOf(ready) === wanted) return python;
  const version = PYTHONS[name];
  const base = version === undefined ? "python3" : await findPython(version);
  const skip = (reason: string) =>
    console.error(
      `  without its peers: ${reason}; install Python ${version} as python${version} (uv python install ${version}, or pyenv), and ${
        steps.flat()[0]
      } comes from PyPI`,
    );
  if (base === undefined) {
    skip(`no Python ${version} here`);
    return undefined;
  }
  console.error(`setting up the Python peers in ${folder}`);
  try {
    await run(base, ["-m", "venv", folder]);
    for (const packages of steps) {
      await run(python, ["-m", "pip", "install", "-q", ...packages]);
    }
  } catch (error) {
    if (version === undefined) throw error;
    skip((error as Error).message);
    return undefined;
  }
  await Deno.writeTextFile(ready, wanted);
  return python;
}

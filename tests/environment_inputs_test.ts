/**
 * What can be wrong with environments from outside: each gives one clear line
 * and exit code 2, and no run folder is made.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { isAtariInstalled } from "@bellman/envs/atari";
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { isMujocoInstalled } from "@bellman/envs/mujoco";
import { runCommand, runProcess } from "./runs.ts";

// Marks of URLs in its name are part of the path.
const folder = await Deno.makeTempDir({ prefix: "bellman-environments-#1-" });
await Deno.mkdir(`${folder}/roms`);
await Deno.writeFile(`${folder}/roms/pong.bin`, new Uint8Array(2048));
await Deno.mkdir(`${folder}/models`);
await Deno.writeTextFile(`${folder}/models/half_cheetah.xml`, "<mujoco><wrold");
await Deno.writeTextFile(`${folder}/breaks.ts`, "throw new Error('no luck');");

interface Case {
  train: string[];
  env?: Record<string, string>;
  says: string;
  /** Optional part that it takes. */
  needs?: keyof typeof INSTALLED;
}

const INSTALLED = {
  ALE: isAtariInstalled(),
  MuJoCo: isMujocoInstalled(),
  Gymnasium: hasGymnasium(),
};
const PONG = ["--env=ALE/Pong-v5"];
const CHEETAH = ["sac", "--env=HalfCheetah-v5"];

const CASES: Record<string, Case> = {
  "an unknown game": {
    train: ["--env=ALE/Pnog-v5"],
    says: "did you mean 'ALE/Pong-v5'?",
  },
  "an environment that is like none": {
    train: ["--env=LunarLander-v3"],
    says: "did you mean 'gym:LunarLander-v3', of Python's Gymnasium?",
  },
  "an environment of Gymnasium without a name": {
    train: ["--env=gym:"],
    says: "such as gym:LunarLander-v3",
  },
  "more transitions than fit into memory": {
    train: ["sac", "--env=Pendulum-v1", "--set=bufferSize=1e15"],
    says:
      "Cannot hold 1000000000000000 transitions: lower bufferSize or make observations smaller",
  },
  "a library of Atari that is not there": {
    train: PONG,
    env: { BELLMAN_ALE_LIBRARY: "/none/libale_c.so" },
    says: "install-atari",
  },
  "a folder without the ROM": {
    train: PONG,
    env: { BELLMAN_ROMS: "/none" },
    says: "BELLMAN_ROMS",
    needs: "ALE",
  },
  "a ROM that is another file": {
    train: PONG,
    env: { BELLMAN_ROMS: `${folder}/roms` },
    says: "pong",
    needs: "ALE",
  },
  "an option that Atari does not have": {
    train: [...PONG, "--set=envKwargs={frameskp: 3}"],
    says: "did you mean 'frameskip'?",
    needs: "ALE",
  },
  "an unknown preprocessing": {
    train: [...PONG, "--set=envKwargs={preprocessing: baseline}"],
    says: "did you mean 'baselines'?",
    needs: "ALE",
  },
  "an environment on MuJoCo with a typo": {
    train: ["sac", "--env=HalfChetah-v5"],
    says: "did you mean 'HalfCheetah-v5'?",
  },
  "a library of MuJoCo that is not there": {
    train: CHEETAH,
    env: { BELLMAN_MUJOCO_LIBRARY: "/none/libmujoco.so" },
    says: "/none/libmujoco.so",
  },
  "a model that does not parse": {
    train: CHEETAH,
    env: { BELLMAN_MUJOCO_MODELS: `${folder}/models` },
    says: "half_cheetah.xml",
    needs: "MuJoCo",
  },
  "an option that HalfCheetah does not have": {
    train: [...CHEETAH, "--set=envKwargs={ctrlCostWieght: 1}"],
    says: "did you mean 'ctrlCostWeight'?",
    needs: "MuJoCo",
  },
  "evaluation with a model that is not there": {
    train: [...CHEETAH, "--set=evaluationEnvKwargs={xmlFile: nope.xml}"],
    says: "nope.xml",
    needs: "MuJoCo",
  },
  "evaluation with other observations than training": {
    train: [
      ...CHEETAH,
      "--set=evaluationEnvKwargs={excludeCurrentPositionsFromObservation: false}",
    ],
    says:
      "Cannot evaluate with these evaluationEnvKwargs: the observationSpace",
    needs: "MuJoCo",
  },
  "evaluation in a mode that the game does not have": {
    train: [...PONG, "--set=evaluationEnvKwargs={mode: 99}"],
    says: "99",
    needs: "ALE",
  },
  "no Python": {
    train: ["--env=gym:CartPole-v1"],
    env: { BELLMAN_PYTHON: "/none/python" },
    says: "/none/python",
  },
  "an environment that Gymnasium does not have": {
    train: ["--env=gym:CartPol-v1"],
    says: "CartPole",
    needs: "Gymnasium",
  },
  "a Python module that is not there": {
    train: ["--env=gym:CartPole-v1", "--set=envModules=[none_such]"],
    says: "none_such",
    needs: "Gymnasium",
  },
  "workers for what Python hosts": {
    train: ["--env=gym:CartPole-v1", "--set=vectorization=workers"],
    says: "expected sync",
  },
  "workers where copies step one after the other": {
    train: ["--set=workers=3"],
    says: "Cannot use workers: 3 with vectorization: sync",
  },
  "an own module that is not there": {
    train: ["--set=envModules=[./none.ts]"],
    says: "Cannot import ./none.ts, which envModules names",
  },
  "an own module that fails": {
    train: [`--set=envModules=['${folder}/breaks.ts']`],
    says: "no luck",
  },
};

for (const [name, { train, env, says, needs }] of Object.entries(CASES)) {
  Deno.test({
    name: `one clear line: ${name}${needs ? ` [${needs}]` : ""}`,
    ignore: needs !== undefined && !INSTALLED[needs],
    fn: async () => {
      const args = ["train", ...train, "--steps=100", `--out=${folder}/run`];
      const { code, out, err } = await (env === undefined
        ? runCommand(args)
        : runProcess(args, { env }));
      assertStringIncludes(err, says);
      assertEquals(err.trimEnd().split("\n").length, 1, err);
      assertEquals(err.startsWith("error: "), true, err);
      assertEquals(code, 2, err);
      assertEquals(out, "");
      const found = [...Deno.readDirSync(folder)].map((it) =>
        it.name
      );
      assertEquals(found.includes("run"), false);
    },
  });
}

globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

/**
 * A run that is killed and resumed is the run that was never killed: the same
 * parameters, optimizer, random streams, episodes and logged statistics, bit for
 * bit. Real processes are killed by SIGKILL at random moments.
 */
import { isAtariInstalled } from "@bellman/envs/atari";
import { isMujocoInstalled } from "@bellman/envs/mujoco";
import { assert, assertEquals } from "@std/assert";
import { remainsOf, trainProcess } from "../runs.ts";

/** Kills in each variant. */
const KILLS = 3;

const VARIANTS: Record<string, string[]> = {
  "a plain network": ["--env", "CartPole-v1", "--steps", "40000"],
  "a recurrent network and scaled observations": [
    "--env=CartPole-v1",
    "--steps=12000",
    "--set=network=lstm",
    "--set=lstmSize=16",
    "--set=normalizeObservation=true",
  ],
  "state-dependent exploration and scaled rewards": [
    "--env=Pendulum-v1",
    "--steps=20000",
    "--set=useSde=true",
    "--set=normalizeReward=true",
  ],
  "two optimizers and other copies of the environment, eagerly": [
    "--env=MountainCarContinuous-v0",
    "--steps=6000",
    "--backend=wasm",
    "--set=objective=separate",
    "--set=valueNetwork=separate",
    "--set=numEnvs=3",
  ],
  "SAC with prioritized transitions that have gone round": [
    "sac",
    "--env=Pendulum-v1",
    "--steps=2500",
    "--set=hiddenSizes=[16, 16]",
    "--set=batchSize=16",
    "--set=bufferSize=700",
    "--set=replay=proportional",
    "--set=nSteps=3",
    "--set=frameStack=2",
    "--set=normalizeObservation=true",
    "--set=normalizeReward=true",
  ],
  "SAC with value critics, a mixture and two copies": [
    "sac",
    "--env=Pendulum-v1",
    "--steps=2400",
    "--set=numEnvs=2",
    "--set=critics=value",
    "--set=policy=mixture",
    "--set=hiddenSizes=[16, 16]",
    "--set=batchSize=16",
    "--set=bufferSize=2000",
    "--set=trainFrequency=4",
    "--set=gradientSteps=-1",
  ],
  "an Atari game in workers": [
    "--env=ALE/Breakout-v5",
    "--steps=2400",
    "--set=numEnvs=4",
    "--set=workers=2",
    "--set=network=cnn_small",
    "--set=evaluationEnvKwargs={maxNumFramesPerEpisode: 200}",
  ],
  "SAC on MuJoCo": [
    "sac",
    "--env=Hopper-v5",
    "--steps=2000",
    "--set=hiddenSizes=[16, 16]",
    "--set=batchSize=16",
    "--set=learningStarts=100",
  ],
};

/** Variants that need something that may not be installed. */
const NEEDS: Readonly<Record<string, [part: string, isThere: boolean]>> = {
  "an Atari game in workers": ["ALE", isAtariInstalled()],
  "SAC on MuJoCo": ["MuJoCo", isMujocoInstalled()],
};

const SHARED = [
  "--set=checkpointInterval=300",
  "--set=evaluationInterval=1500",
  "--set=evaluationEpisodes=2",
  "--set=logInterval=10",
  "--quiet",
];

async function finish(args: string[]): Promise<number> {
  const started = performance.now();
  const { code, stderr } = await trainProcess(args).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return performance.now() - started;
}

/** Starts a run and kills it at a random moment after its first checkpoint. */
async function killOnce(
  args: string[],
  dir: string,
  span: number,
): Promise<void> {
  const child = trainProcess(args).spawn();
  const output = Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
  const hasCheckpoint = (): boolean => {
    try {
      return [...Deno.readDirSync(`${dir}/checkpoints`)]
        .some(({ name }) => name.endsWith(".safetensors"));
    } catch {
      return false;
    }
  };
  const deadline = performance.now() + 60_000;
  while (!hasCheckpoint() && performance.now() < deadline) {
    await new Promise((done) => setTimeout(done, 10));
  }
  assert(hasCheckpoint(), "the run never wrote a checkpoint");
  await new Promise((done) => setTimeout(done, Math.random() * span));
  try {
    child.kill("SIGKILL");
  } catch {
    // It was quicker than the kill.
  }
  await child.status;
  await output;
}

for (const [name, variant] of Object.entries(VARIANTS)) {
  const [part, isThere] = NEEDS[name] ?? ["", true];
  Deno.test(
    `killed and resumed, ${name}: the same run${part && ` [${part}]`}`,
    { ignore: !isThere },
    async () => {
      const root = await Deno.makeTempDir({ prefix: "bellman-resume-" });
      const args = [...variant, ...SHARED];
      const whole = `${root}/whole`;
      const span = await finish([...args, "--out", whole]);
      const expected = remainsOf(whole);
      assert(expected.episodes.split("\n").length > 2);
      for (let i = 0; i < KILLS; i++) {
        const dir = `${root}/killed-${i}`;
        await killOnce([...args, "--out", dir], dir, 0.6 * span);
        if (!Deno.readDirSync(dir).some(({ name }) => name === "report.html")) {
          await finish(["--resume", dir, "--quiet"]);
        }
        assertEquals(remainsOf(dir), expected);
      }
      await Deno.remove(root, { recursive: true });
    },
  );
}

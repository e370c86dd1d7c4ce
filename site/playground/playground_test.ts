/** The page in a real browser: it trains, saves, loads and plays. */
import { exportOnnx, selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { loadStateSync } from "@bellman/files";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { gzipSync } from "node:zlib";
import ort from "onnxruntime-node";
import { runDeno } from "../../tests/testdata/run_deno.ts";
import { chromiumTest } from "../../tests/testdata/run_page.ts";
import { runCommand, stateOf } from "../../tests/runs.ts";
import { buildPlayground } from "./build.ts";
import { resolveTask } from "./settings.ts";
import { Training } from "./training.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-playground-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);
const site = `${dir}/site`;
let built: Promise<void> | undefined;

/** What happened in the page. */
interface Driven<Value> {
  value: Value;
  complaints: string[];
  requested: string[];
}

/** Uses the page as a scenario of `testdata/drive.ts` says, in a browser. */
async function drive<Value>(
  ...scenario: string[]
): Promise<Driven<Value>> {
  await (built ??= buildPlayground(site));
  const program = new URL("testdata/drive.ts", import.meta.url).pathname;
  const { code, out, err } = await runDeno(["-A", program, site, ...scenario]);
  assertEquals(code, 0, err);
  return JSON.parse(out);
}

/** Makes a folder for what a test saves. */
async function folderFor(name: string): Promise<string> {
  const folder = `${dir}/${name}`;
  await Deno.mkdir(folder, { recursive: true });
  return folder;
}

for (const seed of ["0", "1", "2"]) {
  chromiumTest(
    `CartPole is learned in 20,000 steps, saved, opened and played: seed ${seed}`,
    async () => {
      const { value, complaints } = await drive<
        { opened: string; meanReturn: number }
      >("learn", await folderFor(`learn ${seed}`), seed);
      assertEquals(value.opened, "Opened · a2c · CartPole-v1 · Bellman 0.1.0");
      assertGreaterOrEqual(value.meanReturn, 195);
      assertEquals(complaints, []);
    },
  );
}

/** Settings of short runs of both algorithms. */
const RUNS = {
  a2c: { env: "Acrobot-v1", seed: "3", totalTimesteps: "6000" },
  sac: { env: "Pendulum-v1", seed: "4", totalTimesteps: "400" },
};
const FURTHER = { a2c: {}, sac: { learningStarts: 200, batchSize: 32 } };

for (const [name, fields] of Object.entries(RUNS)) {
  const algorithm = name as keyof typeof RUNS;
  chromiumTest(
    `what the page saves after a pause are the bytes of Deno: ${name}`,
    async () => {
      const folder = await folderFor(name);
      const further = FURTHER[algorithm];
      const yaml = JSON.stringify(further);
      const { value, complaints } = await drive<Record<string, string>>(
        "save",
        folder,
        JSON.stringify({ ...fields, further: yaml }),
      );
      assertEquals(complaints, []);
      assertEquals(value.later, value.paused);
      assertEquals(value.state, "Paused");
      assert(!value.paused.startsWith(`${fields.totalTimesteps} `));

      await selectBackend("wasm");
      const { env, seed, totalTimesteps } = fields;
      const given = { seed: +seed, totalTimesteps: +totalTimesteps };
      const training = new Training(resolveTask(env, given, yaml));
      await training.run({ signal: new AbortController().signal });
      const [policy, checkpoint] = await Promise.all(
        [value.policy, value.checkpoint].map((it) => Deno.readFile(it)),
      );
      assertEquals(policy, training.policyFile());
      assertEquals(checkpoint, await training.checkpointFile());

      // And those of the command line, but for what the page does not do.
      const run = `${folder}/run`;
      const set = Object.entries(further).map(([key, it]) =>
        `--set=${key}=${it}`
      );
      const trained = await runCommand([
        ...["train", name, `--env=${env}`, `--seed=${seed}`, "--quiet"],
        ...[`--steps=${totalTimesteps}`, `--out=${run}`, "--backend=wasm"],
        ...["--set=evaluationInterval=0", ...set],
      ]);
      assertEquals(trained.code, 0, trained.err);
      const out = `${folder}/exported.onnx`;
      const exported = await runCommand(["export", run, `--out=${out}`]);
      assertEquals(exported.code, 0, exported.err);
      assertEquals(policy, await Deno.readFile(out));
      type State = Record<string, Record<string, unknown>>;
      const own = loadStateSync(value.checkpoint).state as State;
      const theirs = stateOf(run, "latest") as State;
      assertEquals(own.algorithm, theirs.algorithm);
      assertEquals(own.env, theirs.env);
    },
  );
}

/** Writes a policy that Deno trained a little. */
async function policyOf(env: string): Promise<string> {
  await selectBackend("wasm");
  const training = new Training(resolveTask(env, { totalTimesteps: 2000 }));
  await training.run({ signal: new AbortController().signal });
  const path = `${dir}/${env}.onnx`;
  await Deno.writeFile(path, training.policyFile());
  return path;
}

chromiumTest(
  "1,000 actions of an opened policy are those of ONNX Runtime in Deno",
  async () => {
    const policy = await policyOf("CartPole-v1");
    const { value, complaints } = await drive<number[]>(
      ...["act", policy, "CartPole-v1", "1000"],
    );
    assertEquals(complaints, []);
    const session = await ort.InferenceSession.create(policy);
    const env = makeVec("CartPole-v1", { numEnvs: 1 });
    let observations = env.reset({ seed: 7 }) as Float32Array;
    const actions: number[] = [];
    while (actions.length < 1000) {
      const observation = new ort.Tensor("float32", observations.slice(), [
        1,
        4,
      ]);
      const { action } = await session.run({ observation });
      actions.push(Number(action.data[0]));
      observations = env.step(Int32Array.of(actions.at(-1)!))
        .observations as Float32Array;
    }
    assertEquals(value, actions);
  },
);

chromiumTest("wrong settings get the command line's lines", async () => {
  const cases: [Record<string, string>, string][] = [
    [
      { seed: "-1" },
      "Cannot use seed = -1 of the page: expected an integer from 0 to",
    ],
    [
      { gamma: "2" },
      "Cannot use gamma = 2 of the page: expected a number from 0 to 1",
    ],
    [
      { further: "numStep: 3" },
      "Unknown key 'numStep' in the page: did you mean 'numSteps'?",
    ],
    [
      { further: "optimizer: adm" },
      'Cannot use optimizer = "adm" of the page: expected',
    ],
    [
      { further: "lr: 0.1" },
      "Cannot use both 'learningRate' and 'lr' in the page: they are the same key, give one",
    ],
    [
      { further: "- 1" },
      "Cannot read the further settings: expected a mapping of keys to values, such as 'numEnvs: 8'",
    ],
  ];
  const { value, complaints } = await drive<string[]>(
    "settings",
    JSON.stringify(cases.map(([fields]) => fields)),
  );
  assertEquals(
    value.map((it, i) => it.slice(0, cases[i][1].length)),
    cases.map(([, it]) => it),
  );
  assertEquals(complaints, []);
});

chromiumTest(
  "files that are no policies get a line, and load nothing before",
  async () => {
    const other = `${dir}/other.onnx`;
    await Deno.writeFile(
      other,
      exportOnnx(({ x }: Record<string, unknown>) => ({ y: x }) as never, {
        inputs: { x: { shape: [1, 2], dtype: "float32" } },
      }),
    );
    const { value, complaints } = await drive<
      { before: string[]; said: Record<string, string> }
    >("files", await policyOf("CartPole-v1"), other);
    assertEquals(value.before, []);
    const { damaged, ...said } = value.said;
    assertEquals(said, {
      "no ONNX": "Cannot open a.png: it is no ONNX file",
      "empty": "Cannot open empty.onnx: it is no ONNX file",
      "cut off": "Cannot open cut.onnx: it is damaged or cut off",
      "other inputs":
        "Cannot open other.onnx: its inputs are x and its outputs y, expected a policy's, from observation to action",
      "policy": "Opened · a2c · CartPole-v1 · Bellman 0.1.0",
      "300 MB":
        "Cannot open large.onnx: it has 300 MiB, expected a policy of at most 64 MiB",
      "other environment":
        "Cannot play this policy in Pendulum-v1: its actions are discrete(2), expected box",
    });
    assert(damaged.startsWith("Cannot open damaged.onnx: "), damaged);
    assertEquals(complaints, []);
  },
);

chromiumTest(
  "the page is used by keyboard, on 360 pixels, in the dark, without motion",
  async () => {
    const { value, complaints } = await drive<Record<string, unknown>>(
      "keyboard",
    );
    assertEquals(value, {
      focused: [
        ...[
          "env",
          "seed",
          "learningRate",
          "gamma",
          "totalTimesteps",
          "further",
        ],
        ...["start", "pause"],
      ],
      unlabelled: [],
      wide: 0,
      background: "rgb(255, 154, 154)",
    });
    assertEquals(complaints, []);
  },
);

chromiumTest("the first load is small, and has no inline script", async () => {
  await (built ??= buildPlayground(site));
  const packed = (name: string) =>
    gzipSync(Deno.readFileSync(`${site}/${name}`), { level: 9 }).length;
  const script = packed("page.js") + packed("trainer.js");
  assert(script <= 450_000, `${script} bytes of script`);
  const binary = packed("tfjs-backend-wasm-simd.wasm");
  assert(binary <= 150_000, `${binary} bytes of WebAssembly`);
  const html = Deno.readTextFileSync(`${site}/index.html`);
  assertEquals(html.match(/<script(?![^>]* src=)|\son\w+=|\sstyle=/g), null);
});

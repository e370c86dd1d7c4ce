/** The page in a real browser: it trains, saves, loads and plays. */
import { A2C } from "@bellman/a2c";
import { exportOnnx, selectBackend } from "@bellman/compute";
import { makeVec, SeededRandom } from "@bellman/envs";
import { loadStateSync } from "@bellman/files";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { gzipSync } from "node:zlib";
import ort from "onnxruntime-node";
import { runDeno } from "../../tests/testdata/run_deno.ts";
import { LOCK } from "../../tests/tools/packages.ts";
import { chromiumTest } from "../../tests/testdata/run_page.ts";
import { buildPlayground } from "./build.ts";
import { withRun } from "./testdata/with_run.ts";

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
  const { code, out, err } = await runDeno([
    LOCK,
    "-A",
    program,
    site,
    ...scenario,
  ]);
  assertEquals(code, 0, err);
  return JSON.parse(out);
}

/** Makes a folder for what a test saves. */
async function folderFor(name: string): Promise<string> {
  const folder = `${dir}/${name}`;
  await Deno.mkdir(folder, { recursive: true });
  return folder;
}

/** What a run in the page came to. */
interface Learned {
  said: string;
  best: number;
  drawn: number;
  loaded: boolean;
  opened: string;
  meanReturn: number;
}

for (const [algorithm, seed] of [["ppo", "0"], ["a2c", "1"]]) {
  chromiumTest(
    `CartPole is learned by ${algorithm}, watched, saved, opened and played`,
    async () => {
      const { value, complaints } = await drive<Learned>(
        ...["learn", await folderFor(`learn ${algorithm}`), seed, algorithm],
      );
      assert(value.said.startsWith("Goal reached after "), value.said);
      assertGreaterOrEqual(value.best, 475);
      // It plays without the runtime of files, which is loaded for one.
      assertGreaterOrEqual(value.drawn, 4);
      assertEquals(value.loaded, false);
      assertEquals(
        value.opened,
        `Opened · ${algorithm} · CartPole-v1 · Bellman 0.1.0`,
      );
      assertGreaterOrEqual(value.meanReturn, 400);
      assertEquals(complaints, []);
    },
  );
}

chromiumTest(
  "a run goes on beyond its goal and its end, and over",
  async () => {
    const fields = { totalTimesteps: "9000", seed: "4" };
    const { value, complaints } = await drive<
      { ends: string[]; after: string }
    >("trainOn", JSON.stringify(fields));
    const [reached, ...ends] = value.ends;
    assert(/^[1-8],\d{3} of 9,000$/.test(reached), reached);
    assertEquals(ends, ["9,000 of 9,000", "18,000 of 18,000"]);
    assertEquals(value.after, "Train");
    assertEquals(complaints, []);
  },
);

chromiumTest(
  "a pause ends the work and changes nothing that is saved; Deno saves the same but for last bits",
  async () => {
    const fields = { seed: "3", totalTimesteps: "4000" };
    const folders = [await folderFor("paused"), await folderFor("unpaused")];
    type Saved =
      & { paused?: string; later?: string; state?: string }
      & Record<
        "policy" | "checkpoint",
        string
      >;
    const saved: Saved[] = [];
    for (const [i, folder] of folders.entries()) {
      const name = i === 0 ? "save" : "saveUnpaused";
      const { value, complaints } = await drive<Saved>(
        ...[name, folder, JSON.stringify({ ...fields, algorithm: "a2c" })],
      );
      assertEquals(complaints, []);
      saved.push(value);
    }
    const [{ paused, later, state }] = saved;
    assertEquals(later, paused);
    assertEquals(state, "Paused.");
    assert(!paused!.startsWith("4,000 "), paused);
    const files = saved.map(({ policy, checkpoint }) =>
      [policy, checkpoint].map((it) => Deno.readFileSync(it))
    );
    assertEquals(files[0], files[1]);

    await withRun(
      { env: "CartPole-v1", algorithm: "a2c", settings: { seed: 3 } },
      4000,
      async (training) => {
        const own = `${dir}/own.safetensors`;
        const { bytes } = await training.checkpoint();
        await Deno.writeFile(own, bytes);
        const policy = await training.policy();
        assertEquals(policy.length, files[0][0].length);
        // Sines, cosines, exponentials and logarithms are of another library there.
        assertAlmostEqual(
          loadStateSync(saved[0].checkpoint).state,
          loadStateSync(own).state,
        );
      },
    );
  },
);

/** Compares states, whose numbers may differ in their last bits. */
function assertAlmostEqual(actual: unknown, expected: unknown): void {
  if (typeof actual === "number" && typeof expected === "number") {
    const isNear = Math.abs(actual - expected) <=
      1e-4 * Math.max(1, Math.abs(expected));
    assert(isNear || Object.is(actual, expected), `${actual} ≠ ${expected}`);
  } else if (typeof actual === "object" && actual !== null) {
    assertEquals(Object.keys(actual), Object.keys(expected as object));
    for (const [key, value] of Object.entries(actual)) {
      assertAlmostEqual(value, (expected as Record<string, unknown>)[key]);
    }
  } else assertEquals(actual, expected);
}

/** Writes a policy that Deno trained a little. */
async function policyOf(env: string): Promise<string> {
  const path = `${dir}/${env}.onnx`;
  await withRun({ env, algorithm: "a2c" }, 2000, async (training) => {
    await Deno.writeFile(path, await training.policy());
  });
  return path;
}

/** Plays a policy in CartPole-v1 by ONNX Runtime in Deno; returns its actions. */
async function actionsInDeno(policy: string): Promise<number[]> {
  const session = await ort.InferenceSession.create(policy);
  const env = makeVec("CartPole-v1", { numEnvs: 1 });
  const random = new SeededRandom(7), actions: number[] = [];
  const tensor = (data: Float32Array) =>
    new ort.Tensor("float32", data, [1, data.length]);
  let observations = env.reset({ seed: 7 }) as Float32Array;
  const sizes = Object.fromEntries(
    session.inputMetadata.map((
      it,
    ) => [it.name, it.isTensor ? Number(it.shape[1]) : 0]),
  );
  let start = 1, state = tensor(new Float32Array(sizes.state ?? 0));
  while (actions.length < 1000) {
    const noise = Float32Array.from(
      { length: sizes.noise ?? 0 },
      () => random.uniform(),
    );
    const feeds: Record<string, ort.Tensor> = {
      observation: tensor(observations.slice()),
      noise: tensor(noise),
      state,
      start: new ort.Tensor("float32", [start], [1]),
      action_masks: new ort.Tensor("uint8", Uint8Array.of(1, 1), [1, 2]),
    };
    const { action, next_state } = await session.run(
      Object.fromEntries(session.inputNames.map((it) => [it, feeds[it]])),
    );
    if (next_state !== undefined) state = next_state as typeof state;
    actions.push(Number(action.data[0]));
    const step = env.step(Int32Array.of(actions.at(-1)!));
    observations = step.observations as Float32Array;
    start = step.terminated[0] | step.truncated[0];
  }
  return actions;
}

/** Writes the policy of an agent that has learned nothing in CartPole-v1. */
async function untrained(
  name: string,
  { network, masked }: { network: "mlp" | "lstm"; masked: boolean },
): Promise<string> {
  await selectBackend("wasm");
  const env = makeVec("CartPole-v1", { numEnvs: 1 });
  const { numEnvs, observationSpace, actionSpace } = env;
  const actionMasks = masked ? Uint8Array.of(1, 1) : undefined;
  const agent = new A2C(
    { numEnvs, observationSpace, actionSpace, actionMasks },
    { config: { network, lstmSize: 8 }, engine: "eager" },
  );
  const path = `${dir}/${name}.onnx`;
  const file = agent.exportPolicy({ deterministic: masked });
  await Deno.writeFile(path, file);
  return path;
}

const POLICIES = {
  "of the page": () => policyOf("CartPole-v1"),
  "with memory that samples": (name: string) =>
    untrained(name, { network: "lstm", masked: false }),
  "with action masks": (name: string) =>
    untrained(name, { network: "mlp", masked: true }),
};

for (const [name, policy] of Object.entries(POLICIES)) {
  chromiumTest(
    `1,000 actions of a policy ${name} are those of ONNX Runtime in Deno`,
    async () => {
      const path = await policy(name);
      const { value, complaints } = await drive<number[]>(
        ...["act", path, "CartPole-v1", "1000"],
      );
      assertEquals(complaints, []);
      const actions = await actionsInDeno(path);
      assertEquals(new Set(actions), new Set([0, 1]));
      assertEquals(value, actions);
    },
  );
}

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
      { algorithm: "a2c", further: "optimizer: adm" },
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
        "Cannot play this policy in Pendulum-v1: its actions are a whole number from 0 to 1, expected float32 numbers of shape [1] from -2 to 2",
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
        ...["env", "algorithm", "run-pace", "start", ""],
        ...["seed", "learningRate", "gamma", "totalTimesteps", "further"],
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

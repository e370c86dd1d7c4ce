import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
import process from "node:process";
import { assert, assertEquals } from "@std/assert";
import { invertFactors } from "./inverses.ts";
import { Kfac, type KfacArrays } from "./kfac.ts";
import type { KfacOptions } from "./options.ts";
import { kfacSchedule } from "./schedule.ts";
import * as tf from "@tensorflow/tfjs";

await selectBackend("cpu");

const LAYERS = [{ kernel: "u" }, { kernel: "v" }];
const UPDATES = 12;

const SCHEDULE = { invertEvery: 4, coldUpdates: 1 };

function kfacOf(options: KfacOptions): Kfac {
  return new Kfac(LAYERS, { ...SCHEDULE, ...options });
}

/** Makes a positive definite matrix that is of an update and a seed alone. */
function factorAt(update: number, size: number): Float32Array {
  const root = new RandomStream(update).fillNormal(
    new Float32Array(size * size),
  );
  return root.map((_, at) => {
    const i = Math.floor(at / size), j = at % size;
    let sum = i === j ? 1 : 0;
    for (let k = 0; k < size; k++) {
      sum += root[i * size + k] * root[j * size + k];
    }
    return sum;
  });
}

/** Takes updates that move nothing but factors, and gives back every state. */
function run(
  kfac: Kfac,
  state: KfacArrays,
  { from = 0, until = UPDATES, shift = 0 } = {},
): KfacArrays[] {
  return Array.from({ length: until - from }, (_, i) => {
    const moved: Record<string, KfacArrays[string]> = { ...state };
    for (const path in state) {
      if (!/^(in|out)put\//.test(path)) continue;
      const [size] = state[path].shape;
      const data = factorAt(from + i + shift, size);
      moved[path] = { ...state[path], data };
    }
    const next = kfac.refresh(from + i, () => moved) ?? moved;
    return state = structuredClone(next);
  });
}

function initial(kfac: Kfac): KfacArrays {
  return paramsToArrays(
    kfac.init({ u: tf.zeros([5, 3]), v: tf.zeros([3, 2]) }),
  );
}

for (const form of ["inverse", "eigenbasis", "ekfac"] as const) {
  for (const inversionDelay of [1, 3, 4]) {
    Deno.test(`with and without worker, resumed anywhere: ${form}, ${inversionDelay} later`, () => {
      const options = {
        form,
        inversionDelay,
        inversionPrecision: inversionDelay === 1
          ? "single" as const
          : "double" as const,
      };
      const here = kfacOf(options);
      const there = kfacOf({ ...options, invertIn: "worker" });
      const start = initial(here);
      const states = run(here, start);
      assertEquals(run(there, start), states);
      for (let from = 1; from < UPDATES; from++) {
        // A worker with an inversion under way that is not this run's.
        run(there, start, { until: from, shift: 99 });
        assertEquals(
          run(there, states[from - 1], { from }),
          states.slice(from),
        );
      }
      there.close();
    });
  }
}

Deno.test("an inverse is of the factors of its start, and used after the delay", () => {
  const kfac = kfacOf({ inversionDelay: 2, damping: 0.5 });
  const states = run(kfac, initial(kfac));
  const wanted = invertFactors({
    input: factorAt(5, 5),
    output: factorAt(5, 3),
  }, { form: "inverse", damping: 0.5 }).inverse_input.data;
  const zeros = new Float32Array(25);
  const used = states.map((it) => it["inverse_input/u"].data);
  assertEquals(used.slice(5, 9), [zeros, zeros, wanted, wanted]);
  // The update after that is the first that is not cold.
  const options = { ...SCHEDULE, inversionDelay: 2 };
  const cold = states.map((_, update) => kfacSchedule(update, options).cold);
  assertEquals(cold.indexOf(false), 8);
});

Deno.test("a factor that cannot be inverted is named, in a worker too", () => {
  for (const invertIn of ["place", "worker"] as const) {
    const lines: string[] = [];
    const onWarning = (line: string) => lines.push(line);
    const kfac = kfacOf({ inversionDelay: 1, invertIn, onWarning });
    const bad = structuredClone(initial(kfac)) as KfacArrays;
    (bad["output/v"].data as Float32Array).fill(-9);
    const after = kfac.refresh(5, () => bad)!;
    const last = kfac.refresh(6, () => after)!;
    kfac.close();
    assertEquals(last["inverse_input/v"], bad["inverse_input/v"]);
    assertEquals(lines.length, 1);
    assert(lines[0].startsWith("Layer 'v' keeps its old inverse"), lines[0]);
  }
});

async function forgottenWorker(...flags: string[]): Promise<[unknown, string]> {
  const script = new URL("testdata/forgotten_worker.ts", import.meta.url);
  const [granted, given] = [
    flags.filter((it) => it.startsWith("--allow")),
    flags.filter((it) => !it.startsWith("--allow")),
  ];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      "--no-check",
      "--no-prompt",
      ...granted,
      script.pathname,
      ...given,
    ],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("a worker that nobody closes keeps no process alive", async () => {
  assertEquals(await forgottenWorker("--allow-read"), [0.25, ""]);
});

Deno.test("where workers cannot run, two are tried and told, then none", async () => {
  const [made, lines] = await forgottenWorker("--until-given-up");
  assertEquals(made, null);
  const [first, second, ...rest] = lines.split("\n");
  const start = "The worker that inverts factors failed, ";
  assert(first.startsWith(`${start}another takes its place: `), first);
  assert(second.startsWith(`${start}factors are inverted in place: `), second);
  assertEquals(rest, [""]);
});

Deno.test("a worker that is killed is replaced, and no number or update changes", async () => {
  const threads = process.getBuiltinModule("node:worker_threads");
  const { Worker } = threads, opened: InstanceType<typeof Worker>[] = [];
  threads.Worker = class extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      opened.push(this);
    }
  };
  const lines: string[] = [];
  const options = { inversionDelay: 3 };
  const here = kfacOf(options), start = initial(here), until = 24;
  const states = run(here, start, { until });
  const there = kfacOf({
    ...options,
    invertIn: "worker",
    onWarning: (line) => lines.push(line),
  });
  try {
    let state = start;
    for (let from = 0; from < until; from++) {
      [state] = run(there, state, { from, until: from + 1 });
      assertEquals(state, states[from]);
      // Inversions start at updates 5, 9, 13, 17 and 21.
      if (from === 5 || from === 13) await opened.at(-1)!.terminate();
      await new Promise((go) => setTimeout(go));
    }
  } finally {
    threads.Worker = Worker;
    there.close();
  }
  assertEquals(opened.length, 3);
  const line =
    "The worker that inverts factors failed, another takes its place: it exited";
  assertEquals(lines, [line, line]);
});

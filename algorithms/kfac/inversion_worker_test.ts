import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
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
        spreadInversion: inversionDelay === 3,
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

Deno.test("a worker that dies is told in one line, and not asked again", async () => {
  const [made, lines] = await forgottenWorker("--until-warned");
  assertEquals(made, null);
  const [line, ...rest] = lines.split("\n");
  assert(
    line.startsWith("Factors are inverted in place: the worker failed: "),
    line,
  );
  assertEquals(rest, [""]);
});

import { isXlaInstalled } from "@bellman/compute/xla";
import type { Bound, Comparison, Program, Suite } from "./suite.ts";

/** A program whose figures each engine has. */
interface Case {
  readonly file: string;
  readonly task?: object;
  /** Figures: what they are, and the least ratios to eager and to ONNX Runtime. */
  readonly figures: Readonly<
    Record<string, { what: string; wanted: readonly [number, number] }>
  >;
  readonly unit: "us" | "ms";
}

const CASES: Readonly<Record<string, Case>> = {
  mlp: {
    file: "bellman_engines.ts",
    figures: {
      forward_us: {
        what: "forward of 16 observations through 4-64-64-2",
        wanted: [8, 0],
      },
      update_us: {
        what: "A2C's update of 80 rows, two networks 4-64-64",
        wanted: [8, 1],
      },
    },
    unit: "us",
  },
  cnn: {
    file: "bellman_nature_a2c.ts",
    task: { repeats: 10 },
    figures: {
      update_ms: {
        what: "A2C's update of the Nature CNN, 80 frames of bytes 84x84x4",
        wanted: [8, 0],
      },
    },
    unit: "ms",
  },
  sac: {
    file: "bellman_sac_update.ts",
    task: { repeats: 100 },
    figures: {
      update_ms: { what: "SAC's update, 256-256, batch 256", wanted: [2, 0] },
    },
    unit: "ms",
  },
  sac3: {
    file: "bellman_sac_update.ts",
    task: { repeats: 100, layers: 3 },
    figures: {
      update_ms: {
        what: "SAC's update, 256-256-256, batch 256",
        wanted: [2, 0],
      },
    },
    unit: "ms",
  },
};

const hasXla = isXlaInstalled();
const ENGINES = ["eager", "onnx", ...hasXla ? ["xla"] : []];

const programs = Object.entries(CASES).flatMap(([name, { file, task }]) =>
  ENGINES.map((engine): [string, Program] => [
    `${name}_${engine}`,
    { language: "deno", file, task: { ...task, engine, clock: "processor" } },
  ])
);

function comparisonsOf([name, it]: [string, Case]): Comparison[] {
  return Object.entries(it.figures).flatMap(([figure, { what, wanted }]) => {
    const compare = (ours: string, theirs: string, least: number) => ({
      what: `${what}, by ${ours} beside ${theirs}`,
      ours: [`${name}_${ours}`, figure] as const,
      theirs: [`${name}_${theirs}`, figure] as const,
      unit: it.unit,
      wanted: least,
    });
    const onnx = compare("onnx", "eager", wanted[0]);
    return hasXla ? [onnx, compare("xla", "onnx", wanted[1])] : [onnx];
  });
}

function boundsOf(engine: string): Bound[] {
  const program = `mlp_${engine}`;
  return [
    {
      what: `forward of 16 observations, by ${engine}`,
      figure: [program, "forward_us"],
      unit: "us",
      atMost: engine === "xla" ? 12 : 40,
    },
    {
      what: `a call of one operation, by ${engine}`,
      figure: [program, "call_us"],
      unit: "us",
    },
    {
      what: `tracing and building the update, warm, by ${engine}`,
      figure: [program, "warm_compile_ms"],
      unit: "ms",
      atMost: 300,
    },
  ];
}

/** The engines of compiled functions, beside each other. */
export const ENGINE_SUITE: Suite = {
  about: "The same functions eagerly on WebAssembly, by ONNX Runtime and by " +
    "XLA; processor time of one thread, which other programs lengthen least",
  programs: Object.fromEntries(programs),
  comparisons: Object.entries(CASES).flatMap(comparisonsOf),
  bounds: ENGINES.filter((it) => it !== "eager").flatMap(boundsOf),
};

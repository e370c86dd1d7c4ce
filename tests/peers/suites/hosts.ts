import type { Comparison, Program, Suite } from "./suite.ts";

const SPANS = {
  onnx: { warmup: 20_000, steps: 200_000 },
  eager: { warmup: 2000, steps: 20_000 },
};

function program(host: string, engine: keyof typeof SPANS): Program {
  const task = { host, engine, ...SPANS[engine] };
  return { language: "deno", file: "bellman_hosts.ts", task };
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  deno_onnx: program("deno", "onnx"),
  node_onnx: program("node", "onnx"),
  deno_eager: program("deno", "eager"),
  node_eager: program("node", "eager"),
  page_eager: program("page", "eager"),
};

function besideDeno(
  host: string,
  engine: keyof typeof SPANS,
  wanted: number,
): Comparison {
  const figure = (host: string) => [`${host}_${engine}`, "rate"] as const;
  return {
    what: `${host}, ${engine}, beside Deno`,
    ours: figure(host),
    theirs: figure("deno"),
    unit: "steps/s",
    wanted,
  };
}

const ENVIRONMENTS = [
  "CartPole-v1",
  "Acrobot-v1",
  "MountainCarContinuous-v0",
  "Pendulum-v1",
];

/** Node and a page beside Deno, and how soon the playground answers. */
export const HOST_SUITES: Readonly<Record<string, Suite>> = {
  hosts: {
    about: "A2C, CartPole-v1, 8 environments, everything included, one " +
      "thread: in the newest Node and in Chromium, beside Deno",
    // Chromium's other processes take one.
    cores: 2,
    programs: PROGRAMS,
    comparisons: [
      besideDeno("node", "onnx", 0.9),
      besideDeno("node", "eager", 1),
      besideDeno("page", "eager", 1),
    ],
    bounds: Object.keys(PROGRAMS).map((name) => ({
      what: `mean return of what is learned, ${name.replace("_", ", ")}`,
      figure: [name, "mean_return"],
      unit: "",
    })),
  },
  playground: {
    about: "The playground in Chromium, on two cores",
    cores: 2,
    programs: {
      page: {
        language: "deno",
        file: "playground.ts",
        task: { environments: ENVIRONMENTS, seconds: 10 },
      },
    },
    comparisons: [],
    bounds: [
      {
        what: "first step after opening",
        figure: ["page", "first_step_s"],
        unit: "s",
        atMost: 2,
      },
      ...ENVIRONMENTS.map((env) => ({
        what: `longest time without an answer, training ${env}`,
        figure: ["page", `gap_ms.${env}`] as const,
        unit: "ms",
        atMost: 100,
      })),
      ...ENVIRONMENTS.map((env) => ({
        what: `training ${env}`,
        figure: ["page", `rate.${env}`] as const,
        unit: "steps/s",
      })),
      {
        what: "processor time of a page and its workers, training Pendulum-v1",
        figure: ["page", "training_percent"],
        unit: "% of a core",
      },
      {
        what: "processor time of a paused page and its workers",
        figure: ["page", "paused_percent"],
        unit: "% of a core",
        atMost: 5,
      },
    ],
  },
};

/**
 * Counts what a newcomer passes who follows one round of an agent (act, step, observe,
 * update): files, their code lines, and the names that they import from other files
 * of the project. `deno task trip [a2c] [sac] [--list]`.
 */
import { Agent } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { findAlgorithm } from "@bellman/runs/settings";
import { Session } from "node:inspector/promises";
import { ROOT } from "./packages.ts";

/** A round: its agent, and the steps until it learns. */
interface Round {
  env: string;
  config: Record<string, unknown>;
  steps: number;
}

const ROUNDS: Readonly<Record<string, Round>> = {
  a2c: {
    env: "CartPole-v1",
    config: { numSteps: 4 },
    steps: 4,
  },
  sac: {
    env: "Pendulum-v1",
    config: { batchSize: 16, learningStarts: 16 },
    steps: 1,
  },
};

/** Steps before a round is counted: everything is compiled then. */
const WARM_UP = 64;

/** Lists the files whose functions V8 has seen called while `act` ran. */
async function filesOf(session: Session, act: () => void): Promise<string[]> {
  await session.post("Profiler.takePreciseCoverage");
  act();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result.filter(({ url, functions }) =>
    url.startsWith(`file://${ROOT}`) &&
    functions.some(({ functionName, ranges }) =>
      functionName !== "" && ranges[0].count > 0
    )
  ).map(({ url }) => url.slice(`file://${ROOT}`.length)).sort();
}

/** Lists the names that a file imports from others of the project. */
function namesIn(text: string): string[] {
  const imports = text.matchAll(
    /^(?:import|export)\s+(?:type\s+)?([^;]*?)\s+from\s+"(?:\.|@bellman)[^"]*"/gm,
  );
  return [...imports].flatMap(([, names]) =>
    names.replaceAll(/[{}]/g, "").split(",")
      .map((it) => it.trim().replace(/^type\s+/, "").split(/\s+as\s+/)[0])
      .filter((it) => it !== "")
  );
}

async function countRound(session: Session, name: string): Promise<void> {
  const { env: id, config, steps } = ROUNDS[name];
  const env = makeVec(id, { numEnvs: 1 });
  const agent = new Agent(findAlgorithm(name)!, env, {
    config,
    totalTimesteps: 10_000,
  });
  let observations = env.reset({ seed: 1 });
  const round = (count: number) => {
    for (let i = 0; i < count; i++) {
      const step = env.step(agent.act(observations));
      agent.observe(step);
      observations = step.observations;
      agent.update();
    }
  };
  round(WARM_UP);
  const files = await filesOf(session, () => round(steps));
  agent.close();
  env.close();
  const own = files.filter((it) => !it.startsWith("envs/"));
  const texts = own.map((it) =>
    Deno.readTextFileSync(ROOT + it).replaceAll(/\/\*.*?\*\//gs, "")
  );
  const lines = texts.join("\n").split("\n")
    .filter((it) => it.trim() !== "" && !it.trim().startsWith("//"));
  const names = new Set(texts.flatMap(namesIn));
  console.log(
    `${name}: ${files.length} files, ${own.length} of them beside environments, with ${lines.length} code lines and ${names.size} imported names`,
  );
  if (Deno.args.includes("--list")) own.forEach((it) => console.log(`  ${it}`));
}

await selectBackend();
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", {
  callCount: true,
  detailed: false,
});
const named = Deno.args.filter((it) => it !== "--list");
for (const name of named.length > 0 ? named : Object.keys(ROUNDS)) {
  if (!Object.hasOwn(ROUNDS, name)) {
    const known = Object.keys(ROUNDS).join(", ");
    console.error(`Unknown round '${name}': expected one of ${known}`);
    Deno.exit(2);
  }
  await countRound(session, name);
}

/** The agents of the zoo are what their cards say, and stay small. */
import { isMujocoInstalled } from "@bellman/envs/mujoco";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { zooAgents } from "../lab/runs/settings/zoo_agents.ts";
import { runCommand } from "./runs.ts";
import { testsWith } from "./testdata/tests_with.ts";

/** Most bytes of all agents, and of one. */
const MOST_BYTES = 4_000_000, MOST_OF_ONE = 350_000;

/** Agents whose weights alone take most of that, once in each of two files. */
const LARGE: Readonly<Record<string, number>> = {
  "sac/Pendulum-v1": 650_000,
  "sac/HalfCheetah-v5": 700_000,
};

/** True where Python has the modules. */
function hasPython(modules: string): boolean {
  const python = Deno.env.get("BELLMAN_PYTHON") ?? "python3";
  try {
    const args = ["-c", `import ${modules}`];
    return new Deno.Command(python, { args, stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}

const agents = zooAgents();
const hasBox2d = agents.some(({ name }) => name.includes("gym-")) &&
  hasPython("gymnasium, Box2D");

/** Adds the test of an agent, where its environment is installed. */
function testsOf(name: string) {
  if (name.includes("/gym-")) return testsWith("Gymnasium", hasBox2d);
  return name.endsWith("-v5")
    ? testsWith("MuJoCo", isMujocoInstalled())
    : Deno.test;
}

for (const { name } of agents) {
  testsOf(name)(`zoo:${name} holds what its card claims`, async () => {
    const { code, out } = await runCommand(["share", "--check", `zoo:${name}`]);
    const [first, ...rest] = out.split(`zoo:${name}: `).slice(1);
    assertEquals([code, first, rest.length], [0, "holds what it claims\n", 1]);
    assertStringIncludes(rest[0], "not checked: how it was trained");
  });
}

Deno.test("the zoo is listed, and small enough for a clone", async () => {
  assert(agents.length >= 12);
  const { code, out } = await runCommand(["list", "zoo", "--json"]);
  assertEquals(code, 0);
  const { zoo } = JSON.parse(out) as {
    zoo: { name: string; mean: number; bytes: number }[];
  };
  assertEquals(zoo.map((it) => it.name), agents.map((it) => `zoo:${it.name}`));
  for (const { name, mean, bytes } of zoo) {
    assert(Number.isFinite(mean));
    const most = LARGE[name.replace("zoo:", "")] ?? MOST_OF_ONE;
    assert(bytes <= most, `${name} has ${bytes} bytes`);
  }
  assert(zoo.reduce((sum, it) => sum + it.bytes, 0) <= MOST_BYTES);
  const { out: text } = await runCommand(["list", "zoo"]);
  assertEquals(text.trimEnd().split("\n").length, agents.length);
  assertStringIncludes(text, "500 ± 0");
});

Deno.test("every command that takes a run takes an agent of the zoo", async () => {
  const dir = await Deno.makeTempDir({ prefix: "bellman-zoo-" });
  const agent = "zoo:a2c/CartPole-v1";
  try {
    const commands: string[][] = [
      ["eval", agent, "--episodes=2"],
      ["play", agent, `--gif=${dir}/play.gif`],
      ["export", agent, `--out=${dir}/policy.onnx`],
      ["plot", agent, `--out=${dir}/curve.svg`],
      ["share", agent, `--out=${dir}/shared`],
      [
        ...["train", "a2c", "--steps=80", "--quiet", `--out=${dir}/run`],
        ...[`--init-from=${agent}`, "--set=evaluationEpisodes=1"],
      ],
    ];
    for (const args of commands) {
      const { code, err } = await runCommand(args);
      assertEquals(code, 0, err);
    }
    const { code, err } = await runCommand(["train", "--resume", agent]);
    assertEquals([code, err.includes("it is a shared agent")], [2, true]);
    const wrong = await runCommand(["eval", "zoo:a2c/CartPole-v2"]);
    assertEquals(wrong.code, 2);
    assertStringIncludes(wrong.err, `did you mean '${agent}'?`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

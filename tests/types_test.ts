/** What the compiler infers, as the files in `tests/types` hold it. */
import { assertEquals, assertMatch } from "@std/assert";
import { runDeno } from "./testdata/run_deno.ts";
import { ROOT } from "./tools/packages.ts";

const TYPES = `${ROOT}tests/types`;

/** Prints the ids that come with the packages. */
const LIST = `import "@bellman/envs/atari";
import "@bellman/envs/mujoco";
import { registeredIds } from "@bellman/envs";
console.log(JSON.stringify(registeredIds()));`;

/** Checks types; returns faults. */
async function check(...paths: string[]): Promise<string> {
  const args = ["-c", `${ROOT}deno.json`, ...paths];
  const { code, out, err } = await runDeno(args, { command: "check" });
  assertEquals(code === 0, err === "", err);
  return out + err;
}

/** Checks a program's types. */
async function checkText(text: string): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(path, text);
  try {
    return await check(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("types are inferred", async () => {
  const files = [...Deno.readDirSync(TYPES)].map(({ name }) => name);
  assertEquals(await check(...files.map((name) => `${TYPES}/${name}`)), "");
});

Deno.test("another type than the expected one is found", async () => {
  const expected = ["Float32Array", "Float64Array", "any", "never", "unknown"];
  const found = await checkText(
    `import { makeVec } from "@bellman/envs";
    import { same } from "file://${TYPES}/same.ts";
    const poles = makeVec("CartPole-v1", { numEnvs: 1 });
    type Found = ReturnType<typeof poles.reset>;
    ${expected.map((it) => `same<Found, ${it}>(true);`).join("\n")}`,
  );
  const wrong = [...found.matchAll(/same<Found, (\w+)>/g)].map((it) => it[1]);
  assertEquals(wrong, expected.slice(1));
});

Deno.test("types are known of each id that is registered", async () => {
  // In another process: tests register more.
  const { out } = await runDeno([LIST], { command: "eval" });
  const ids = JSON.parse(out).map((id: string) =>
    `${JSON.stringify(id)}: true`
  );
  const text = (ids: readonly string[]) =>
    `import type { BuiltInEnvs } from "@bellman/envs";
    export const ids: Record<keyof BuiltInEnvs, true> = { ${ids} };`;
  assertEquals(await checkText(text(ids)), "");
  const others = ids.filter((it: string) => !it.startsWith('"CartPole-v0"'));
  assertMatch(await checkText(text(others)), /TS2741.*'"CartPole-v0"'/);
});

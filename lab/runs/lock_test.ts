import { assert, assertEquals, assertThrows } from "@std/assert";
import { lockRun, originalConfig, signConfig } from "./ownership.ts";
import { UsageError } from "../terminal/errors.ts";

const TEXT = "algorithm: a2c\nseed: 3\nlearningRate: 0.0007\n";

/** Runs as a user whose secret is kept in a folder. */
async function asUser<T>(folder: string, act: () => T): Promise<Awaited<T>> {
  const before = Deno.env.get("BELLMAN_STATE");
  Deno.env.set("BELLMAN_STATE", folder);
  try {
    return await act();
  } finally {
    if (before === undefined) Deno.env.delete("BELLMAN_STATE");
    else Deno.env.set("BELLMAN_STATE", before);
  }
}

const root = await Deno.makeTempDir({ prefix: "bellman-signature-" });
const mine = `${root}/mine/state`;
const signed = await asUser(mine, () => signConfig(TEXT));

Deno.test("what a user signed is the user's own, elsewhere it is as it was", async () => {
  assertEquals(
    await asUser(mine, () => originalConfig(TEXT, signed)),
    { text: TEXT, isOwn: true },
  );
  for (const state of [`${root}/theirs`, `${root}/none/at/all`, "/dev/null"]) {
    assertEquals(
      await asUser(state, () => originalConfig(TEXT, signed)),
      { text: TEXT, isOwn: false },
    );
  }
});

Deno.test("the secret is for its owner alone", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const { mode, size } = await Deno.stat(`${mine}/key`);
  assertEquals([mode! & 0o777, size], [0o600, 32]);
  assertEquals([...Deno.readDirSync(mine)].length, 1);
});

Deno.test("a text that was signed elsewhere, edited or signed by hand is not the user's own", async () => {
  const theirs = await asUser(`${root}/theirs`, () => signConfig(TEXT));
  const edited = TEXT.replace("3", "4");
  const forged = signed.replace(TEXT, edited);
  const unsigned = signed.replace(/# signed .*/, "# unsigned");
  const rehashed = await asUser(`${root}/theirs`, () => signConfig(edited));
  const [, , ownLine] = signed.split("\n");
  const stolen = rehashed.replace(/# signed .*/, ownLine);
  const cases: [string | undefined, string | undefined, string][] = [
    [TEXT, theirs, TEXT],
    [TEXT, undefined, TEXT],
    [TEXT, unsigned, TEXT],
    [edited, stolen, edited],
  ];
  for (const [current, signature, text] of cases) {
    assertEquals(
      await asUser(mine, () => originalConfig(current, signature)),
      { text, isOwn: false },
    );
  }
  // Edits of one of the two files are seen by the other.
  assertEquals(
    await asUser(mine, () => originalConfig(edited, signed)),
    { text: TEXT, isOwn: true },
  );
  assertEquals(
    await asUser(mine, () => originalConfig(TEXT, forged)),
    { text: TEXT, isOwn: true },
  );
  assertEquals(
    await asUser(mine, () => originalConfig(edited, forged)),
    { text: edited, isOwn: false },
  );
});

Deno.test("what a run began with outlives damage of any one file", async () => {
  const flip = (text: string, at: number, bit: number): string => {
    const bytes = new TextEncoder().encode(text);
    bytes[at] ^= 1 << bit;
    return new TextDecoder().decode(bytes);
  };
  await asUser(mine, () => {
    for (let at = 0; at < signed.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const found = originalConfig(TEXT, flip(signed, at, bit));
        assertEquals(found?.text, TEXT, `bit ${bit} of byte ${at}`);
      }
      assertEquals(originalConfig(TEXT, signed.slice(0, at))?.text, TEXT);
    }
    for (let at = 0; at < TEXT.length; at++) {
      const found = originalConfig(flip(TEXT, at, at % 8), signed);
      assertEquals(found, { text: TEXT, isOwn: true });
      assertEquals(originalConfig(TEXT.slice(0, at), signed), found);
    }
    assertEquals(originalConfig(undefined, signed)?.text, TEXT);
  });
});

Deno.test("where both files are damaged, nothing is taken for what was", async () => {
  await asUser(mine, () => {
    const damaged = signed.replace("seed: 3", "seed: 5");
    const flipped = TEXT.replace("3", "4");
    assertEquals(originalConfig(flipped, damaged), undefined);
    assertEquals(originalConfig(undefined, damaged), undefined);
    assertEquals(originalConfig(undefined, ""), undefined);
  });
});

Deno.test("processes that need the secret at a time make one", async () => {
  const state = `${root}/parallel`;
  const script = `
    import { signConfig } from ${
    JSON.stringify(new URL("ownership.ts", import.meta.url).href)
  };
    while (Date.now() < Number(Deno.args[0]));
    Deno.stdout.writeSync(new TextEncoder().encode(signConfig("seed: 1")));
  `;
  const path = `${root}/script.ts`;
  const config = new URL("../deno.json", import.meta.url).pathname;
  await Deno.writeTextFile(path, script);
  const start = String(Date.now() + 700);
  const outputs = await Promise.all(
    Array.from({ length: 4 }, () =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "-q", "--no-check", "-c", config, path, start],
        env: { BELLMAN_STATE: state },
      }).output()),
  );
  const texts = outputs.map((it) => new TextDecoder().decode(it.stdout));
  assert(texts[0].includes("# signed "), texts[0]);
  assertEquals(new Set(texts).size, 1);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

const isThere = (path: string): boolean => {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
};

Deno.test("a run is locked for one at a time, and named by its holder", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/run.lock`;
  const lock = lockRun(dir);
  const { pid, started } = JSON.parse(Deno.readTextFileSync(path));
  assertEquals(pid, Deno.pid);
  assertThrows(
    () => lockRun(dir),
    UsageError,
    `Cannot use the run ${dir}: process ${Deno.pid} on ${Deno.hostname()}, begun at ${started}, trains it at present`,
  );
  lock.release();
  assertEquals(isThere(path), false);
  lockRun(dir).release();
  await Deno.remove(dir, { recursive: true });
});

Deno.test("what a process left behind is taken over, whoever has its id now", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/run.lock`;
  const recycled = { pid: Deno.ppid, started: "", host: Deno.hostname() };
  for (const text of ["", "{", "null", JSON.stringify(recycled)]) {
    Deno.writeTextFileSync(path, text);
    const lock = lockRun(dir);
    assertEquals(JSON.parse(Deno.readTextFileSync(path)).pid, Deno.pid);
    lock.release();
    assertEquals(isThere(path), false);
  }
  // A holder whose file somebody removed leaves the next one's alone.
  const lock = lockRun(dir);
  Deno.removeSync(path);
  const next = lockRun(dir);
  lock.release();
  assertEquals(isThere(path), true);
  next.release();
  assertEquals(isThere(path), false);
  await Deno.remove(dir, { recursive: true });
});

import { assertEquals, assertNotEquals } from "@std/assert";
import type { XlaFlags } from "./compile_options.ts";
import { ExecutableCache } from "./executable_cache.ts";
import { openXla } from "./open_xla.ts";
import { addAndMultiply, runOnce, test } from "./testdata/programs.ts";

/** Runs with a folder with a file that stands for a plugin. */
function inFolder(run: (folder: string, plugin: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    const plugin = `${folder}/plugin.so`;
    Deno.writeTextFileSync(plugin, "first");
    run(`${folder}/cache`, plugin);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const filesIn = (folder: string): string[] =>
  [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("machine code is kept by its key", () =>
  inFolder((folder, plugin) => {
    const cache = new ExecutableCache(folder, { plugin, target: ["cpu"] });
    const key = cache.keyOf(["program"]);
    assertEquals(cache.read(key), undefined);
    cache.write(key, Uint8Array.of(1, 2, 3));
    const later = new ExecutableCache(folder, { plugin, target: ["cpu"] });
    assertEquals(later.keyOf(["program"]), key);
    assertEquals(later.read(key), Uint8Array.of(1, 2, 3));
    assertEquals(filesIn(folder).filter((it) => it.endsWith(".tmp")), []);
  }));

Deno.test("a key is of plugin, target and program", () =>
  inFolder((folder, plugin) => {
    const keys = new Set<string>();
    const add = (target: string[], parts: string[]) =>
      keys.add(new ExecutableCache(folder, { plugin, target }).keyOf(parts));
    add(["cpu"], ["program", "flags"]);
    add(["cuda"], ["program", "flags"]);
    add(["cpu"], ["other program", "flags"]);
    add(["cpu"], ["program", "other flags"]);
    add(["cpu"], ["programf", "lags"]);
    // Another plugin of as many bytes in its place.
    Deno.writeTextFileSync(plugin, "other");
    Deno.utimeSync(plugin, 1, 1);
    add(["cpu"], ["program", "flags"]);
    assertEquals(keys.size, 6);
  }));

Deno.test("damaged machine code is as good as none", () =>
  inFolder((folder, plugin) => {
    const cache = new ExecutableCache(folder, { plugin, target: [] });
    const key = cache.keyOf(["program"]);
    cache.write(key, new Uint8Array(1000).fill(7));
    const path = `${folder}/${key}.xla`;
    const whole = Deno.readFileSync(path);
    const damaged = whole.slice();
    damaged[500] ^= 1;
    for (const it of [damaged, whole.slice(0, 500), new Uint8Array()]) {
      Deno.writeFileSync(path, it);
      assertEquals(cache.read(key), undefined);
    }
    Deno.writeFileSync(path, whole);
    assertEquals(cache.read(key)?.length, 1000);
  }));

Deno.test("the programs that were not used for the longest time go first", () =>
  inFolder((folder, plugin) => {
    const options = { plugin, target: [], maxBytes: 3200 };
    const cache = new ExecutableCache(folder, options);
    const keys = ["a", "b", "c"].map((it) => cache.keyOf([it]));
    keys.forEach((key, i) => {
      cache.write(key, new Uint8Array(1000));
      Deno.utimeSync(`${folder}/${key}.xla`, 100 + i, 100 + i);
    });
    cache.read(keys[0]);
    cache.write(cache.keyOf(["d"]), new Uint8Array(1000));
    const isThere = keys.map((it) => cache.read(it) !== undefined);
    assertEquals(isThere, [true, false, true]);
  }));

Deno.test("a folder that cannot be written keeps nothing", () =>
  inFolder((_, plugin) => {
    const folder = `${plugin}/below a file`;
    const cache = new ExecutableCache(folder, { plugin, target: [] });
    const key = cache.keyOf(["program"]);
    cache.write(key, Uint8Array.of(1));
    assertEquals(cache.read(key), undefined);
  }));

test("a program of the cache computes the same", () =>
  inFolder((cache) => {
    const results = [1, 2, 3].map((run) => {
      using client = openXla({ cache });
      const flags: XlaFlags = run === 3
        ? { xla_cpu_enable_fast_math: true }
        : {};
      const program = client.compile(addAndMultiply(4), { flags });
      const input = Float32Array.of(1, 2, 3, 4);
      return runOnce(program, input, input);
    });
    assertEquals(results[1], results[0]);
    assertEquals(results[2], results[0]);
    const programs = filesIn(cache).filter((it) => it.endsWith(".xla"));
    assertEquals(programs.length, 2);
  }));

test("a program whose machine code cannot be loaded is compiled", () =>
  inFolder((cache) => {
    const run = () => {
      using client = openXla({ cache });
      client.compile(addAndMultiply(2));
    };
    run();
    const name = filesIn(cache).find((it) => it.endsWith(".xla"))!;
    const key = name.replace(".xla", "");
    const before = Deno.readFileSync(`${cache}/${name}`);
    new ExecutableCache(cache, { plugin: "", target: [] })
      .write(key, before.slice(32, before.length >> 1));
    assertNotEquals(Deno.readFileSync(`${cache}/${name}`), before);
    run();
    assertEquals(Deno.statSync(`${cache}/${name}`).size, before.length);
  }));

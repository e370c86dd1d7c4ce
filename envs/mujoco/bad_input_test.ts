import { assertEquals, assertThrows } from "@std/assert";
import { dirname } from "node:path";
import { make } from "../registry/registry.ts";
import { findLibrary, findModel } from "./install/installed.ts";
import { openNativeLibrary } from "./physics/_native_library.ts";
import { isMujocoInstalled, MujocoEnv } from "./mod.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

const hasNative = isMujocoInstalled() && findLibrary() !== undefined;
const test = testsWith("MuJoCo", hasNative);
/** Versions before 4 cannot compute a state without risking the process. */
const canTry = hasNative &&
  openNativeLibrary(findLibrary()!).symbols.mjb_forward !== null;

/** Runs with variables of the environment set, and a folder of its own. */
async function withVariables(
  variables: (folder: string) => Record<string, string>,
  run: (folder: string) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const set = Object.entries(variables(folder));
  const before = set.map(([name]) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of set) Deno.env.set(name, value);
  try {
    await run(folder);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
    await Deno.remove(folder, { recursive: true });
  }
}

function oneLine(use: () => unknown, ...parts: string[]): void {
  const { message } = assertThrows(use, Error);
  assertEquals(message.split("\n").length, 1, message);
  for (const part of parts) {
    assertEquals(message.includes(part), true, `${message}: no '${part}'`);
  }
}

Deno.test("without library and models the command that helps is named", () =>
  withVariables((folder) => ({
    BELLMAN_CACHE: folder,
    BELLMAN_MUJOCO_LIBRARY: "",
    BELLMAN_MUJOCO_MODELS: "",
  }), async () => {
    assertEquals(isMujocoInstalled(), false);
    oneLine(
      () => new MujocoEnv("Hopper", { engine: "native" }),
      "Cannot make Hopper as no MuJoCo library was found",
      "deno task install-mujoco",
      "BELLMAN_MUJOCO_LIBRARY",
    );
    oneLine(
      () => make("HalfCheetah-v5"),
      "Cannot make HalfCheetah as no MuJoCo library was found",
      "deno task install-mujoco",
      "or import '@bellman/envs/mujoco/wasm'",
    );
    await import("./wasm.ts");
    oneLine(
      () => new MujocoEnv("Hopper"),
      "Cannot find the model 'hopper.xml'",
      "deno task install-mujoco",
      "BELLMAN_MUJOCO_MODELS",
    );
  }));

Deno.test("a variable that leads nowhere is named", () =>
  withVariables((folder) => ({
    BELLMAN_MUJOCO_LIBRARY: `${folder}/libmujoco.so`,
    BELLMAN_MUJOCO_MODELS: folder,
  }), (folder) => {
    assertEquals(isMujocoInstalled(), false);
    oneLine(
      () => new MujocoEnv("Hopper"),
      `Cannot find the MuJoCo library '${folder}/libmujoco.so' that BELLMAN_MUJOCO_LIBRARY names`,
    );
    oneLine(
      () => new MujocoEnv("Hopper", { engine: "wasm" }),
      `Cannot find the model 'hopper.xml' in '${folder}'`,
    );
  }));

Deno.test("a file that is no library is refused", () =>
  withVariables(() => ({}), async (folder) => {
    const path = `${folder}/libmujoco.so`;
    await Deno.writeTextFile(path, "not a library");
    oneLine(() => openNativeLibrary(path), `Cannot open the MuJoCo library`);
  }));

test("a library is refused without headers, or with those of another version", () =>
  withVariables(() => ({}), async (folder) => {
    const installed = findLibrary()!;
    const path = `${folder}/${installed.split("/").at(-1)}`;
    await Deno.copyFile(installed, path);
    oneLine(
      () => openNativeLibrary(path),
      `expected its headers in '${folder}/include/mujoco'`,
    );
    const headers = `${folder}/include/mujoco`;
    await Deno.mkdir(headers, { recursive: true });
    const define = "#define mjVERSION_HEADER 3010000\n";
    await Deno.writeTextFile(`${headers}/mujoco.h`, define);
    oneLine(
      () => openNativeLibrary(path),
      "the headers beside it of 3010000",
    );
  }));

Deno.test(
  "models that are missing or do not parse are refused with MuJoCo's words [MuJoCo]",
  { ignore: !isMujocoInstalled() },
  () =>
    withVariables(() => ({}), async (folder) => {
      await import("./wasm.ts");
      const engines = hasNative
        ? ["native", "wasm"] as const
        : ["wasm"] as const;
      const xmlFile = `${folder}/own.xml`;
      const models = [
        ["<mujoco><worldbody></mujoco>", "XML parse error"],
        ["no xml at all", "XML parse error"],
        [
          "<mujoco><worldbody><geom type='cone'/></worldbody></mujoco>",
          "invalid keyword: 'cone', Element 'geom', line 1",
        ],
        [
          "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>",
          "mass and inertia of moving bodies must be larger",
        ],
      ];
      for (const engine of engines) {
        oneLine(
          () => new MujocoEnv("Ant", { engine, xmlFile }),
          `Cannot find the model '${xmlFile}'`,
        );
        for (const [xml, words] of models) {
          await Deno.writeTextFile(xmlFile, xml);
          oneLine(
            () => new MujocoEnv("Ant", { engine, xmlFile }),
            `Cannot load the model '${xmlFile}': `,
            words,
          );
        }
        await Deno.remove(xmlFile);
      }
      oneLine(
        () => new MujocoEnv("Ant", { xmlFile: "ants.xml" }),
        "'ants.xml'",
      );
    }),
);

Deno.test("a model that allows itself too little memory is refused [MuJoCo]", {
  ignore: !canTry,
}, () =>
  withVariables(() => ({}), async (folder) => {
    const xmlFile = `${folder}/own.xml`;
    const box = `<freejoint/><geom type="box" size="0.1 0.1 0.1"/>`;
    await Deno.writeTextFile(
      xmlFile,
      `<mujoco><size memory="2K"/><worldbody>
      <geom type="plane" size="0 0 1"/><body pos="0 0 0.05">${box}</body>
      <body pos="0 0 0.2">${box}</body></worldbody></mujoco>`,
    );
    // The process would end otherwise, and this test with it.
    oneLine(
      () => new MujocoEnv("Ant", { engine: "native", xmlFile }),
      `Cannot load the model '${xmlFile}': `,
      "out of memory",
    );
    await import("./wasm.ts");
    oneLine(
      () => new MujocoEnv("Ant", { engine: "wasm", xmlFile }).reset(),
      `Cannot load the model '${xmlFile}': `,
      "out of memory",
    );
  }));

Deno.test("models that lack what the rules speak of are refused [MuJoCo]", {
  ignore: !isMujocoInstalled(),
}, () => {
  oneLine(
    () => new MujocoEnv("Pusher", { xmlFile: "hopper.xml" }),
    "Cannot make Pusher of a model without a body named 'tips_arm'",
  );
  for (const mainBody of ["tors", 99, -1]) {
    oneLine(
      () => new MujocoEnv("Ant", { mainBody }),
      `Cannot make Ant with mainBody ${JSON.stringify(mainBody)}`,
    );
  }
});

test("a library of the present folder is found by its bare name", async () => {
  const own = findLibrary()!, before = Deno.cwd();
  await withVariables(
    () => ({ BELLMAN_MUJOCO_LIBRARY: "libown.so" }),
    (it) => {
      Deno.symlinkSync(own, `${it}/libown.so`);
      Deno.symlinkSync(`${dirname(own)}/include`, `${it}/include`);
      Deno.chdir(it);
      try {
        const path = findLibrary()!;
        assertEquals(path, `${Deno.cwd()}/libown.so`);
        assertEquals(openNativeLibrary(path).path, path);
      } finally {
        Deno.chdir(before);
      }
    },
  );
});

Deno.test("a missing permission is not told as a missing library", {
  permissions: { env: false, read: true },
}, () => {
  oneLine(
    () => new MujocoEnv("Hopper"),
    "it needs the permission --allow-env=BELLMAN_MUJOCO_LIBRARY",
  );
  assertEquals(isMujocoInstalled(), false);
});

Deno.test("models that may not be read are not told as missing", {
  permissions: { env: true, read: false },
}, () => {
  oneLine(
    () => findModel("/models/hopper.xml"),
    "Cannot look for '/models/hopper.xml': it needs the permission --allow-read=/models/hopper.xml",
  );
  assertEquals(isMujocoInstalled(), false);
});

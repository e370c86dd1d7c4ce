import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { findLibrary, findModel } from "../install/installed.ts";
import { type NativeLibrary, openNativeLibrary } from "./_native_library.ts";
import { loadNativeModel } from "./_native_model.ts";
import type { ModelSource } from "./_physics.ts";
import { isMujocoInstalled } from "../mod.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";

const test = testsWith(
  "MuJoCo",
  isMujocoInstalled() && findLibrary() !== undefined,
);

/** The installed library, which notes what it frees. */
function notingLibrary(freed: string[]): NativeLibrary {
  const library = openNativeLibrary(findLibrary()!);
  const { mj_deleteData, mj_deleteModel } = library.symbols;
  const symbols: NativeLibrary["symbols"] = {
    ...library.symbols,
    mj_deleteData(data) {
      freed.push("data");
      mj_deleteData(data);
    },
    mj_deleteModel(model) {
      freed.push("model");
      mj_deleteModel(model);
    },
  };
  return { ...library, symbols };
}

const hopper = (): ModelSource => ({
  name: "Hopper",
  path: findModel("hopper.xml"),
});

/** Makes a model and a simulation that nobody closes. */
function leaveOpen(library: NativeLibrary): void {
  loadNativeModel(library, hopper()).makeData();
}

test("models and simulations that nobody closes are freed, others once", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const freed: string[] = [], library = notingLibrary(freed);
  const model = loadNativeModel(library, hopper());
  for (const it of [model.makeData(), model]) {
    it.close();
    it.close();
  }
  assertEquals(freed, ["data", "model"]);
  leaveOpen(library);
  for (let i = 0; i < 100 && freed.length < 4; i++) {
    collect();
    await new Promise((done) => setTimeout(done, 5));
  }
  assertEquals(freed.sort(), ["data", "data", "model", "model"]);
});

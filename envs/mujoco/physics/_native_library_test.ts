import { assert, assertThrows } from "@std/assert";
import { findLibrary } from "../install/installed.ts";
import { checkVersion, openNativeLibrary } from "./_native_library.ts";
import { isMujocoInstalled } from "../mod.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";

const test = testsWith(
  "MuJoCo",
  isMujocoInstalled() && findLibrary() !== undefined,
);

Deno.test("versions before 3.3 and from 5 on are refused", () => {
  for (const version of ["3.3.0", "3.14.0", "4.0.0", "4.12.1"]) {
    checkVersion("libmujoco.so", version);
  }
  for (const version of ["2.3.7", "3.2.7", "5.0.0", "40.0.0", "unknown"]) {
    assertThrows(
      () => checkVersion("libmujoco.so", version),
      Error,
      `Cannot use the MuJoCo library 'libmujoco.so' of version ${version}: expected 3.3 or newer, below 5`,
    );
  }
});

test("a library is opened once, with the layout that its headers say", () => {
  const library = openNativeLibrary(findLibrary()!);
  assert(openNativeLibrary(library.path) === library);
  const data = library.layout.structs.get("mjData")!;
  // One pointer after the other, in the order of the header.
  assert(data.get("qvel")!.offset === data.get("qpos")!.offset + 8);
  assert(data.get("cfrc_ext")!.offset > data.get("xpos")!.offset);
});

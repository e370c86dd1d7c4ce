import { assertEquals, assertThrows } from "@std/assert";
import { findNativeLibrary, libraryInEnvironment } from "./library_search.ts";

async function withFile(
  path: string,
  test: (dir: string, file: string) => void,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    const file = `${dir}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, "");
    test(dir, file);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const cases = [
  "lib/python3.11/site-packages/tensorflow/libtensorflow_cc.so.2",
  "lib/python3.9/site-packages/tensorflow/python/_pywrap_tensorflow_internal.so",
  "local/lib/python3.12/dist-packages/tensorflow/libtensorflow_cc.2.dylib",
];
for (const path of cases) {
  Deno.test(`a Python environment's ${path} is found`, async () => {
    await withFile(path, (dir, file) => {
      assertEquals(libraryInEnvironment(dir), file);
    });
  });
}

Deno.test("an environment without TensorFlow holds no library", async () => {
  await withFile("lib/python3.11/site-packages/numpy/a.so", (dir) => {
    assertEquals(libraryInEnvironment(dir), undefined);
    assertEquals(libraryInEnvironment(`${dir}/nowhere`), undefined);
  });
});

const NAMES = ["BELLMAN_LIBTENSORFLOW", "BELLMAN_TENSORFLOW_ADDON"];

Deno.test("what is asked for by name is taken, or is an error", async () => {
  await withFile("a.so", (dir, file) => {
    const find = (variable: string, path: string) => {
      const before = NAMES.map((name) => Deno.env.get(name));
      for (const name of NAMES) Deno.env.delete(name);
      Deno.env.set(variable, path);
      try {
        return findNativeLibrary();
      } finally {
        NAMES.forEach((name, i) => Deno.env.set(name, before[i] ?? ""));
      }
    };
    assertEquals(find(NAMES[0], file), { kind: "library", path: file });
    assertEquals(find(NAMES[1], file), { kind: "addon", path: file });
    assertThrows(
      () => find(NAMES[0], `${dir}/b.so`),
      Error,
      `Cannot find the TensorFlow library '${dir}/b.so'`,
    );
  });
});

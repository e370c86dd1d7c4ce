/** An installation from a folder of wheels: three environments of Python take long. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { zipSync } from "fflate";
import { installTensorFlow } from "../tools/install_tensorflow.ts";

const VERSION = "2.99.0";
const INFO = `tensorflow_cpu-${VERSION}.dist-info`;

/** A wheel for any Python that holds a library and nothing else. */
function wheelOf(library: string): Uint8Array {
  const files = {
    "tensorflow/libtensorflow_cc.so.2": library,
    [`${INFO}/METADATA`]:
      `Metadata-Version: 2.1\nName: tensorflow-cpu\nVersion: ${VERSION}\n`,
    [`${INFO}/WHEEL`]:
      "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${INFO}/RECORD`]: "",
  };
  const encode = (text: string) => new TextEncoder().encode(text);
  return zipSync(
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, encode(text)]),
    ),
  );
}

/** Returns true where there is a Python that makes environments with pip. */
function hasPython(): boolean {
  try {
    const args = ["-c", "import venv, ensurepip"];
    return new Deno.Command("python3", { args }).outputSync().success;
  } catch {
    return false;
  }
}

Deno.test({
  name: "a wheel is installed only where its hash is pinned [Python]",
  ignore: !hasPython(), // Needs a Python with venv.
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const [index, dir] = [`${folder}/index`, `${folder}/tensorflow`];
    // pip looks into a folder in place of PyPI.
    const settings = { PIP_NO_INDEX: "1", PIP_FIND_LINKS: index };
    const before = Object.keys(settings).map((key) =>
      [key, Deno.env.get(key)] as const
    );
    Object.entries(settings).forEach(([key, it]) => Deno.env.set(key, it));
    try {
      await Deno.mkdir(index);
      const offer = async (library: string) => {
        const wheel = wheelOf(library);
        const file = `tensorflow_cpu-${VERSION}-py3-none-any.whl`;
        await Deno.writeFile(`${index}/${file}`, wheel);
        return createHash("sha256").update(wheel).digest("hex");
      };
      const right = await offer("machine code");
      const pinned = {
        version: VERSION,
        wheels: { "py3-none-any": right, other: "0".repeat(64) },
      };
      const library = await installTensorFlow(dir, pinned);
      assertStringIncludes(library, `${dir}/lib`);
      assertEquals(await Deno.readTextFile(library), "machine code");

      await Deno.remove(index, { recursive: true });
      assertEquals(await installTensorFlow(dir, pinned), library);

      await Deno.mkdir(index);
      await offer("other code");
      await Deno.remove(library);
      await assertRejects(
        () => installTensorFlow(dir, pinned),
        Error,
        `the wheel of tensorflow-cpu ${VERSION} has another SHA-256 than the pinned ones`,
      );
      await assertRejects(() => Deno.stat(library), Deno.errors.NotFound);

      // The real pin is of another version than the one in the folder.
      await assertRejects(
        () => installTensorFlow(dir),
        Error,
        "there is no wheel of tensorflow-cpu 2.",
      );
    } finally {
      for (const [key, it] of before) {
        if (it === undefined) Deno.env.delete(key);
        else Deno.env.set(key, it);
      }
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/**
 * Compiles the kernels beside this file and writes their bytes to _kernels.json:
 * `fused` with relaxed SIMD (fused multiply and add), `plain` without, for
 * engines that lack it. Run after a change of a kernel:
 *
 *     deno run --no-lock -A algorithms/linear_algebra/assembly/build.ts
 */
const FOLDER = new URL("./", import.meta.url);
/** Named here and not in the import map: nothing else needs it. */
const COMPILER = "npm:assemblyscript@0.28.20/asc";
/** The file that the package reads. */
export const TARGET: URL = new URL("../_kernels.json", import.meta.url);

/** The SHA-256 of all kernel sources, by which a test knows of a change. */
export async function sourcesDigest(): Promise<string> {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
    .filter((name) => name.endsWith(".ts") && !name.startsWith("build")).sort();
  const texts = names.map((name) =>
    Deno.readTextFileSync(new URL(name, FOLDER))
  );
  const bytes = new TextEncoder().encode(texts.join(""));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(digest).toHex();
}

/** The bytes of the module with the given features, as base64. */
async function compile(features: string): Promise<string> {
  // Loaded here, so that a test can ask for the digest without the compiler.
  const { default: asc } = await import(COMPILER);
  let bytes: Uint8Array = new Uint8Array();
  const { error, stderr } = await asc.main([
    "kernels.ts",
    "--outFile=kernels.wasm",
    "-O3",
    "--noAssert",
    "--runtime=stub",
    "--disableWarning=112",
    `--enable=${features}`,
  ], {
    // The compiler adds an ending to imports that have one already.
    readFile: async (name: string) =>
      await Deno.readTextFile(new URL(name.replace(".ts.ts", ".ts"), FOLDER))
        .catch(() => null),
    writeFile: (_name: string, contents: string | Uint8Array) => {
      if (contents instanceof Uint8Array) bytes = contents;
    },
    listFiles: () => [],
  });
  if (error !== null) {
    throw new Error(`Cannot compile the kernels: ${error}\n${stderr}`);
  }
  return btoa(String.fromCharCode(...bytes));
}

if (import.meta.main) {
  const kernels = {
    sources: await sourcesDigest(),
    fused: await compile("simd,relaxed-simd"),
    plain: await compile("simd"),
  };
  await Deno.writeTextFile(TARGET, JSON.stringify(kernels, null, 2) + "\n");
}

/**
 * Addresses that Deno's import map gives. In the packages for npm there are
 * none: bundlers would look for packages that users need not have.
 */

// Deno fetches a package that something imports, and no other: never called.
void (() =>
  import("onnxruntime-node/package.json", { with: { type: "json" } }));

/** Address of a package's file, by the name that the file is imported by. */
export const addresses: Readonly<Record<string, () => string>> = {
  // Literal, as they are rewritten where the package is published.
  "onnxruntime-node/package.json": () =>
    import.meta.resolve("onnxruntime-node/package.json"),
  "@tensorflow/tfjs-backend-wasm": () =>
    import.meta.resolve("@tensorflow/tfjs-backend-wasm"),
};

/** Opens a library in a thread that ends; says whether it was and is loaded. */
import { openLibrary } from "../native_library.ts";

const isLoaded = (path: string) =>
  Deno.readTextFileSync("/proc/self/maps").includes(path);

if (self.name) {
  const [way, path] = self.name.split(" ");
  way === "kept" ? openLibrary(path, {}) : Deno.dlopen(path, {});
  (self as unknown as Worker).postMessage(isLoaded(path));
} else {
  // A copy, as the process has the library itself.
  const [way, folder] = Deno.args;
  const [original] = Deno.readTextFileSync("/proc/self/maps")
    .match(/\/\S*\/libm[.-]\S*/)!;
  const path = `${folder}/${way}-libm.so`;
  Deno.copyFileSync(original, path);
  const worker = new Worker(import.meta.url, {
    type: "module",
    name: `${way} ${path}`,
  });
  const opened = await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
  });
  worker.terminate();
  for (let i = 0; i < 100 && isLoaded(path); i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const said = `${opened} ${isLoaded(path)}\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(said));
}

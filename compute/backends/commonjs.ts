/**
 * Globals of CommonJS for TensorFlow.js, which asks Node for its own modules by
 * `require`: bundles in ES modules have none. They are there while it is
 * imported and while it loads its backend, as others take them for a sign that
 * they run in CommonJS.
 */
import { builtin, isDeno, platform } from "@bellman/files";

const globals = globalThis as Record<string, unknown>;

/** Defines the globals where Node's modules lack them; returns what removes them. */
export function defineCommonJs(): () => void {
  if (isDeno() || platform().os === "page") return () => {};
  const { createRequire } = builtin("node:module");
  const folder = builtin("node:process").cwd();
  const all = { require: createRequire(`${folder}/`), __dirname: folder };
  const lacking = Object.entries(all).filter(([name]) => !(name in globals));
  Object.assign(globals, Object.fromEntries(lacking));
  return () => lacking.forEach(([name]) => delete globals[name]);
}

let remove = () => {};

/** Removes what was defined before TensorFlow.js was imported. */
export function removeCommonJs(): void {
  remove();
  remove = () => {};
}

remove = defineCommonJs();

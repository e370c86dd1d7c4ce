/**
 * Prints what an editor offers at places of a program, one JSON list a line:
 *
 *     node complete.mjs COMPILER FILE
 *
 * A place is marked by `/*here*\/`.
 */
import { readFileSync } from "node:fs";
import { argv, cwd } from "node:process";

const [, , compiler, file] = argv;
const { default: ts } = await import(compiler);
const text = readFileSync(file, "utf8");
const service = ts.createLanguageService({
  ...ts.sys,
  getCompilationSettings: () => ({
    module: ts.ModuleKind.NodeNext,
    strict: true,
    target: ts.ScriptTarget.ES2023,
    types: [],
  }),
  getCurrentDirectory: cwd,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  getScriptFileNames: () => [file],
  getScriptVersion: () => "1",
  useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
  getScriptSnapshot: (name) => {
    const found = ts.sys.readFile(name);
    return found && ts.ScriptSnapshot.fromString(found);
  },
});
for (const { index } of text.matchAll(/\/\*here\*\//g)) {
  const found = service.getCompletionsAtPosition(file, index, {});
  console.log(JSON.stringify(found?.entries.map(({ name }) => name) ?? []));
}

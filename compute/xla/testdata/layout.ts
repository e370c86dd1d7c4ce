/**
 * Prints the layout of a `pjrt_c_api.h` as JSON: places of functions in its
 * table and offsets of fields, as the C compiler has them.
 *
 *     deno run -P=tools compute/xla/testdata/layout.ts .../pjrt_c_api.h > compute/xla/testdata/layout.json
 *
 * The wheel of `xla-cpu-pjrt` has the header of API 0.81.
 */
import { API, FUNCTIONS, STRUCTS } from "../pjrt_api.ts";

const header = Deno.readTextFileSync(Deno.args[0]);

/** Structs with `SUBJECT`, by its name there. */
const SUBJECTS = Object.keys(FUNCTIONS).flatMap((name) => {
  const struct = new RegExp(
    `struct ${name}_Args \\{\\s+size_t struct_size;\\s+PJRT_Extension_Base\\* extension_start;([^}]*)\\}`,
  ).exec(header)?.[1] ?? "";
  const field = /^\s*(?:\/\/[^\n]*\s*)*[^;]*?(\w+);/.exec(struct)?.[1];
  return field ? [[`${name}_Args`, field]] : [];
});

const values: [name: string, expression: string][] = [
  ["API minor version", "PJRT_API_MINOR"],
  ["PJRT_NamedValue", "sizeof(PJRT_NamedValue)"],
  ...Object.keys(FUNCTIONS).map((name): [string, string] => [
    name,
    `(offsetof(PJRT_Api, ${name}) - ${API.functions}) / 8`,
  ]),
  ...[
    ...SUBJECTS,
    ...Object.entries(STRUCTS).flatMap(([struct, fields]) =>
      Object.keys(fields).map((field) => [struct, field])
    ),
  ].map(([struct, field]): [string, string] => [
    `${struct}.${field}`,
    `offsetof(${struct}, ${field})`,
  ]),
];

const folder = Deno.makeTempDirSync();
Deno.writeTextFileSync(`${folder}/api.h`, header);
Deno.writeTextFileSync(
  `${folder}/layout.c`,
  `#include <stdio.h>\n#include "api.h"\nint main(void) {\n${
    values.map(([name, expression]) =>
      `  printf("${name} %ld\\n", (long)(${expression}));`
    ).join("\n")
  }\n}\n`,
);
const run = (command: string, ...args: string[]): string => {
  const { success, stdout, stderr } = new Deno.Command(command, { args })
    .outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
};
run("cc", "-w", "-o", `${folder}/layout`, `${folder}/layout.c`);
const lines = run(`${folder}/layout`).trim().split("\n");
Deno.removeSync(folder, { recursive: true });
const layout = Object.fromEntries(lines.map((line) => {
  const at = line.lastIndexOf(" ");
  return [line.slice(0, at), Number(line.slice(at + 1))];
}));
const text = JSON.stringify(layout, null, 2) + "\n";
Deno.stdout.writeSync(new TextEncoder().encode(text));

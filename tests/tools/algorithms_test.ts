import { assertEquals } from "@std/assert";
import { packages, ROOT, sourcesIn } from "./packages.ts";

const REGISTRY = "lab/runs/settings/algorithms.ts";

Deno.test("the registry is the one file that names the algorithms", async () => {
  const all = await packages();
  const algorithms = all.filter(({ isAlgorithm }) => isAlgorithm);
  const names = algorithms.map(({ name }) => name);
  const folders = [
    ...all.filter((it) => !it.isAlgorithm).map(({ folder }) => folder),
    ...["tests/tools", "tests/learning"],
  ];
  const naming = folders.flatMap(sourcesIn).filter((path) => {
    const text = Deno.readTextFileSync(ROOT + path);
    return names.some((name) =>
      new RegExp(`^(?! *\\*).*["']${name}["']`, "m").test(text)
    );
  });
  assertEquals(naming, [REGISTRY]);
  const { workspace, tasks } = JSON.parse(
    Deno.readTextFileSync(`${ROOT}deno.json`),
  );
  const configured = JSON.stringify({ workspace, tasks });
  assertEquals(
    algorithms.filter(({ folder }) => configured.includes(folder)),
    [],
  );

  // An import and a word in the list are all.
  const registry = Deno.readTextFileSync(ROOT + REGISTRY);
  for (const name of names) {
    const imports = registry.split("\n")
      .filter((line) =>
        !line.startsWith(" *") && line.endsWith(`from "${name}";`)
      );
    assertEquals(imports.length, 1, name);
  }
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { testsWith } from "../../../tests/testdata/tests_with.ts";
import { optunaPythons } from "../../search/optuna.ts";
import { parseYaml, writeYaml } from "./yaml.ts";

Deno.test("anchors represent what they repeat, up to a number of values", () => {
  assertEquals(parseYaml("a: &a [1, 2]\nb: *a"), { a: [1, 2], b: [1, 2] });
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 12; i++) {
    const nine = Array(9).fill(`*a${i - 1}`).join(", ");
    lines.push(`a${i}: &a${i} [${nine}]`);
  }
  for (const text of [lines.join("\n"), "a: &a {b: *a}", "&a [*a, *a]"]) {
    assertThrows(
      () => parseYaml(text),
      SyntaxError,
      "it has more than 1,000,000 values",
    );
  }
});

/** Texts that are nearly numbers or words of YAML, and numbers of every size. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."0123456789_.:eE+-xXobaf=~<yesnul") }),
  fc.string({ unit: "binary" }).filter((it) => it.isWellFormed()),
  fc.constantFrom("1_000", "1_000.5", "0x_f", "0_7", "\uE0000\uE001"),
);
const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -324, max: 308 }).map((power) => 10 ** power),
  fc.constantFrom(1e22, -2e38, 1e21, -0),
);
const data = fc.record({
  text: fc.array(text),
  number: fc.array(number),
  named: fc.dictionary(text.filter((it) => it !== "__proto__"), number, {
    noNullPrototype: true,
  }),
});

Deno.test("what is written is read as it was", () => {
  assertEquals(
    writeYaml({ rate: 1e22, small: 1e-7, whole: 3, "1_0": ["1_000", "a_1"] }),
    "rate: 1.e+22\nsmall: 1.e-7\nwhole: 3\n'1_0':\n  - '1_000'\n  - a_1\n",
  );
  fc.assert(fc.property(data, (value) => {
    assertEquals(parseYaml(writeYaml(value)), value);
  }));
});

const READ = `
import json, sys, yaml
shown = lambda it: {"text": it} if isinstance(it, str) else repr(float(it))
read = yaml.safe_load(sys.stdin.buffer.read().decode())
print(json.dumps([{
  "text": list(map(shown, it["text"])),
  "number": list(map(shown, it["number"])),
  "named": [[shown(key), shown(value)] for key, value in it["named"].items()],
} for it in read]))`;

/** What Python read. */
interface Read {
  text: { text: string }[];
  number: string[];
  named: [{ text: string }, string][];
}

/** Runs Python with an input; what it prints, or nothing. */
async function runPython(
  program: string,
  code: string,
  input = "",
): Promise<string | undefined> {
  try {
    const child = new Deno.Command(program, {
      args: ["-c", code],
      env: { PYTHONIOENCODING: "utf-8" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { success, stdout } = await child.output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch {
    return undefined;
  }
}

const pythons = [Deno.env.get("BELLMAN_PYTHON") ?? "", ...optunaPythons()];
const has = await Promise.all(
  pythons.map((it) => runPython(it, "import yaml")),
);
const python = pythons.find((_, i) => has[i] !== undefined);

testsWith("PyYAML", python !== undefined)(
  "PyYAML reads what is written as it was",
  async () => {
    const values = fc.sample(data, { seed: 1, numRuns: 200 });
    const read = await runPython(python!, READ, writeYaml(values));
    assert(read !== undefined);
    const numberOf = (it: string) => Number(it.replace("inf", "Infinity"));
    const numbers = (all: string[]) => all.map(numberOf);
    JSON.parse(read).forEach((it: Read, i: number) => {
      const { text, number, named } = values[i];
      assertEquals(it.text, text.map((text) => ({ text })));
      assertEquals(numbers(it.number), number);
      const pairs = it.named
        .map(([{ text }, value]): [string, number] => [text, numberOf(value)]);
      assertEquals(pairs, Object.entries(named));
    });
  },
);

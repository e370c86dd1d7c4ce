import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Screen } from "../../../algorithms/training/testdata/screen.ts";
import { runDeno } from "../../../tests/testdata/run_deno.ts";
import { displayOn } from "../../../cli/terminal/display.ts";
import { printable } from "./process.ts";

/** What a stranger's text may hold: a title, a cleared screen, colours, C1, bidi. */
const EVIL = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b2K\u202etxt\r\b\x00";
// deno-lint-ignore no-control-regex -- those are what is looked for
const COMMANDS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;

Deno.test("what commands a terminal is written out, in JSON too, and lines stay", () => {
  const all = String.fromCharCode(
    ...Array.from({ length: 0x2100 }, (_, i) => i),
  );
  for (const text of [all, EVIL]) {
    const shown = printable(text);
    assert(!COMMANDS.test(shown));
    assertEquals(
      JSON.parse(printable(JSON.stringify(text))),
      text,
      "JSON has another value",
    );
  }
  assertEquals(printable("a\n\tü € 😀\n"), "a\n\tü € 😀\n");
});

Deno.test("the process's streams take texts of strangers", async () => {
  const text = JSON.stringify(EVIL);
  const module = import.meta.resolve("./process.ts");
  const { out, err } = await runDeno([`
    import { processIo } from "${module}";
    const io = processIo();
    io.out(${text});
    io.err(${text});
    io.raw.err("\\x1b[K");
  `], { command: "eval" });
  assertEquals(out, printable(EVIL));
  assertEquals(err, `${printable(EVIL)}\x1b[K`);
});

Deno.test("a display keeps its own commands, and none of what is printed above it", () => {
  let text = "";
  const write = (more: string) => text += more;
  const raw = { out: write, err: write };
  const { io, progress } = displayOn(
    { out: write, err: write, raw, errIsTerminal: true, outIsTerminal: true },
    { quiet: false, speed: () => "" },
  );
  progress!.update({
    ...{ step: 5, totalTimesteps: 10, startStep: 0, meanReturn: NaN },
  });
  io.out(`${EVIL}\n`);
  io.err(`${EVIL}\n`);
  assert(!text.includes("\x1b[2J") && !text.includes("\x1b]"), text);
  const screen = new Screen({ columns: 80, rows: 24 });
  screen.write(text);
  const shown = screen.lines.join("");
  assertEquals(shown.split(printable(EVIL)).length, 3, shown);
  assertStringIncludes(shown, "50%");
});

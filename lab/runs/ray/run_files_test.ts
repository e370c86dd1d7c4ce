import { assertEquals } from "@std/assert";
import { testsWith } from "../../../tests/testdata/tests_with.ts";
import { hasPython, PYTHON } from "./testdata/scripted_ray.ts";
import texts from "./texts.json" with { type: "json" };

const test = testsWith("Python", hasPython);

/** Runs Python after the text of the program, in a folder; returns what it prints. */
async function python(code: string, files: Record<string, string> = {}) {
  const dir = await Deno.makeTempDir({ prefix: "bellman-files-" });
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = `${dir}/${name}`;
      Deno.mkdirSync(path.replace(/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(path, text);
    }
    const lines = [texts["run_files.py"], "import json", code];
    const { stdout, stderr } = await new Deno.Command(PYTHON, {
      args: ["-c", lines.join("\n")],
      cwd: dir,
      env: { TMPDIR: dir },
    }).output();
    const told = new TextDecoder().decode(stdout);
    if (told === "") throw new Error(new TextDecoder().decode(stderr));
    return JSON.parse(told);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const FILES = {
  "run.json": "{}",
  "progress.csv": "time\n",
  "policy.onnx.tmp": "",
  "run.lock": "",
  "checkpoints/step_2.safetensors": "two",
  "checkpoints/best.safetensors.tmp": "",
  "plots/a.svg": "<svg>",
};

test("files come before the checkpoints that need them, and the result last", async () => {
  const order =
    "print(json.dumps([it[0] for it in parts_of('.', files_of('.'))]))";
  assertEquals(await python(order, FILES), [
    "plots/a.svg",
    "progress.csv",
    "checkpoints/step_2.safetensors",
    "run.json",
  ]);
});

test("a checkpoint is sent as it was, whatever becomes of it meanwhile", async () => {
  const code = `
parts = parts_of('.', files_of('.'))
taken = [next(parts)]
os.remove('checkpoints/step_2.safetensors')
os.remove('run.json')
taken += list(parts)
print(json.dumps([[it[0], it[2].decode()] for it in taken]))`;
  assertEquals((await python(code, FILES)).slice(1), [
    ["progress.csv", "time\n"],
    ["checkpoints/step_2.safetensors", "two"],
  ]);
});

test("large files that grow wait for a checkpoint, or the end", async () => {
  const code = `
before = {'replay.rows': (1, 1, LARGE), 'progress.csv': (2, 1, 9)}
now = {'replay.rows': (1, 2, LARGE + 1), 'progress.csv': (2, 2, 19)}
more = {**now, 'checkpoints/step_2.safetensors': (3, 1, 5)}
print(json.dumps([changes_of({}, before, False), changes_of(before, now, False),
  changes_of(before, more, False), changes_of(before, now, True)]))`;
  const both = ["replay.rows", "progress.csv"];
  assertEquals(await python(code), [
    both,
    ["progress.csv"],
    [...both, "checkpoints/step_2.safetensors"],
    both,
  ]);
});

test("a file of many parts has its name when it is whole, and what is removed goes", async () => {
  const code = `
PART = 4
parts = list(parts_of('.', ['progress.csv']))
change('copy', parts[:-1])
half = files_of('copy')
change('copy', parts[-1:])
whole = open('copy/progress.csv').read()
change('copy', [('checkpoints/x', 0, b'half', False)], ['progress.csv', 'none'])
drop_parts('copy')
left = [names for _, _, names in os.walk('copy')]
print(json.dumps([len(parts), half, whole, sum(left, [])]))`;
  const text = "0123456789";
  assertEquals(await python(code, { "progress.csv": text }), [3, {}, text, []]);
});

test("a name that leads out of the folder is refused, and nothing is written", async () => {
  const code = `
refused = 0
for name in ['../x', '/tmp/bellman-x', 'a/../../x', '..', 'a//b']:
    for parts, removed in [([('y', 0, b'', True), (name, 0, b'', True)], []), ([], [name])]:
        try:
            change('copy', parts, removed)
        except OSError as error:
            refused += 'is no file of a run' in str(error)
print(json.dumps([refused, os.path.exists('copy')]))`;
  assertEquals(await python(code), [10, false]);
});

test("folders of processes that are gone are removed, and no others", async () => {
  const code = `
made, lock = make_folder()
os.mkdir('bellman-run-old')
open('bellman-run-old/lock', 'w').close()
os.mkdir('bellman-run-new')
other, its = make_folder()
found = sorted(it for it in os.listdir('.') if it.startswith('bellman-run-'))
print(json.dumps([os.path.basename(it) in found for it in (made, other, 'bellman-run-new', 'bellman-run-old')]))`;
  assertEquals(await python(code), [true, true, true, false]);
});

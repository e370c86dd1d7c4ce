/**
 * Runs the module benches: `deno task bench [FOLDER...] [--json]`. With `--json`
 * it prints an object a line: `{ bench, peer, ours, theirs, ratio, spread }`,
 * times in nanoseconds. The baseline of a group is ours, the others its peers,
 * and the ratio says how many times as fast ours is.
 */
import { LOCK, ROOT } from "./packages.ts";

interface BenchTimes {
  avg: number;
  min: number;
  p75: number;
}

interface Bench {
  name: string;
  group: string | null;
  baseline: boolean;
  results: { ok?: BenchTimes }[];
}

const args = Deno.args.filter((it) => it !== "--json");
const wantsJson = args.length < Deno.args.length;
const command = ["bench", LOCK, "--no-check", "-P=bench", ...args];

/** Returns the distance of a quarter of the runs from the fastest, relative to the mean. */
function spreadOf({ avg, min, p75 }: BenchTimes): number {
  return (p75 - min) / avg;
}

function timesOf(bench: Bench | undefined): BenchTimes | undefined {
  return bench?.results[0]?.ok;
}

function lines(benches: Bench[]): Record<string, unknown>[] {
  const baselineOf = ({ group }: Bench): Bench | undefined =>
    benches.find((it) =>
      it.baseline && it.group !== null && it.group === group
    );
  return benches.flatMap((bench) => {
    const baseline = baselineOf(bench);
    const isPeer = baseline !== undefined && baseline !== bench;
    const hasPeers = baseline === bench &&
      benches.some((it) => it.group === bench.group && it !== bench);
    const ours = timesOf(isPeer ? baseline : bench);
    if (ours === undefined || hasPeers) return [];
    const theirs = isPeer ? timesOf(bench)?.avg ?? null : null;
    return [{
      bench: isPeer ? `${bench.group}: ${baseline.name}` : bench.name,
      peer: isPeer ? bench.name : null,
      ours: ours.avg,
      theirs,
      ratio: theirs === null ? null : theirs / ours.avg,
      spread: spreadOf(ours),
    }];
  });
}

if (wantsJson) {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...command, "--json"],
    cwd: ROOT,
  }).output();
  const decoder = new TextDecoder();
  if (!success) {
    console.error(decoder.decode(stderr));
    Deno.exit(1);
  }
  const text = decoder.decode(stdout);
  // A bench may print lines of its own before the report.
  const { benches } = JSON.parse(text.slice(text.indexOf("{\n")));
  for (const line of lines(benches)) console.log(JSON.stringify(line));
} else {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: command,
    cwd: ROOT,
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  Deno.exit(code);
}

/**
 * Goes on from snapshots in another process: reads `{ game, options, snapshot }`
 * for some games from the file that is named, and prints the SHA-256 of what
 * `play` sees of each.
 */
import { createHash } from "node:crypto";
import { deserialize } from "node:v8";
import { Ale } from "../emulator/ale.ts";
import { play } from "./play.ts";

const [file, frames, seed] = Deno.args;
for (const it of deserialize(Deno.readFileSync(file))) {
  using ale = new Ale(it.game, it.options);
  ale.load(it.snapshot);
  const digest = createHash("sha256");
  digest.update(play(ale, Number(frames), Number(seed)));
  Deno.stdout.writeSync(
    new TextEncoder().encode(digest.digest("hex") + "\n"),
  );
}

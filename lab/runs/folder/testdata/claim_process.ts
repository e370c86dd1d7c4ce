/**
 * Makes run folders at moments at which other processes make the same ones, and
 * prints which it got. Run by tests.
 */
import { createRunFolder } from "../run_folder.ts";

const [root, id, start, rounds] = Deno.args;
const configText = `id: ${id}\n`;
const got: [dir: string, alone: boolean][] = [];
for (let round = 0; round < Number(rounds); round++) {
  const moment = Number(start) + 20 * round;
  while (Date.now() < moment) await new Promise((go) => setTimeout(go));
  const { dir } = createRunFolder(`${root}/run${round}`, {
    configText,
    ifTaken: "next",
  });
  let alone = true;
  try {
    createRunFolder(`${root}/one${round}`, { configText });
  } catch (error) {
    if (!(error as Error).message.includes("already holds")) throw error;
    alone = false;
  }
  got.push([dir, alone]);
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(got)));

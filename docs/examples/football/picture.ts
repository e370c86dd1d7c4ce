// deno-lint-ignore-file no-console -- a program that prints
/**
 * Draws the first goal of an agent, on the left, against the rule or another agent.
 *
 *     deno run -A --no-lock docs/examples/football/picture.ts FILE.gif AGENT.onnx [OTHER.onnx]
 */
import { Player } from "@bellman/client/play";
import { SeededRandom } from "@bellman/envs";
import { GifWriter } from "@bellman/runs/play";
import { BALL, type Football, GOAL, LENGTH, PLAYER, WIDTH } from "./game.ts";
import { Match, scripted, seenBy } from "./world.ts";

/** Pixels of a metre, and of the whole field with a metre around it. */
const SCALE = 18, WIDE = SCALE * 2 * (LENGTH + 1), HIGH = SCALE * 2 * WIDTH;

/** Red, green and blue of a place in the field. */
function colorAt(game: Football, x: number, y: number): number[] {
  const isIn = (body: Football["ball"], radius: number) =>
    Math.hypot(x - body.getPosition().x, y - body.getPosition().y) < radius;
  if (isIn(game.ball, BALL)) return [255, 255, 255];
  if (isIn(game.players[0], PLAYER)) return [77, 171, 247];
  if (isIn(game.players[1], PLAYER)) return [255, 146, 43];
  if (Math.abs(x) < LENGTH) return [43, 138, 62];
  return Math.abs(y) < GOAL ? [216, 245, 162] : [33, 37, 41];
}

function draw(game: Football) {
  const data = new Uint8Array(3 * WIDE * HIGH);
  for (let i = 0; i < WIDE * HIGH; i++) {
    const x = (i % WIDE + 0.5) / SCALE - LENGTH - 1;
    const y = WIDTH - (Math.floor(i / WIDE) + 0.5) / SCALE;
    data.set(colorAt(game, x, y), 3 * i);
  }
  return { width: WIDE, height: HIGH, data };
}

const [file, ...agents] = Deno.args, random = new SeededRandom(1);
const minds = await Promise.all(agents.map(async (it) => {
  const player = new Player<number>(await Deno.readFile(it));
  return (game: Football, side: number) => player.act(seenBy(game, side));
}));
const sides = [minds[0], minds[1] ?? scripted];
const match = new Match(), reset = { random, parameters: { guidance: 0 } };
for (let goal = 0; goal !== 1;) {
  match.reset(reset);
  const gif = new GifWriter(file, match.framesPerSecond);
  for (let isOver = false; !isOver;) {
    await gif.show(draw(match.game));
    const step = match.step(sides.map((it, side) => it(match.game, side)));
    isOver = step.terminated[0] || step.truncated[0];
    goal = step.reward[0];
  }
  await gif.show(draw(match.game));
  if (goal === 1) console.log(await gif.finish());
  else await gif.abort();
}

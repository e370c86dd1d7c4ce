/// <reference lib="dom" />
/** Football in a page: for a trainer, for two people, or for one against the agent. */
import { connect } from "@bellman/client";
import { Player } from "@bellman/client/play";
import {
  directionTo,
  FIELD,
  Football,
  FRAMES,
  RADIUS,
  scripted,
} from "./game.ts";

const canvas = document.querySelector("canvas")!;
const keys = new Set<string>();
addEventListener("keydown", ({ code }) => keys.add(code));
addEventListener("keyup", ({ code }) => keys.delete(code));

/** Action of a player that looks at its side of the field. */
type Mind = (seen: number[]) => number;

/** A person at four keys: up, left, down, right. */
function person(codes: string, side: 1 | -1): Mind {
  const [up, left, down, right] = codes.split(" ");
  const held = (code: string) => Number(keys.has(code));
  return () =>
    directionTo(
      side * (held(right) - held(left)),
      side * (held(up) - held(down)),
    );
}

const red = person("KeyW KeyA KeyS KeyD", 1);
const blue = person("ArrowUp ArrowLeft ArrowDown ArrowRight", -1);

const frame = () => new Promise(requestAnimationFrame);

function draw({ ball, players }: Football): void {
  const context = canvas.getContext("2d")!, { x, y, goal } = FIELD;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(80, 0, 0, -80, canvas.width / 2, canvas.height / 2);
  context.fillStyle = "#fff4";
  for (const end of [-x - 1, x]) context.fillRect(end, -goal, 1, 2 * goal);
  context.lineWidth = 0.04;
  context.strokeStyle = "#fff8";
  context.strokeRect(-x, -y, 2 * x, 2 * y);
  const circle = (it: typeof ball, radius: number, color: string) => {
    const at = it.getPosition();
    context.fillStyle = color;
    context.beginPath();
    context.arc(at.x, at.y, radius, 0, 7);
    context.fill();
  };
  circle(ball, RADIUS.ball, "#fff");
  circle(players[0], RADIUS.player, "#ef4444");
  circle(players[1], RADIUS.player, "#3b82f6");
}

/** Plays an action of each for its frames, at 60 frames a second. */
async function play(game: Football, minds: readonly Mind[]) {
  const seen = game.see();
  const action = minds.map((it, seat) => it(seen[seat]));
  for (let count = 0; count < FRAMES; count++) {
    game.move(action);
    draw(game);
    await frame();
  }
  return { ...game.judge(), action };
}

/** The game with two people, whom a trainer may watch. */
class Match extends Football {
  watch() {
    const isScripted = location.search.includes("scripted");
    return play(this, isScripted ? [scripted, scripted] : [red, blue]);
  }
}

async function playAgent(): Promise<void> {
  const file = await fetch("policy.onnx");
  const player = file.ok
    ? new Player<number>(new Uint8Array(await file.arrayBuffer()))
    : undefined;
  const agent: Mind = player ? (seen) => player.act(seen) : blue;
  const game = new Football(), score = [0, 0];
  const random = { uniform: Math.random };
  for (game.reset({ random });;) {
    const { reward, terminated, truncated } = await play(game, [red, agent]);
    if (!terminated[0] && !truncated[0]) continue;
    reward.forEach((it, seat) => score[seat] += Math.max(0, it));
    document.querySelector("#score")!.textContent = score.join(" : ");
    game.reset({ random });
  }
}

if (!connect(() => new Match())) playAgent();

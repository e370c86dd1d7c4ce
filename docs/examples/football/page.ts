/// <reference lib="dom" />
/** The page: a trainer gets matches; a person plays one against the trained agent. */
import { connect } from "@bellman/client";
import { Player } from "@bellman/client/play";
import {
  BALL,
  DIRECTIONS,
  Football,
  GOAL,
  LENGTH,
  PLAYER,
  WIDTH,
} from "./game.ts";
import { act, Match, seenBy, TICKS } from "./world.ts";

const canvas = document.querySelector("canvas")!;
const pen = canvas.getContext("2d")!;
const score = document.querySelector("p")!;

function draw(game: Football): void {
  const scale = canvas.width / (2 * LENGTH + 2);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = "#2b8a3e";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(scale, 0, 0, -scale, canvas.width / 2, canvas.height / 2);
  pen.lineWidth = 0.1;
  pen.strokeStyle = "white";
  pen.strokeRect(-LENGTH, -WIDTH, 2 * LENGTH, 2 * WIDTH);
  for (const end of [-1, 1]) pen.strokeRect(end * LENGTH, -GOAL, end, 2 * GOAL);
  const disc = (body: Football["ball"], radius: number, color: string) => {
    const { x, y } = body.getPosition();
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.fillStyle = color;
    pen.fill();
  };
  disc(game.players[0], PLAYER, "#4dabf7");
  disc(game.players[1], PLAYER, "#ff922b");
  disc(game.ball, BALL, "white");
}

/** Plays with the arrow keys against an agent, at 60 frames a second. */
function play(player: Player<number>): void {
  const game = new Football(), held = new Set<string>(), goals = [0, 0];
  let frames = 0, agent = 0;
  addEventListener("keydown", ({ key }) => held.add(key));
  addEventListener("keyup", ({ key }) => held.delete(key));
  game.kickOff(Math.random);
  const axis = (more: string, less: string) =>
    Number(held.has(`Arrow${more}`)) - Number(held.has(`Arrow${less}`));
  const frame = () => {
    if (frames++ % TICKS === 0) agent = player.act(seenBy(game, 1));
    const [x, y] = [axis("Right", "Left"), axis("Up", "Down")];
    const own = DIRECTIONS.findIndex((it) => it[0] === x && it[1] === y);
    [own, agent].forEach((it, side) => act(game, side, it));
    const goal = game.tick();
    if (goal !== 0) {
      goals[goal > 0 ? 0 : 1]++;
      game.kickOff(Math.random);
    }
    score.textContent = `You ${goals[0]} : ${goals[1]} the agent`;
    draw(game);
    requestAnimationFrame(frame);
  };
  frame();
}

if (!connect((kwargs) => new Match(kwargs))) {
  const file = await fetch("policy.onnx");
  if (file.ok) play(new Player(new Uint8Array(await file.arrayBuffer())));
  else score.textContent = "There is no policy.onnx beside this page";
}

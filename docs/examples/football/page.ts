/// <reference lib="dom" />
/** The page: matches for a trainer, of two people, or of one against the agent. */
import { connect } from "@bellman/client";
import { Player } from "@bellman/client/play";
import {
  BALL,
  DIRECTIONS,
  type Football,
  GOAL,
  LENGTH,
  PLAYER,
  WIDTH,
} from "./game.ts";
import { Match, scripted, seenBy, TICKS } from "./world.ts";

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

const held = new Set<string>();
addEventListener("keydown", ({ code }) => held.add(code));
addEventListener("keyup", ({ code }) => held.delete(code));

/** Chooses an action for a side. */
type Mind = (game: Football, side: number) => number;

/** A person at four keys: up, left, down and right. */
function person(codes: string): Mind {
  const [up, left, down, right] = codes.split(" ");
  const axis = (more: string, less: string) =>
    Number(held.has(more)) - Number(held.has(less));
  return (_, side) => {
    // Actions are those of a side that runs to the right.
    const x = (side === 0 ? 1 : -1) * axis(right, left), y = axis(up, down);
    return DIRECTIONS.findIndex((it) => it[0] === x && it[1] === y);
  };
}

const LEFT = person("KeyW KeyA KeyS KeyD");
const RIGHT = person("ArrowUp ArrowLeft ArrowDown ArrowRight");

/** Plays an action of each side for its ticks, at 60 frames a second. */
async function play(match: Match, minds: readonly Mind[]) {
  const { game } = match;
  const action = minds.map((it, side) => it(game, side));
  let goal = 0;
  for (let i = 0; i < TICKS && goal === 0; i++) {
    goal = match.tick(action);
    draw(game);
    await new Promise(requestAnimationFrame);
  }
  return { ...match.judge(goal), action, goal };
}

/** A match that two people play where a trainer watches them. */
class Watched extends Match {
  watch() {
    const isScripted = location.search.includes("scripted");
    return play(this, isScripted ? [scripted, scripted] : [LEFT, RIGHT]);
  }
}

/** A person on the left against an agent, or against another person. */
async function playForEver(right: Mind): Promise<void> {
  const match = new Match(), goals = [0, 0];
  const kickOff = () => match.game.kickOff(Math.random);
  for (kickOff();;) {
    const { goal } = await play(match, [LEFT, right]);
    if (goal === 0) continue;
    goals[goal > 0 ? 0 : 1]++;
    score.textContent = goals.join(" : ");
    kickOff();
  }
}

if (!connect((kwargs) => new Watched(kwargs))) {
  const file = await fetch("policy.onnx");
  if (!file.ok) playForEver(RIGHT);
  else {
    const player = new Player<number>(new Uint8Array(await file.arrayBuffer()));
    playForEver((game, side) => player.act(seenBy(game, side)));
  }
}

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { decode as decodePng } from "fast-png";
import { decode, decodeFrames } from "modern-gif";
import { hasFfmpeg } from "@bellman/runs/play";
import { copyRun, editCheckpoints, editRecord } from "../../tests/runs.ts";
import { capture } from "../testdata/capture.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-play-" });
const run = `${dir}/run`;
const trained = await capture(
  ...["train", "--backend=wasm", "--steps=400", "--set=numEnvs=4", "--quiet"],
  ...["--out", run],
);
assertEquals(trained.code, 0, trained.err);

Deno.test("play writes a GIF with a picture for each step", async () => {
  const gif = `${dir}/play.gif`;
  const size = ["--width=60", "--height=40"];
  const { code, out } = await capture("play", run, "--gif", gif, ...size);
  assertEquals(code, 0);
  const steps = Number(out.match(/, (\d+) steps/)![1]);
  const { width, height, frames } = decode(
    Deno.readFileSync(gif).buffer as ArrayBuffer,
  );
  assertEquals([width, height, frames.length], [60, 40, steps]);
});

/** Size, frame rate and number of pictures of an MP4. */
async function probe(path: string): Promise<string> {
  const { stdout } = await new Deno.Command("ffprobe", {
    args: [
      ...["-v", "error", "-count_frames", "-select_streams", "v"],
      ...["-show_entries", "stream=width,height,r_frame_rate,nb_read_frames"],
      ...["-of", "csv=p=0", path],
    ],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("play shows the environment in its own size and at its own speed", async () => {
  const gif = `${dir}/own.gif`;
  assertEquals((await capture("play", run, "--gif", gif)).code, 0);
  const read = () => decode(Deno.readFileSync(gif).buffer as ArrayBuffer);
  const own = read();
  assertEquals([own.width, own.height], [600, 400]);
  // CartPole takes 50 steps a second.
  assertEquals(new Set(own.frames.map(({ delay }) => delay)), new Set([20]));
  await capture("play", run, "--gif", gif, "--width=300", "--every=2");
  const half = read();
  assertEquals([half.width, half.height], [300, 200]);
  assertEquals(half.frames.length, Math.ceil(own.frames.length / 2));
  assertEquals(new Set(half.frames.map(({ delay }) => delay)), new Set([40]));
  await capture("play", run, "--gif", gif, "--fps=10");
  assertEquals(read().frames[0].delay, 100);
});

Deno.test("play counts one step of an episode as one", async () => {
  const { out } = await capture(
    "play",
    run,
    "--png",
    `${dir}/one`,
    "--max-steps=1",
  );
  assertStringIncludes(out, "episode 1: return 1, 1 step (cut)\n");
});

Deno.test("an MP4 has the environment's size and frame rate [ffmpeg]", {
  ignore: !await hasFfmpeg(),
}, async () => {
  const mp4 = `${dir}/own.mp4`;
  const { out } = await capture("play", run, "--mp4", mp4);
  const steps = out.match(/, (\d+) steps/)![1];
  assertEquals(await probe(mp4), `600,400,50/1,${steps}`);
});

Deno.test("play writes step and return on the pictures, unless they are not wanted", async () => {
  const shown = async (...options: string[]) => {
    const gif = `${dir}/caption.gif`;
    await capture("play", run, "--gif", gif, "--every=1000", ...options);
    const bytes = Deno.readFileSync(gif).buffer as ArrayBuffer;
    const [{ data }] = decodeFrames(bytes);
    // The lowest rows, in the middle between the letters and the edge.
    return data.slice(4 * 600 * 398, 4 * 600 * 398 + 3);
  };
  assertEquals([...await shown()], [63, 63, 63]);
  assertEquals([...await shown("--no-caption")], [255, 255, 255]);
});

Deno.test("play writes PNGs that show the environment", async () => {
  const png = `${dir}/pictures`;
  const { code } = await capture("play", run, "--png", png);
  assertEquals(code, 0);
  const picture = decodePng(
    Deno.readFileSync(`${png}/episode_1_step_00000.png`),
  );
  assertEquals([picture.width, picture.height], [600, 400]);
  assert(new Set(picture.data).size > 5);
});

Deno.test("play makes the folder of pictures with the first one", async () => {
  const broken = `${dir}/broken`;
  copyRun(run, broken);
  editRecord(broken, ({ settings }) => ({
    settings: { ...settings, env: "Acrobot-v1" },
  }));
  editCheckpoints(
    broken,
    (it) => it.replace("env: CartPole-v1", "env: Acrobot-v1"),
  );
  const png = `${dir}/unmade`;
  const { code } = await capture("play", broken, "--png", png);
  assert(code !== 0);
  await assertRejects(() => Deno.stat(png), Deno.errors.NotFound);
});

/** Waits until there is something at a path. */
async function isThere(path: string): Promise<void> {
  for (;;) {
    try {
      await Deno.stat(path);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

for (const kind of ["gif", "mp4"]) {
  Deno.test({
    name: `play that is interrupted leaves nothing of its ${kind}${
      kind === "mp4" ? " [ffmpeg]" : ""
    }`,
    // A program of the user's, and a signal that Windows lacks.
    ignore: kind === "mp4" && !await hasFfmpeg() ||
      Deno.build.os === "windows",
    fn: async () => {
      const videos = `${dir}/videos_${kind}`;
      await Deno.mkdir(videos);
      const path = `${videos}/x.${kind}`;
      await Deno.writeTextFile(path, "an older one");
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-q", "--no-check", "--allow-all"],
          new URL("../main.ts", import.meta.url).pathname,
          ...["play", run, `--${kind}`, path, "--episodes=1000000"],
        ],
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      await Promise.race([isThere(`${path}.tmp`), child.status]);
      child.kill("SIGTERM");
      const { code, stderr } = await child.output();
      const said = new TextDecoder().decode(stderr);
      assertEquals(code, 143, said);
      assertStringIncludes(said, "Interrupted");
      const left = [...Deno.readDirSync(videos)].map(({ name }) => name);
      assertEquals(left, [`x.${kind}`]);
      assertEquals(await Deno.readTextFile(path), "an older one");
    },
  });
}

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});

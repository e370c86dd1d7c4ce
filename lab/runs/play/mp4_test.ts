import { assert, assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "../program/errors.ts";
import { hasFfmpeg, Mp4Writer } from "./mp4.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";

const ignore = !await hasFfmpeg(); // A program of the user's.
const test = testsWith("ffmpeg", !ignore);

function solid(width: number, height: number, red: number) {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < data.length; i += 3) data[i] = red;
  return { width, height, data };
}

/** Width, height and number of pictures of a video. */
async function probe(path: string): Promise<string> {
  const { stdout } = await new Deno.Command("ffprobe", {
    args: [
      ...["-v", "error", "-count_frames", "-select_streams", "v"],
      ...["-show_entries", "stream=width,height,nb_read_frames"],
      ...["-of", "csv=p=0", path],
    ],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

test("an MP4 has each picture, with sides made even", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/play.mp4`;
  const video = new Mp4Writer(path, 20);
  for (let i = 0; i < 7; i++) await video.show(solid(33, 20, 30 * i));
  await video.finish();
  assertEquals(await probe(path), "34,20,7");
  assertEquals([...Deno.readDirSync(dir)].length, 1);
  await Deno.remove(dir, { recursive: true });
});

test("a video that cannot be written is one clear line", async () => {
  const video = new Mp4Writer("/nowhere/at/all/play.mp4", 20);
  await video.show(solid(8, 8, 1));
  const error = await assertRejects(() => video.finish(), UsageError);
  assert(error.message.startsWith("Cannot write /nowhere/at/all/play.mp4"));
  assertEquals(error.message.split("\n").length, 1);
});

test("a video that is given up leaves nothing", async () => {
  const dir = await Deno.makeTempDir();
  const video = new Mp4Writer(`${dir}/play.mp4`, 20);
  await video.show(solid(8, 8, 1));
  await video.abort();
  assertEquals([...Deno.readDirSync(dir)], []);
  await new Mp4Writer(`${dir}/none.mp4`, 20).abort();
  await Deno.remove(dir, { recursive: true });
});

Deno.test("an MP4 is written through no link [ffmpeg]", {
  ignore: ignore || Deno.build.os === "windows",
}, async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/play.mp4`, kept = `${dir}/kept`;
  await Deno.writeTextFile(kept, "kept");
  await Deno.symlink(kept, `${path}.tmp`);
  const video = new Mp4Writer(path, 20);
  await video.show(solid(32, 20, 30));
  await video.finish();
  assertEquals(await Deno.readTextFile(kept), "kept");
  assert((await Deno.lstat(path)).isFile);
  await Deno.remove(dir, { recursive: true });
});

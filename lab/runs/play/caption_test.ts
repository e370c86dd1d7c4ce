import { assert, assertEquals } from "@std/assert";
import { captionOf, withCaption } from "./caption.ts";

const grey = (width: number, height: number) => ({
  width,
  height,
  data: new Uint8Array(width * height * 3).fill(128),
});

Deno.test("a caption tells step and return, and the episode of several", () => {
  const moment = { episode: 2, step: 17, return: -3.25 };
  assertEquals(captionOf(moment), "STEP 17  RETURN -3.3");
  assertEquals(
    captionOf({ ...moment, return: 21 }, 3),
    "EPISODE 2  STEP 17  RETURN 21",
  );
});

Deno.test("a caption is drawn over the lowest rows alone", () => {
  const image = grey(200, 100);
  const { width, height, data } = withCaption(image, "STEP 1");
  assertEquals([width, height], [200, 100]);
  const top = 100 - 13;
  assert(data.subarray(0, 3 * 200 * top).every((it) => it === 128));
  assertEquals(new Set(data.subarray(3 * 200 * top)), new Set([32, 255]));
  assert(image.data.every((it) => it === 128));
  // The T: a bar of five pixels above a stem of one.
  const row = (y: number) =>
    Array.from(
      { length: 6 },
      (_, x) => data[3 * ((top + 3 + y) * 200 + 3 + 6 + x)] === 255 ? 1 : 0,
    );
  assertEquals(row(0), [1, 1, 1, 1, 1, 0]);
  assertEquals(row(3), [0, 0, 1, 0, 0, 0]);
});

Deno.test("letters grow with the image, and a narrow one has none", () => {
  const white = (image: ReturnType<typeof grey>) =>
    withCaption(image, "STEP 1").data.filter((it) => it === 255).length;
  assertEquals(white(grey(600, 400)), 4 * white(grey(200, 100)));
  const narrow = grey(30, 100);
  assertEquals(withCaption(narrow, "STEP 1"), narrow);
});

Deno.test("every letter and digit of captions has a glyph", () => {
  const text = captionOf({ episode: 123, step: 4567, return: -890.1 }, 2) +
    captionOf({ episode: 1, step: 1, return: NaN }) +
    captionOf({ episode: 1, step: 1, return: Infinity });
  for (const letter of new Set(text.replaceAll(" ", ""))) {
    assert(
      withCaption(grey(50, 50), letter).data.some((it) => it === 255),
      `no glyph for ${letter}`,
    );
  }
});

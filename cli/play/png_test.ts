import { assertEquals } from "@std/assert";
import { decode } from "fast-png";
import { encodePng } from "./png.ts";

Deno.test("a PNG holds the picture exactly", () => {
  const data = Uint8Array.from({ length: 5 * 3 * 3 }, (_, i) => i * 5);
  const decoded = decode(encodePng({ width: 5, height: 3, data }));
  assertEquals([decoded.width, decoded.height, decoded.channels], [5, 3, 3]);
  assertEquals(new Uint8Array(decoded.data.buffer), data);
});

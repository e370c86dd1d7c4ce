import { assertEquals } from "@std/assert";
import { renderAnimation } from "./animation.ts";
import { renderCurves } from "./curves.ts";
import { NotebookImage } from "./notebook_image.ts";

/** Asks an object for its media types, as `deno jupyter` does. */
function displayed(image: object): Record<string, string> {
  type Shown = Record<symbol, () => Record<string, string>>;
  return (image as Shown)[Symbol.for("Jupyter.display")]();
}

Deno.test("a notebook gets curves as the SVG image that they are", () => {
  const runs = [{ x: [0, 100], y: [1, 5] }];
  const svg = renderCurves([{ name: "a2c", runs }]);
  assertEquals(displayed(new NotebookImage(svg)), { "image/svg+xml": svg });
});

Deno.test("a notebook gets an animation as a page that holds it, with a text", () => {
  const gif = renderAnimation([
    { width: 1, height: 1, data: Uint8Array.of(1, 2, 3) },
  ]);
  const { "text/html": html, ...others } = displayed(
    new NotebookImage(gif, 'a "pole"'),
  );
  assertEquals(others, {});
  const [, text, base64] = html.match(
    /^<img alt="([^"]*)" src="data:image\/gif;base64,([^"]*)">$/,
  )!;
  assertEquals(text, "a &quot;pole&quot;");
  assertEquals(Uint8Array.fromBase64(base64), gif);
});

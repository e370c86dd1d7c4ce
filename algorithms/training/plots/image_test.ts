import { assertEquals } from "@std/assert";
import { escapeMarkup } from "./image.ts";

Deno.test("what has a meaning in markup is escaped", () => {
  assertEquals(
    escapeMarkup('<a href="x">&</a>'),
    "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;",
  );
  assertEquals(escapeMarkup("&lt;"), "&amp;lt;");
});

Deno.test("what XML does not allow is left out, all else is kept", () => {
  assertEquals(escapeMarkup("a\u0000\u0008b\uFFFE\uD800c"), "abc");
  assertEquals(escapeMarkup("tab\t, π, 😀"), "tab\t, π, 😀");
});

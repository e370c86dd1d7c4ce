// deno-lint-ignore-file no-console -- a program that prints
/**
 * Serves the game: `deno run -A examples/football/serve.ts [PORT]`. A `policy.onnx` in
 * this folder plays blue.
 */
const folder = new URL(".", import.meta.url);
const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
  args: ["bundle", "-q", "--no-lock", "--platform", "browser"]
    .concat(new URL("page.ts", folder).pathname),
}).output();
if (!success) {
  console.error(new TextDecoder().decode(stderr));
  Deno.exit(1);
}
const TYPES: Record<string, string> = {
  "/": "text/html",
  "/page.js": "text/javascript",
};
Deno.serve({
  hostname: "127.0.0.1",
  port: Number(Deno.args[0] ?? 5173),
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/`),
}, async ({ url }) => {
  const { pathname } = new URL(url);
  const type = TYPES[pathname] ?? "application/octet-stream";
  const headers = { "content-type": type };
  if (pathname === "/page.js") return new Response(stdout, { headers });
  const name = pathname === "/" ? "index.html" : "policy.onnx";
  try {
    return new Response(await Deno.readFile(new URL(name, folder)), {
      headers,
    });
  } catch {
    return new Response("not found", { status: 404 });
  }
});

/** Imports entries of packages and prints what each exports. */
import process from "node:process";

for (const entry of process.argv.slice(2)) {
  // Of modules in CommonJS, Node 22 has not this one.
  const names = Object.keys(await import(entry))
    .filter((it) => it !== "module.exports");
  process.stdout.write(`${entry}: ${names.join(" ")}\n`);
}

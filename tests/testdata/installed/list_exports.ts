/** Imports entries of packages and prints what each exports. */
import process from "node:process";

for (const entry of process.argv.slice(2)) {
  const names = Object.keys(await import(entry));
  process.stdout.write(`${entry}: ${names.join(" ")}\n`);
}

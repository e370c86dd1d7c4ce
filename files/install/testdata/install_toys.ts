/** Installs toys into a folder, as an install task does. */
import { toyInstallation, wheelOf } from "./toys.ts";
import { runInstall } from "../run_install.ts";

const [dir] = Deno.args;
Deno.exitCode = await runInstall(toyInstallation(wheelOf({}), dir), [
  "--accept-license",
]);

import { assertEquals, assertThrows } from "@std/assert";
import { InstallError } from "./install_error.ts";
import { parseInstallOptions } from "./install_options.ts";

const parse = (...args: string[]) => parseInstallOptions(args, "install-toys");

Deno.test("parseInstallOptions reads every argument", () => {
  assertEquals(parse(), {
    acceptLicense: false,
    allowOtherVersion: false,
    wheels: [],
  });
  assertEquals(
    parse("--wheel", "a=1.whl", "--wheel=b=2.whl", "--dir", "there"),
    {
      acceptLicense: false,
      allowOtherVersion: false,
      wheels: ["a=1.whl", "b=2.whl"],
      dir: "there",
    },
  );
  const { acceptLicense, allowOtherVersion } = parse(
    "--allow-other-version",
    "--accept-license",
  );
  assertEquals([acceptLicense, allowOtherVersion], [true, true]);
});

Deno.test("parseInstallOptions refuses what it does not know", () => {
  const refused: [string[], string][] = [
    [["--whel", "a"], "unknown argument '--whel', usage: install-toys ["],
    [["--wheel"], "--wheel lacks its path"],
    [["--dir="], "--dir lacks its path"],
    [["--dir", "a", "--dir=b"], "--dir is given twice, usage: install-toys ["],
  ];
  for (const [args, message] of refused) {
    assertThrows(() => parse(...args), InstallError, message);
  }
});

import { assertEquals } from "@std/assert";
import { unknownOption } from "./_unknown_option.ts";

Deno.test("an option that is not there is named with the nearest one", () => {
  const error = unknownOption("Ant-v5", "frameskip", ["frameSkip", "width"]);
  assertEquals(error instanceof TypeError, true);
  assertEquals(
    error.message,
    "Cannot make Ant-v5 with 'frameskip': did you mean 'frameSkip'?",
  );
});

export * from "./canvas.ts";
export * from "./rectangle.ts";

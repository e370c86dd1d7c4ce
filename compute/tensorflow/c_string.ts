const encoder = new TextEncoder();
const cache = new Map<string, Uint8Array<ArrayBuffer>>();

/**
 * Text as bytes that end in zero. Kept for ever, as what is passed here are the
 * few names of operations, attributes and devices.
 */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  let bytes = cache.get(text);
  if (!bytes) {
    bytes = encoder.encode(text + "\0");
    cache.set(text, bytes);
  }
  return bytes;
}

/** Reads text that ends in zero from native memory. */
export function readCString(pointer: Deno.PointerValue): string {
  return pointer ? Deno.UnsafePointerView.getCString(pointer) : "";
}

/** The address that a pointer holds. */
export function addressOf(pointer: Deno.PointerValue): bigint {
  return Deno.UnsafePointer.value(pointer);
}

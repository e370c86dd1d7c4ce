/** Numbers of the zip format (PKWARE's APPNOTE 6.3). */

/** What the records of a zip file begin with. */
export const SIGNATURES = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
} as const;

/** How a member's bytes are kept. */
export const METHODS = { stored: 0, deflated: 8 } as const;

/** Flag: the name is UTF-8. */
export const UTF8_FLAG = 0x0800;

/** Flag: the member is encrypted. */
export const ENCRYPTED_FLAG = 0x0001;

/** Flag: checksum and lengths stand after the member's bytes, not before. */
export const STREAMED_FLAG = 0x0008;

/** Extra field that holds lengths and places of 8 bytes. */
export const ZIP64_EXTRA = 0x0001;

/** What stands in place of a number of 4 bytes that the extra field holds. */
export const IN_EXTRA = 0xffffffff;

/** What stands in place of a count of 2 bytes that the larger end record holds. */
export const IN_END64 = 0xffff;

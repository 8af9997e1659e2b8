/**
 * CRC-32 with the polynomial of zlib (0xedb88320, reflected). Byron addresses
 * end in one. By hand because ledgers import no node:* and run in a browser.
 */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  return crc >>> 0;
});

export function crc32(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = 0xffff_ffff;
  for (let i = start; i < end; i++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[i]) & 0xff];
  return (crc ^ 0xffff_ffff) >>> 0;
}

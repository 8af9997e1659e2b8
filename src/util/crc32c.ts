/**
 * CRC-32C (Castagnoli), eight bytes a step: the checksum of RocksDB's log
 * records. Node's zlib has the other polynomial only.
 */
const POLYNOMIAL = 0x82f63b78;
const STEP = 8;

/** Table t: what a byte contributes when t more bytes follow it in the step. */
const TABLES: readonly Int32Array[] = makeTables();

/** Of `bytes[from, to)`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let crc = -1;
  let at = from;
  for (const end = to - ((to - from) % STEP); at < end; at += STEP) {
    const low = crc ^ (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24));
    crc =
      t7[low & 0xff] ^
      t6[(low >>> 8) & 0xff] ^
      t5[(low >>> 16) & 0xff] ^
      t4[low >>> 24] ^
      t3[bytes[at + 4]] ^
      t2[bytes[at + 5]] ^
      t1[bytes[at + 6]] ^
      t0[bytes[at + 7]];
  }
  for (; at < to; at++) crc = t0[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function makeTables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    return crc;
  });
  const tables = [first];
  for (let t = 1; t < STEP; t++) tables.push(tables[t - 1].map((crc) => first[crc & 0xff] ^ (crc >>> 8)));
  return tables;
}

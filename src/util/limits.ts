/**
 * Every limit of the system, with its unit and its reason. A limit that is not
 * here is a limit nobody can find.
 */

/** Bytes of one block. Cardano's largest today is a Byron EBB of 648,087 bytes, Bitcoin's 4 MB; block-fetch allows 2.5 MB. */
export const BLOCK_BYTES_MAX = 8 * 1024 * 1024;

/** Transactions of one block. A real one has a hundred bytes at least; an empty one takes one byte and, decoded, four hundred. */
export const BLOCK_TXS_MAX = 65_536;

/** Levels of CBOR nesting. Plutus data on chain stays below 100; a stack frame each, so bounded. */
export const CBOR_DEPTH_MAX = 512;

/** Bytes of one big number. Ledgers allow 8 for a quantity; turning bytes into a number is quadratic, so bounded. */
export const CBOR_BIG_BYTES_MAX = 1024;

/** Bytes read from a chunk file at a time: large enough to stream, small enough to keep memory flat. */
export const CHUNK_READ_BYTES = 8 * 1024 * 1024;

/** Bytes of one inflated chunk: 21,600 slots cannot hold more than about 100 MB of blocks. */
export const CHUNK_BYTES_MAX = 512 * 1024 * 1024;

/** Blocks in one commit while far behind the tip: past 1,000 nothing is gained (docs/internals/speed.md). */
export const GROUP_BLOCKS_MAX = 1000;

/** Bytes of raw blocks in one commit: bounds memory when blocks are large. */
export const GROUP_BYTES_MAX = 16 * 1024 * 1024;

/** Blocks undone in one batch: a whole window fits, memory stays bounded. */
export const ROLLBACK_BLOCKS_MAX = 5000;

/** Inputs up to which a quadratic duplicate check beats a set. */
export const DUPLICATE_SCAN_MAX = 32;

/** Rows fetched from the engine at a time by a scan. */
export const SCAN_ROWS = 1024;

/** Milliseconds between looks at a folder that may still grow. */
export const FOLLOW_POLL_MS = 1000;

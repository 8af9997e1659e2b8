/**
 * A header that a peer has announced, and the check of a block against it: the
 * very header, every part of the body as the header hashes it, and nothing
 * besides. What passes is, byte for byte, what the maker of the header made.
 */
import { verifyBody } from '../../ledgers/cardano/body-proof.ts';
import { type CardanoBlock, decodeBlock } from '../../ledgers/cardano/decode.ts';
import { ERA, type Header, headerAt } from '../../ledgers/cardano/header.ts';
import type { Point } from '../../ledgers/ledger.ts';
import { Cursor } from '../../util/cbor.ts';
import { UnspentError } from '../../util/errors.ts';
import { readWrappedBlock, readWrappedHeader } from './envelope.ts';
import { violation } from './protocol.ts';

export interface Announced {
  readonly point: Point;
  readonly prevHash: Uint8Array | null;
  /** Its bytes, exactly as sent. */
  readonly header: Uint8Array;
  readonly era: number;
  /** How large the header says the block is; a plan, not a promise. */
  readonly blockBytes: number;
}

/** What stands before a header inside a block: the wrapper and the block's own head. */
const LEAD_BYTES = 3;

/** Reads a wrapped header. Throws PROTOCOL, or UNSUPPORTED for an era we do not know. */
export function readAnnounced(content: Uint8Array, byronEpochSlots: number): Announced {
  return sound('header', () => {
    const { era, header, blockBytes } = readWrappedHeader(content);
    knownEra(era);
    // Dressed as the beginning of a block, so that one reader serves both.
    const dressed = new Uint8Array(LEAD_BYTES + header.length);
    dressed[0] = 0x82;
    dressed[1] = era;
    dressed[2] = 0x81 + partsOf(era);
    dressed.set(header, LEAD_BYTES);
    const c = new Cursor(dressed);
    const read = headerAt(c, byronEpochSlots);
    if (c.at !== dressed.length) c.fail('bytes after the end of the header');
    const size = blockBytes ?? header.length + LEAD_BYTES + bodyBytes(dressed, era);
    return announced(read, dressed.subarray(LEAD_BYTES), size);
  });
}

/** Reads a wrapped block that came without announcement, and checks its body against its own header. */
export function readWhole(content: Uint8Array, byronEpochSlots: number): CardanoBlock {
  return sound('block', () => {
    const raw = readWrappedBlock(content);
    const c = new Cursor(raw);
    c.array();
    knownEra(c.uint());
    return proven(decodeBlock(raw, byronEpochSlots));
  });
}

/** The block, decoded. Throws PROTOCOL when it is not the one that was announced, whole and unchanged. */
export function checkAgainst(raw: Uint8Array, expected: Announced, byronEpochSlots: number): CardanoBlock {
  return sound('block', () => {
    const c = new Cursor(raw);
    c.tuple(2, 'wrapped block');
    const era = c.uint();
    c.array();
    const { header, point } = expected;
    if (era !== expected.era || Buffer.compare(raw.subarray(c.at, c.at + header.length), header) !== 0) {
      throw violation(`a block that is not the one asked for at slot ${point.slot}`, { slot: point.slot });
    }
    // The very header that was announced, so its hash is known.
    return proven(decodeBlock(raw, byronEpochSlots, point.hash));
  });
}

function proven(block: CardanoBlock): CardanoBlock {
  try {
    verifyBody(block);
  } catch (error) {
    throw violation('a block whose body does not match its header', { slot: block.slot }, error);
  }
  return block;
}

function announced({ era, height, slot, hash, prevHash }: Header, header: Uint8Array, blockBytes: number): Announced {
  return { point: { height, slot, hash }, prevHash, header, era, blockBytes };
}

function knownEra(era: number): void {
  if (era <= ERA.conway) return;
  throw new UnspentError('UNSUPPORTED', `the chain has entered an era (tag ${era}) that this version of unspent does not know`, { era });
}

/** Parts behind the header. */
function partsOf(era: number): number {
  return era <= ERA.byron ? 2 : era < ERA.alonzo ? 3 : 4;
}

/** The body size stands right before the body hash: field 7, or 6 since Babbage. */
function bodyBytes(dressed: Uint8Array, era: number): number {
  const c = new Cursor(dressed, LEAD_BYTES);
  c.array();
  c.array();
  for (let i = era >= ERA.babbage ? 6 : 7; i > 0; i--) c.skip();
  return c.uint();
}

/** What does not decode is the peer's doing here, not a damaged store's. */
function sound<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnspentError) || error.code !== 'BLOCK_INVALID') throw error;
    throw violation(`a malformed ${what}: ${error.message}`, error.meta, error);
  }
}

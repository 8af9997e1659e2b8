/**
 * A header that a peer has announced, and the check of a block against it: the
 * very header, every part of the body as the header hashes it, and nothing
 * besides. What passes is, byte for byte, what the maker of the header made.
 */
import { verifyBody } from '../../../ledgers/cardano/body-proof.ts';
import { type CardanoBlock, decodeBlock, decodeBody } from '../../../ledgers/cardano/decode.ts';
import { bareHeaderAt, ERA, type Header, wrapperAt } from '../../../ledgers/cardano/header.ts';
import { Cursor } from '../../../util/cbor.ts';
import { UnspentError } from '../../../util/errors.ts';
import { readWrappedBlock, readWrappedHeader } from './envelope.ts';
import { violation } from './protocol.ts';

export interface AnnouncedHeader {
  readonly header: Header;
  /** The header's, exactly as sent. */
  readonly bytes: Uint8Array;
  /** How large the header says the block is; a plan, not a promise. */
  readonly blockBytes: number;
}

/** What stands around header and body in a block: the wrapper and the block's own head. */
const LEAD_BYTES = 3;

/** Reads a wrapped header. Throws PROTOCOL, or UNSUPPORTED for an era we do not know. */
export function readAnnouncedHeader(content: Uint8Array, byronEpochSlots: number): AnnouncedHeader {
  return asViolation('header', () => {
    const { era, header: bytes, blockBytes } = readWrappedHeader(content);
    knownEra(era);
    const c = new Cursor(bytes);
    const header = bareHeaderAt(c, era, byronEpochSlots);
    if (c.at !== bytes.length) c.fail('bytes after the end of the header');
    return { header, bytes, blockBytes: blockBytes ?? LEAD_BYTES + bytes.length + header.bodyBytes };
  });
}

/** Reads a wrapped block that came without announcement, and checks its body against its own header. */
export function readUnannouncedBlock(content: Uint8Array, byronEpochSlots: number): CardanoBlock {
  return asViolation('block', () => {
    const raw = readWrappedBlock(content);
    const c = new Cursor(raw);
    c.array();
    knownEra(c.uint());
    return checkedBody(decodeBlock(raw, byronEpochSlots));
  });
}

/** The block, decoded. Throws PROTOCOL when it is not the one that was announced, whole and unchanged. */
export function readAnnouncedBlock(raw: Uint8Array, { header, bytes }: AnnouncedHeader): CardanoBlock {
  return asViolation('block', () => {
    const c = new Cursor(raw);
    const era = wrapperAt(c);
    const end = c.at + bytes.length;
    if (era !== header.era || Buffer.compare(raw.subarray(c.at, end), bytes) !== 0) {
      throw violation(`a block that is not the one asked for at slot ${header.slot}`, { slot: header.slot });
    }
    // The very header that was announced and read.
    c.at = end;
    return checkedBody(decodeBody(c, header));
  });
}

function checkedBody(block: CardanoBlock): CardanoBlock {
  try {
    verifyBody(block);
  } catch (error) {
    throw violation('a block whose body does not match its header', { slot: block.slot }, error);
  }
  return block;
}

function knownEra(era: number): void {
  if (era <= ERA.conway) return;
  throw new UnspentError('UNSUPPORTED', `the chain has entered an era (tag ${era}) that this version of unspent does not know`, { era });
}

/** Here bytes come from a peer: what does not decode is a violation of the protocol, not damage of our own files. */
function asViolation<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnspentError) || error.code !== 'BLOCK_INVALID') throw error;
    throw violation(`a malformed ${what}: ${error.message}`, error.meta, error);
  }
}

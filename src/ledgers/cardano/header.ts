/**
 * The head of a Cardano block of any era: number, slot, hash and previous hash.
 * Byron's two kinds of block and the Shelley family differ in shape; the table
 * `SHELLEY_FAMILY` is where the next era is added.
 *
 * CDDL: cardano-ledger eras/<era>/impl/cddl; wrapped form: `[eraTag, block]`.
 */

import { blake2b256, blake2b256Prefixed } from '../../crypto/hash.ts';
import { Cursor } from '../../util/cbor.ts';
import { UnspentError } from '../../util/errors.ts';
import { ERA_NAMES } from './networks.ts';

export const ERA = { byronBoundary: 0, byron: 1, shelley: 2, allegra: 3, mary: 4, alonzo: 5, babbage: 6, conway: 7 } as const;

/** The era of a wrapped block by its tag; Byron has two kinds of block and so two tags. */
export function eraName(tag: number): string {
  return ERA_NAMES[Math.max(0, tag - 1)] ?? `era ${tag}`;
}

interface EraShape {
  /** Fields of the header body, and which of them is the body hash. */
  readonly headerFields: number;
  readonly bodyHashField: number;
  /** Parts after the header that the body hash covers: bodies, witnesses, auxiliary data, and from Alonzo the invalid indexes. */
  readonly bodyParts: number;
}

const SHELLEY_FAMILY: Readonly<Record<number, EraShape>> = {
  [ERA.shelley]: { headerFields: 15, bodyHashField: 8, bodyParts: 3 },
  [ERA.allegra]: { headerFields: 15, bodyHashField: 8, bodyParts: 3 },
  [ERA.mary]: { headerFields: 15, bodyHashField: 8, bodyParts: 3 },
  [ERA.alonzo]: { headerFields: 15, bodyHashField: 8, bodyParts: 4 },
  [ERA.babbage]: { headerFields: 10, bodyHashField: 7, bodyParts: 4 },
  [ERA.conway]: { headerFields: 10, bodyHashField: 7, bodyParts: 4 },
};

/** Body and extra data. */
const BYRON_PARTS = 2;

const NO_BYTES = new Uint8Array(0);
const PREFIX_BOUNDARY = Uint8Array.of(0x82, 0x00);
const PREFIX_BYRON = Uint8Array.of(0x82, 0x01);

export interface Place {
  readonly height: number;
  readonly slot: number;
}

/** The header of a block. */
export class Header {
  /** The tag of its era. */
  readonly era: number;
  /** Blocks before it. */
  readonly height: number;
  /** Its slot. */
  readonly slot: number;
  /** The hash of the block. */
  readonly hash: Uint8Array;
  /** The hash of the block before it; null: there is none. */
  readonly prevHash: Uint8Array | null;
  /** Parts of the body that follow the header. */
  readonly bodyParts: number;
  /** How long the header says the body is; -1 in Byron, which does not say. */
  readonly bodyBytes: number;
  private readonly raw: Uint8Array;
  private readonly start: number;
  private readonly end: number;
  private readonly issuerAt: number;
  private readonly proofStart: number;
  private readonly proofEnd: number;

  /** @internal */
  constructor(
    raw: Uint8Array,
    era: number,
    place: Place,
    hash: Uint8Array,
    prevHash: Uint8Array | null,
    spans: HeaderSpans,
    bodyParts: number,
  ) {
    this.raw = raw;
    this.era = era;
    this.height = place.height;
    this.slot = place.slot;
    this.hash = hash;
    this.prevHash = prevHash;
    this.bodyParts = bodyParts;
    this.bodyBytes = spans.bodyBytes;
    this.start = spans.start;
    this.end = spans.end;
    this.issuerAt = spans.issuerAt;
    this.proofStart = spans.proofStart;
    this.proofEnd = spans.proofEnd;
  }

  /** Whether it opens a Byron epoch and has the height of the block before it. */
  get boundary(): boolean {
    return this.era === ERA.byronBoundary;
  }

  /** The key of who made the block; empty in Byron. Made when asked for: a view costs more than what it shows. */
  get issuer(): Uint8Array {
    return this.issuerAt < 0 ? NO_BYTES : this.raw.subarray(this.issuerAt, this.issuerAt + 32);
  }

  /** The header as it stands: its hash is that of the block. */
  get bytes(): Uint8Array {
    return this.raw.subarray(this.start, this.end);
  }

  /** What the header says the body hashes to (Shelley family), or the body proof as encoded (Byron). */
  get bodyProof(): Uint8Array {
    return this.raw.subarray(this.proofStart, this.proofEnd);
  }
}

interface HeaderSpans {
  readonly start: number;
  readonly end: number;
  readonly issuerAt: number;
  readonly proofStart: number;
  readonly proofEnd: number;
  readonly bodyBytes: number;
}

/** Reads the header of a wrapped block, and nothing behind it. */
export function readHeader(raw: Uint8Array, byronEpochSlots: number): Header {
  return headerAt(new Cursor(raw), byronEpochSlots);
}

/** Reads the wrapper and the header; the cursor then stands at the first part of the body. */
export function headerAt(c: Cursor, byronEpochSlots: number): Header {
  return bareHeaderAt(c, wrapperAt(c), byronEpochSlots);
}

/** Reads what stands before the header of a block; gives its era. */
export function wrapperAt(c: Cursor): number {
  c.tuple(2, 'wrapped block');
  const era = c.uint();
  c.tuple(1 + partsOf(era), 'block');
  return era;
}

/** Reads a header that stands alone, as nodes announce it. */
export function bareHeaderAt(c: Cursor, era: number, byronEpochSlots: number): Header {
  if (era <= ERA.byron) return byronHeader(c, era, byronEpochSlots);
  return shelleyHeader(c, era, shapeOf(era));
}

function partsOf(era: number): number {
  return era <= ERA.byron ? BYRON_PARTS : shapeOf(era).bodyParts;
}

function shapeOf(era: number): EraShape {
  const shape = SHELLEY_FAMILY[era];
  if (shape === undefined) {
    throw new UnspentError('BLOCK_INVALID', `era tag ${era} is not known to this version of unspent`, { era });
  }
  return shape;
}

function shelleyHeader(c: Cursor, era: number, shape: EraShape): Header {
  const start = c.at;
  const header = c.tuple(2, 'header');
  const fields = c.tuple(shape.headerFields, 'header body');
  const height = c.uint();
  const slot = c.uint();
  const prevHash = c.nullish() ? null : hash32(c);
  c.span(32);
  const issuerAt = c.start;
  for (let i = 4; i < shape.bodyHashField - 1; i++) c.skip();
  const bodyBytes = c.uint();
  c.span(32);
  const proofStart = c.start;
  for (let i = shape.bodyHashField + 1; i < shape.headerFields; i++) c.skip();
  c.close(fields);
  c.skip();
  c.close(header);
  const hash = blake2b256(c.bytes, start, c.at);
  const spans = { start, end: c.at, issuerAt, proofStart, proofEnd: proofStart + 32, bodyBytes };
  return new Header(c.bytes, era, { height, slot }, hash, prevHash, spans, shape.bodyParts);
}

function byronHeader(c: Cursor, era: number, epochSlots: number): Header {
  const start = c.at;
  const header = c.tuple(5, 'Byron header');
  c.skip();
  const prevHash = hash32(c);
  const proofStart = c.at;
  c.skip();
  const proofEnd = c.at;
  const boundary = era === ERA.byronBoundary;
  const place = boundary ? boundaryPlace(c, epochSlots) : regularPlace(c, epochSlots);
  c.skip();
  c.close(header);
  const hash = blake2b256Prefixed(boundary ? PREFIX_BOUNDARY : PREFIX_BYRON, c.bytes, start, c.at);
  const spans = { start, end: c.at, issuerAt: -1, proofStart, proofEnd, bodyBytes: -1 };
  return new Header(c.bytes, era, place, hash, prevHash, spans, BYRON_PARTS);
}

function boundaryPlace(c: Cursor, epochSlots: number): Place {
  const consensus = c.tuple(2, 'boundary consensus data');
  const slot = absoluteSlot(c, c.uint(), epochSlots, 0);
  const height = difficulty(c);
  c.close(consensus);
  return { height, slot };
}

function regularPlace(c: Cursor, epochSlots: number): Place {
  const consensus = c.tuple(4, 'Byron consensus data');
  const slotId = c.tuple(2, 'slot id');
  const slot = absoluteSlot(c, c.uint(), epochSlots, c.uint());
  c.close(slotId);
  c.skip();
  const height = difficulty(c);
  c.skip();
  c.close(consensus);
  return { height, slot };
}

function absoluteSlot(c: Cursor, epoch: number, epochSlots: number, slotInEpoch: number): number {
  const slot = epoch * epochSlots + slotInEpoch;
  return Number.isSafeInteger(slot) ? slot : c.fail('slot above 2^53');
}

function difficulty(c: Cursor): number {
  const count = c.tuple(1, 'difficulty');
  const height = c.uint();
  c.close(count);
  return height;
}

function hash32(c: Cursor): Uint8Array {
  c.span(32);
  return c.bytes.subarray(c.start, c.stop);
}

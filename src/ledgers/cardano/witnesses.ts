/**
 * Datums and scripts that transactions bring along: in their witness sets, and
 * scripts also in their auxiliary data. Read from the block's own bytes, of
 * valid and invalid transactions alike.
 *
 * A script is given as CBOR `[kind, script]`, written one way only, so that it
 * is the same bytes whether it came as a witness or as a reference script.
 */

import { blake2b224, blake2b256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../util/bytes.ts';
import { ARRAY, Cursor, TAG } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import type { Block, NamedBytes, Witness, WitnessKind } from '../ledger.ts';
import type { CardanoBlock } from './decode.ts';
import { enterSet } from './describe.ts';
import { ERA } from './header.ts';

const TAG_AUXILIARY = 259;
const SCRIPT_NATIVE = 0;
/** The hash of a script covers its kind as one byte. */
const SCRIPT_KIND_MAX = 0xff;

/** CDDL: `transaction_witness_set`. */
const DATUMS_KEY = 4;
const SCRIPT_KEYS: ReadonlyMap<number, number> = new Map([
  [1, SCRIPT_NATIVE],
  [3, 1],
  [6, 2],
  [7, 3],
]);

/** CDDL: `auxiliary_data`, the map of Alonzo and later: keys of scripts, each one above its kind. */
const AUXILIARY_SCRIPTS_FIRST = 1;
const AUXILIARY_SCRIPTS_LAST = 4;

/** Places of the parts of a body. */
const PART = { witnesses: 1, auxiliary: 2 } as const;

const NONE: readonly Witness[] = Object.freeze([]);
const writer = new CborWriter(4096);

/** Throws BLOCK_INVALID with the position. */
export function readWitnesses(block: Block, only?: WitnessKind): readonly Witness[] {
  // Byron knows signatures only.
  if (block.era <= ERA.byron || block.txs.length === 0) return NONE;
  const found: Witness[] = [];
  witnessSets(block as CardanoBlock, only, found);
  if (only !== 'datum') auxiliaryScripts(block as CardanoBlock, found);
  return found;
}

/** Of one transaction that stands alone, from Shelley on: what its witness set has, and its auxiliary data. Throws BLOCK_INVALID. */
export function readTxWitnesses(
  set: Uint8Array,
  auxiliary: Uint8Array | null,
): { readonly witnesses: readonly Witness[]; readonly auxiliary: readonly Witness[] } {
  const [inSet, inAuxiliary]: Witness[][] = [[], []];
  witnessSet(new Cursor(set), 0, undefined, inSet);
  if (auxiliary !== null) scriptsOfAuxiliary(new Cursor(auxiliary), 0, inAuxiliary);
  return { witnesses: inSet, auxiliary: inAuxiliary };
}

function partOf({ raw, parts }: CardanoBlock, part: number): Cursor {
  return new Cursor(raw, parts[part], parts[part + 1]);
}

function witnessSets(block: CardanoBlock, only: WitnessKind | undefined, found: Witness[]): void {
  const c = partOf(block, PART.witnesses);
  for (let txIndex = 0, sets = c.array(); c.more(sets, txIndex); txIndex++) {
    if (txIndex >= block.txs.length) c.fail('more witness sets than transactions');
    witnessSet(c, txIndex, only, found);
  }
}

function witnessSet(c: Cursor, txIndex: number, only: WitnessKind | undefined, found: Witness[]): void {
  for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
    const key = c.uint();
    const kind = SCRIPT_KEYS.get(key);
    if (key === DATUMS_KEY && only !== 'script') datums(c, txIndex, found);
    else if (kind !== undefined && only !== 'datum') scripts(c, kind, txIndex, found);
    else c.skip();
  }
}

function datums(c: Cursor, txIndex: number, found: Witness[]): void {
  for (let i = 0, count = enterSet(c); c.more(count, i); i++) {
    const start = c.at;
    c.skip();
    const bytes = c.bytes.subarray(start, c.at);
    found.push({ txIndex, kind: 'datum', item: { hash: blake2b256(bytes), bytes } });
  }
}

function scripts(c: Cursor, kind: number, txIndex: number, found: Witness[]): void {
  for (let i = 0, count = enterSet(c); c.more(count, i); i++) found.push({ txIndex, kind: 'script', item: readScript(c, kind) });
}

/** Reads the script at the cursor: a native one is an array, any other a byte string. */
export function readScript(c: Cursor, kind: number): NamedBytes {
  if (kind > SCRIPT_KIND_MAX) c.fail(`script of unknown kind ${kind}`);
  if (kind !== SCRIPT_NATIVE) {
    const script = c.byteString();
    return { hash: scriptHash(kind, script), bytes: writer.array(2).uint(kind).bytes(script).take() };
  }
  const start = c.at;
  c.skip();
  const script = c.bytes.subarray(start, c.at);
  return { hash: scriptHash(kind, script), bytes: writer.array(2).uint(kind).raw(script).take() };
}

function scriptHash(kind: number, script: Uint8Array): Uint8Array {
  return blake2b224(concatBytes(Uint8Array.of(kind), script));
}

function auxiliaryScripts(block: CardanoBlock, found: Witness[]): void {
  const c = partOf(block, PART.auxiliary);
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const at = c.at;
    const txIndex = c.uint();
    if (txIndex >= block.txs.length) c.fail('auxiliary data of no transaction', at);
    scriptsOfAuxiliary(c, txIndex, found);
  }
}

/** Shelley's map of metadata, Allegra's `[metadata, scripts]`, or Alonzo's tagged map. Only the last two have scripts. */
function scriptsOfAuxiliary(c: Cursor, txIndex: number, found: Witness[]): void {
  const major = c.peek();
  if (major === ARRAY) allegraScripts(c, txIndex, found);
  else if (major === TAG) alonzoScripts(c, txIndex, found);
  else c.skip();
}

function allegraScripts(c: Cursor, txIndex: number, found: Witness[]): void {
  const fields = c.tuple(2, 'auxiliary data');
  c.skip();
  scripts(c, SCRIPT_NATIVE, txIndex, found);
  c.close(fields);
}

function alonzoScripts(c: Cursor, txIndex: number, found: Witness[]): void {
  if (c.tag() !== TAG_AUXILIARY) c.fail('expected auxiliary data');
  for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
    const key = c.uint();
    if (key >= AUXILIARY_SCRIPTS_FIRST && key <= AUXILIARY_SCRIPTS_LAST) scripts(c, key - AUXILIARY_SCRIPTS_FIRST, txIndex, found);
    else c.skip();
  }
}

/**
 * Mints and redeemers of a block's transactions, read on demand from the block's
 * own bytes: few transactions run a script that anyone here follows, so nothing
 * of this is decoded with the block.
 *
 * CDDL: `redeemers = [+ [tag, index, data, ex_units]]`, from Conway on also
 * `{+ [tag, index] => [data, ex_units]}`.
 */
import { equalBytes } from '../../util/bytes.ts';
import { Cursor, MAP } from '../../util/cbor.ts';
import type { Asset } from '../asset.ts';
import type { Block, RedeemerPurpose, ScriptData } from '../ledger.ts';
import type { CardanoBlock } from './decode.ts';
import { readAssets } from './describe.ts';
import { ERA } from './header.ts';

const WITNESSES_PART = 1;
const REDEEMERS_KEY = 5;
const PURPOSE_TAG: Readonly<Record<RedeemerPurpose, number>> = { spend: 0, mint: 1 };
const NONE: readonly Asset[] = Object.freeze([]);

export function cardanoScriptData(block: Block): ScriptData {
  return new BlockScriptData(block as CardanoBlock);
}

class BlockScriptData implements ScriptData {
  private readonly block: CardanoBlock;
  /** Where the witness set of each transaction begins, once asked for. */
  private starts: readonly number[] | null = null;

  constructor(block: CardanoBlock) {
    this.block = block;
  }

  mints(txIndex: number, policies: readonly Uint8Array[]): boolean {
    const { raw, txs } = this.block;
    const { mintAt, end } = txs[txIndex];
    if (mintAt === 0) return false;
    const c = new Cursor(raw, mintAt, end);
    for (let i = 0, count = c.map(); c.more(count, i); i++) {
      const policy = c.byteString();
      if (policies.some((each) => equalBytes(each, policy))) return true;
      c.skip();
    }
    return false;
  }

  mint(txIndex: number): readonly Asset[] {
    const { raw, txs } = this.block;
    const { mintAt, end } = txs[txIndex];
    return mintAt === 0 ? NONE : readAssets(new Cursor(raw, mintAt, end));
  }

  redeemer(txIndex: number, purpose: RedeemerPurpose, index: number): Uint8Array | null {
    // Byron and the eras before Alonzo run no scripts that take one.
    if (this.block.era < ERA.alonzo) return null;
    this.starts ??= witnessStarts(this.block);
    const start = this.starts[txIndex];
    if (start === undefined) return null;
    const c = new Cursor(this.block.raw, start, this.block.parts[WITNESSES_PART + 1]);
    for (let i = 0, fields = c.map(); c.more(fields, i); i++) {
      if (c.uint() === REDEEMERS_KEY) return findRedeemer(c, PURPOSE_TAG[purpose], index);
      c.skip();
    }
    return null;
  }
}

function witnessStarts({ raw, parts }: CardanoBlock): readonly number[] {
  const c = new Cursor(raw, parts[WITNESSES_PART], parts[WITNESSES_PART + 1]);
  const starts: number[] = [];
  for (let i = 0, sets = c.array(); c.more(sets, i); i++) {
    starts.push(c.at);
    c.skip();
  }
  return starts;
}

/** Of two with the same purpose and index the last one counts, as in the ledger's map. */
function findRedeemer(c: Cursor, tag: number, index: number): Uint8Array | null {
  return redeemersAt(c).findLast((redeemer) => redeemer.tag === tag && redeemer.index === index)?.data ?? null;
}

/** What a script is given, and what it may use up. */
export interface Redeemer {
  /** 0: an input that is spent, 1: a policy that mints, 2: a certificate, 3: a withdrawal, 4: a vote, 5: a proposal. */
  readonly tag: number;
  /** Counts the inputs, policies, certificates, ... of its transaction, sorted as the ledger sorts them. */
  readonly index: number;
  /** The CBOR of its data. */
  readonly data: Uint8Array;
  readonly memory: bigint;
  readonly steps: bigint;
}

/** The redeemers of a witness set, in its order. Throws BLOCK_INVALID. */
export function readRedeemers(witnesses: Cursor): readonly Redeemer[] {
  let found: readonly Redeemer[] = [];
  for (let i = 0, fields = witnesses.map(); witnesses.more(fields, i); i++) {
    if (witnesses.uint() === REDEEMERS_KEY) found = redeemersAt(witnesses);
    else witnesses.skip();
  }
  return found;
}

function redeemersAt(c: Cursor): Redeemer[] {
  const isMap = c.peek() === MAP;
  const found: Redeemer[] = [];
  for (let i = 0, count = isMap ? c.map() : c.array(); c.more(count, i); i++) {
    let fields = c.tuple(isMap ? 2 : 4, 'a redeemer');
    const [tag, index] = [c.uint(), c.uint()];
    if (isMap) {
      c.close(fields);
      fields = c.tuple(2, 'a redeemer');
    }
    const start = c.at;
    c.skip();
    const data = c.bytes.subarray(start, c.at);
    const units = c.tuple(2, 'execution units');
    found.push({ tag, index, data, memory: c.bigUint(), steps: c.bigUint() });
    c.close(units);
    c.close(fields);
  }
  return found;
}

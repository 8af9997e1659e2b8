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
  const isMap = c.peek() === MAP;
  let found: Uint8Array | null = null;
  for (let i = 0, count = isMap ? c.map() : c.array(); c.more(count, i); i++) {
    const key = c.tuple(isMap ? 2 : 4, 'a redeemer');
    const isTag = c.uint() === tag;
    const isIndex = c.uint() === index;
    let fields = key;
    if (isMap) {
      c.close(key);
      fields = c.tuple(2, 'a redeemer');
    }
    const start = c.at;
    c.skip();
    if (isTag && isIndex) found = c.bytes.subarray(start, c.at);
    c.skip();
    c.close(fields);
  }
  return found;
}

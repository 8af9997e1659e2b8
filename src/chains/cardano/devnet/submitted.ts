/**
 * Transactions that come to a devnet from outside, read from their bytes. What a
 * transaction does to the unspent set is taken from it exactly; whether it may
 * is for `ledger-rules.ts` to say.
 */
import { type DescribedTx, describeTx } from '../../../ledgers/cardano/transaction.ts';
import { toHex } from '../../../util/bytes.ts';
import { Cursor } from '../../../util/cbor.ts';
import type { SubmittedParts } from './blocks.ts';
import { type Assets, keyOf, type ModelUtxo, NO_ASSETS } from './model.ts';
import { readWitnessSet, type WitnessSet } from './witness-set.ts';

export interface SubmittedTx extends SubmittedParts {
  readonly id: string;
  /** The whole transaction, and its body, as they came. */
  readonly tx: Uint8Array;
  readonly body: Uint8Array;
  readonly valid: boolean;
  readonly mint: Assets;
  readonly described: DescribedTx;
  readonly witnessSet: WitnessSet;
}

/** An output that it makes, wherever its block will be. */
export type MadeOutput = Omit<ModelUtxo, 'height' | 'slot' | 'txIndex'>;

/** A Conway transaction `[body, witnesses, valid, auxiliary or null]`. Throws BLOCK_INVALID with the position. */
export function readSubmitted(bytes: Uint8Array): SubmittedTx {
  const tx = bytes.slice();
  const c = new Cursor(tx);
  const fields = c.tuple(4, 'transaction');
  const bodyStart = c.at;
  c.skip();
  const bodyEnd = c.at;
  const witnessSet = readWitnessSet(c);
  const witnessesEnd = c.at;
  const flag = tx[c.at];
  if (flag !== 0xf4 && flag !== 0xf5) c.fail('expected true or false');
  c.at++;
  const auxiliaryStart = c.at;
  const auxiliary = c.nullish() ? null : skipped(c, auxiliaryStart);
  c.close(fields);
  if (c.at !== tx.length) c.fail('bytes after the end of the transaction');
  const valid = flag === 0xf5;
  const described = describeTx(tx, bodyStart, bodyEnd, valid);
  return {
    id: toHex(described.id),
    tx,
    body: tx.subarray(bodyStart, bodyEnd),
    witnesses: tx.subarray(bodyEnd, witnessesEnd),
    auxiliary,
    valid,
    mint: valid ? assetsOf(described.mint) : NO_ASSETS,
    described,
    witnessSet,
  };
}

/** Keys of what it spends, and what it makes. Outputs at addresses the devnet does not know are left alone by it. */
export function effectOf(
  { id, tx, valid, described }: SubmittedTx,
  book: { owns(addressHex: string): boolean },
): { readonly spends: readonly string[]; readonly creates: readonly MadeOutput[] } {
  const { inputs, collateral, outputs, collateralReturn } = described;
  const made = valid ? outputs : collateralReturn === null ? [] : [collateralReturn];
  return {
    spends: (valid ? inputs : collateral).map(refKey),
    creates: made.map(({ index, address, lovelace, assets, start, end }) => {
      const addressHex = toHex(address);
      return {
        key: keyOf(id, index),
        txId: described.id,
        index,
        lovelace,
        assets: assetsOf(assets),
        addressHex,
        output: tx.subarray(start, end),
        redeem: false,
        foreign: !book.owns(addressHex),
      };
    }),
  };
}

export function refKey({ txId, index }: { readonly txId: Uint8Array; readonly index: number }): string {
  return keyOf(toHex(txId), index);
}

export function assetsOf(assets: DescribedTx['mint']): Assets {
  if (assets.length === 0) return NO_ASSETS;
  const sum = new Map<string, bigint>();
  for (const { policy, name, quantity } of assets) {
    const asset = `${toHex(policy)}.${toHex(name)}`;
    sum.set(asset, (sum.get(asset) ?? 0n) + quantity);
  }
  return sum;
}

function skipped(c: Cursor, start: number): Uint8Array {
  c.skip();
  return c.bytes.subarray(start, c.at);
}

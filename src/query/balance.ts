/**
 * What outputs add up to: how many, how much, and of which assets. Added up one
 * output at a time, so that only the assets take memory, however many outputs
 * there are.
 */
import type { KeyKind, OutputTraits } from '../ledgers/ledger.ts';
import { BALANCE_KINDS, balanceColumn, readBalance } from '../projections/balance/balance.ts';
import { toHex } from '../util/bytes.ts';
import { assert, UnspentError } from '../util/errors.ts';
import { BALANCE_ASSETS_MAX } from '../util/limits.ts';
import type { StoreColumns } from './store-columns.ts';
import type { Utxo } from './utxo.ts';
import type { Balance } from './view.ts';

/** The balance as its projection keeps it; null where none does, or not yet in full. */
export function storedBalance(columns: StoreColumns, kind: KeyKind, key: Uint8Array): Balance | null {
  const mine = BALANCE_KINDS.find((each) => each === kind);
  if (mine === undefined || !columns.isReady(balanceColumn(mine), `balance.${mine}`)) return null;
  return readBalance(columns.reader, mine, key);
}

type Held = Balance['assets'][number];

export class BalanceSum {
  private readonly traits: OutputTraits | null;
  private utxos: number;
  private value: bigint;
  /** By policy and name in hex, whose order is that of the bytes. */
  private readonly assets = new Map<string, Held>();

  constructor(traits: OutputTraits | null, start?: Balance) {
    this.traits = traits;
    this.utxos = start?.utxos ?? 0;
    this.value = start?.value ?? 0n;
    for (const asset of start?.assets ?? []) this.move(asset.policy, asset.name, asset.quantity);
  }

  add({ output }: Pick<Utxo, 'output'>): void {
    this.utxos++;
    this.value += output.value;
    this.moveAssets(output.raw, 1n);
  }

  subtract({ output }: Pick<Utxo, 'output'>): void {
    this.utxos--;
    this.value -= output.value;
    this.moveAssets(output.raw, -1n);
  }

  end(): Balance {
    assert(this.utxos >= 0 && this.value >= 0n, 'a balance is never below zero');
    const held = [...this.assets].sort(([a], [b]) => (a < b ? -1 : 1));
    return { utxos: this.utxos, value: this.value, assets: held.map(([, asset]) => asset) };
  }

  private moveAssets(raw: Uint8Array, sign: bigint): void {
    const { traits } = this;
    if (traits === null || traits.isPlain(raw, 0, raw.length)) return;
    traits.assets(raw, 0, raw.length, (policy, name, quantity) => this.move(policy, name, sign * quantity));
  }

  private move(policy: Uint8Array, name: Uint8Array, quantity: bigint): void {
    const unit = toHex(policy) + toHex(name);
    const known = this.assets.get(unit);
    const sum = (known?.quantity ?? 0n) + quantity;
    if (sum === 0n) this.assets.delete(unit);
    // Copied when new: the bytes of a whole output must not stay for its name's sake.
    else if (known === undefined) this.assets.set(unit, { policy: Uint8Array.from(policy), name: Uint8Array.from(name), quantity: sum });
    else this.assets.set(unit, { ...known, quantity: sum });
    if (this.assets.size > BALANCE_ASSETS_MAX)
      throw new UnspentError('LIMIT', `the balance has more than ${BALANCE_ASSETS_MAX} different assets; read its outputs page by page`);
  }
}

/** The kept hash of the unspent set against the set itself. */
import type { SetHashUpdate } from '../../ledgers/ledger.ts';
import { equalBytes } from '../../util/bytes.ts';
import type { Coin } from '../coin.ts';
import type { Inspection } from '../inspection.ts';
import { memberOf, readSetHash, SET_HASH } from './set-hash.ts';

export class SetHashCheck {
  readonly column = SET_HASH;
  private readonly inspection: Inspection;
  private readonly set: SetHashUpdate;
  private readonly empty: Uint8Array;

  constructor(inspection: Inspection) {
    const { setHash } = inspection.ledger;
    this.inspection = inspection;
    this.set = setHash.from(null);
    this.empty = setHash.from(null).state();
  }

  expect(rows: readonly Coin[]): void {
    for (const coin of rows) this.set.add(memberOf(coin));
  }

  /** Returns the number of rows: none for an empty set. */
  finish(): number {
    const kept = readSetHash(this.inspection.reader);
    const state = this.set.state();
    const same = kept === undefined ? equalBytes(state, this.empty) : equalBytes(state, kept) && !equalBytes(state, this.empty);
    if (!same) this.inspection.fault(SET_HASH, new Uint8Array(0), 'is not the hash of the unspent set');
    return kept === undefined ? 0 : 1;
  }
}

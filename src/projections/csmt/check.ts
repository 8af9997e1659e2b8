/**
 * The stored tree against the unspent set, in one walk over each and with no
 * more memory than a few sums, whatever their size. What the walks meet is
 * hashed and added up, so that order does not matter:
 *
 *   leaves of the set       =  leaves that records name
 *   branches that there are =  branches that records name, the top included
 *
 * The second says that each branch stands where just one other names it, with
 * the hash that follows from its own children: then all of them hang together
 * below the top, and the root is that of a tree built anew from the set. Only
 * when sums differ is each output and each branch looked up, to say which. This
 * finds faults; it is no defence against outputs that were made to fool it.
 */

import type { OutputLeaf } from '../../ledgers/ledger.ts';
import { csmt, type NodeReader } from '../../proofs/index.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { assert, isUnspentError } from '../../util/errors.ts';
import { Coin } from '../coin.ts';
import type { Inspection } from '../inspection.ts';
import { PairSum } from '../pair-sum.ts';
import { UNSPENT } from '../utxo.ts';
import { CSMT, csmtKey, csmtNodes, csmtValue } from './csmt.ts';

export class CsmtCheck {
  readonly column = CSMT;
  private readonly inspection: Inspection;
  private readonly leaf: OutputLeaf;
  private readonly nodes: NodeReader;
  private readonly wanted = new PairSum();

  constructor(inspection: Inspection) {
    const { leaf } = inspection.ledger;
    assert(leaf !== undefined, 'a store that keeps a tree has a ledger that says how outputs stand in it');
    this.inspection = inspection;
    this.leaf = leaf;
    this.nodes = csmtNodes(inspection.reader);
  }

  expect(rows: readonly Coin[]): void {
    for (const coin of rows) this.wanted.add(csmtKey(this.leaf, coin), csmtValue(this.leaf, coin));
  }

  /** Returns the number of records. */
  finish(): number {
    const [leaves, branches, named] = [new PairSum(), new PairSum(), new PairSum()];
    let rows = 0;
    for (const [key, value] of this.inspection.reader.scan(CSMT)) {
      this.inspection.progress(CSMT, ++rows);
      const record = this.read(key, value);
      if (record === null) continue;
      if (record.value !== null) branches.add(record.path, record.value);
      for (const child of record.children) (child.leaf ? leaves : named).add(child.path, child.value);
    }
    if (!leaves.equals(this.wanted)) this.findOutputs(leaves.count);
    if (!branches.equals(named)) this.findBranches();
    return rows;
  }

  private read(key: Uint8Array, value: Uint8Array): csmt.StoredRecord | null {
    try {
      return csmt.readRecord(key, value);
    } catch (error) {
      if (!isUnspentError(error)) throw error;
      this.inspection.fault(CSMT, key, error.message);
      return null;
    }
  }

  /** Which outputs have no leaf, or another. */
  private findOutputs(leaves: number): void {
    const { reader, unreadable, fault } = this.bound();
    if (leaves !== this.wanted.count) fault(CSMT, NO_KEY, `has ${leaves} leaves; there are ${this.wanted.count} unspent outputs`);
    for (const [key, stored] of reader.scan(UNSPENT)) {
      if (unreadable.has(toHex(key))) continue;
      const coin = new Coin(key, 0, stored, 0, stored.length, false);
      const path = csmtKey(this.leaf, coin);
      const found = this.lookUp(() => csmt.get(this.nodes, path));
      if (found === null || !equalBytes(found, csmtValue(this.leaf, coin)))
        fault(CSMT, path.bytes, `${found === null ? 'has no leaf' : 'has a wrong leaf'} of the output ${toHex(key)}`);
    }
  }

  /** Which branches do not hang in the tree with the hash that is theirs. */
  private findBranches(): void {
    const { reader, fault } = this.bound();
    for (const [key, value] of reader.scan(CSMT)) {
      const record = this.lookUp(() => csmt.readRecord(key, value));
      if (record === null || record.value === null) continue;
      const named = this.lookUp(() => csmt.branchAt(this.nodes, record.path));
      if (named === null) fault(CSMT, key, 'is no branch of the tree');
      else if (!equalBytes(named, record.value)) fault(CSMT, key, 'is not what the branch above it says');
    }
    if (this.inspection.reader.get(CSMT, csmt.TOP_KEY) === undefined) fault(CSMT, csmt.TOP_KEY, 'the top of the tree is missing');
  }

  private bound(): Pick<Inspection, 'reader' | 'unreadable' | 'fault'> {
    const { inspection } = this;
    return { reader: inspection.reader, unreadable: inspection.unreadable, fault: (...args) => inspection.fault(...args) };
  }

  /** Null: not there, or what leads to it is damaged, which is told where it is. */
  private lookUp<T>(read: () => T | null): T | null {
    try {
      return read();
    } catch (error) {
      if (!isUnspentError(error)) throw error;
      return null;
    }
  }
}

const NO_KEY = new Uint8Array(0);

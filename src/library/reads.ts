/**
 * What a program can ask of a store: text in, documents out (`query/json.ts`),
 * the same ones that the command line and the server give. `Store` answers each
 * question at the block it is at; a `StoreView` answers all of them at one block.
 */

import { parseOutpoint } from '../ledgers/outpoint.ts';
import type { AbsenceDocument, CompleteDocument, InclusionDocument, RangeDocument } from '../proofs/index.ts';
import { Prover, type Roots } from '../query/proofs.ts';
import {
  type BalanceJson,
  type BlockJson,
  type PointJson,
  renderBalance,
  renderPoint,
  type TransactionJson,
  type TxJson,
  type UtxoJson,
} from '../query/render.ts';
import { UnspentError } from '../util/errors.ts';
import { type PageOptions, pageOf, type TxPage, txPageOf, type UtxoPage } from './page.ts';
import type { PinnedRead } from './pinned-read.ts';
import type { BlockPlace } from './text.ts';

/** A transaction and those of its outputs that the store still knows. */
export interface TxOutputs {
  /** Where it stands on the chain. Null: the outputs are of the genesis, which no transaction made. */
  readonly tx: TxJson | null;
  /** Its outputs by their index, unspent and spent; spent ones are forgotten when they leave the window. */
  readonly outputs: readonly UtxoJson[];
}

/** The questions that both a `Store` and a `StoreView` answer. */
export abstract class StoreReads {
  readonly #read: <T>(body: (pinned: PinnedRead) => T) => T;

  /** @internal */
  constructor(read: <T>(body: (pinned: PinnedRead) => T) => T) {
    this.#read = read;
  }

  /** The block that answers are of; null before the first block. */
  get head(): PointJson | null {
    return this.#read(({ view, dialect }) => renderPoint(view.head, dialect));
  }

  /**
   * One output by `TXID#INDEX`, unspent or spent (then with who spent it). Null: it never was, or was spent and has
   * left the window. Throws USAGE.
   */
  utxo(outpoint: string): UtxoJson | null {
    return this.#read(({ view, renderer, dialect }) => {
      const { txId, index } = parseOutpoint(outpoint, dialect.parseId);
      const found = view.outpoint(txId, index);
      return found === null ? null : renderer.utxo(found);
    });
  }

  /**
   * A page of the unspent outputs of an address (of Cardano also a stake address), in the order they came to the chain. Pass `next` of a page as `after`
   * of the following one: while the block it was read at is on the chain, pages put together are the whole, nothing
   * skipped and nothing repeated. Throws USAGE, and CURSOR_STALE when that block was rolled back.
   */
  utxos(address: string, options: PageOptions = {}): UtxoPage {
    return this.#read((pinned) => {
      const { kind, key } = pinned.dialect.holder(address);
      return pageOf(pinned, kind, key, options);
    });
  }

  /** What the unspent outputs of an address (of Cardano also a stake address) add up to. Throws USAGE. */
  balance(address: string): BalanceJson {
    return this.#read(({ view, dialect }) => {
      const { kind, key } = dialect.holder(address);
      return renderBalance(view.balance(kind, key), dialect);
    });
  }

  /** A transaction by its id. Null: it is in no block of ours. Throws USAGE. */
  tx(id: string): TxOutputs | null {
    return this.#read(({ view, renderer, dialect }) => {
      const txId = dialect.parseId(id);
      const { row, outputs } = view.tx(txId);
      if (row === null && outputs.length === 0) return null;
      return { tx: row === null ? null : renderer.tx(txId, row), outputs: outputs.map((output) => renderer.utxo(output)) };
    });
  }

  /**
   * A transaction of Cardano with everything it names, from the history (`utxo.history`). Null: it is in no block of
   * ours. Throws USAGE, PRUNED where it was not kept, and UNSUPPORTED where no history is kept or of another family.
   */
  transaction(id: string): TransactionJson | null {
    return this.#read(({ query, renderer, dialect }) => {
      if (dialect.transaction === undefined) throw new UnspentError('UNSUPPORTED', 'transactions of this family are not shown');
      return dialect.transaction(query, dialect.parseId(id), renderer);
    });
  }

  /**
   * A page of the transactions of an address (of Cardano also a stake address) from the history (`utxo.history`), in the
   * order of the chain. Pages go on as those of `utxos` do. Throws USAGE, CURSOR_STALE, UNSUPPORTED.
   */
  txs(address: string, options: PageOptions = {}): TxPage {
    return this.#read((pinned) => {
      const { kind, key } = pinned.dialect.holder(address);
      return txPageOf(pinned, kind, key, options);
    });
  }

  /** A block of the chain. Null: the origin. Throws USAGE or POINT_UNKNOWN. */
  block(place: BlockPlace): BlockJson | null {
    return this.#read((pinned) => {
      const point = pinned.find(place);
      const row = point === null ? null : pinned.query.blockByHash(point.hash);
      return row === null ? null : pinned.renderer.block(row);
    });
  }

  /** The roots of the structures that are switched on and ready (docs/proofs.md), in hex. */
  roots(): Roots {
    return this.#read((pinned) => proverOf(pinned).roots());
  }

  /** A proof that an output is unspent or, where the store keeps a mountain range, that it is spent. Throws NOT_FOUND, UNSUPPORTED. */
  proveOutput(outpoint: string): InclusionDocument | RangeDocument {
    return this.#read((pinned) => {
      const { txId, index } = parseOutpoint(outpoint, pinned.dialect.parseId);
      return proverOf(pinned).outpoint(txId, index);
    });
  }

  /** A proof of all unspent outputs of an address: that they are unspent, and that there are no others. Throws UNSUPPORTED. */
  proveAddress(address: string): CompleteDocument {
    return this.#read((pinned) => proverOf(pinned).address(pinned.dialect.owner(address)));
  }

  /** A proof that an address has no such unspent output. Throws NOT_FOUND when it has, UNSUPPORTED. */
  proveAbsent(address: string, outpoint: string): AbsenceDocument {
    return this.#read((pinned) => {
      const { txId, index } = parseOutpoint(outpoint, pinned.dialect.parseId);
      return proverOf(pinned).absent(pinned.dialect.owner(address), txId, index);
    });
  }
}

function proverOf({ query, view, provable }: PinnedRead): Prover {
  return new Prover(query, view, provable);
}

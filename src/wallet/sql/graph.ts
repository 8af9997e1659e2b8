/**
 * The part of a wallet's transactions that a write touches, in memory: rows,
 * their inputs, the credits between them. It is loaded with a few statements
 * (graph-load.ts), changed by the rules (incoming.ts, branch.ts), and what
 * changed is written back with a few statements (graph-save.ts), however many
 * transactions a block or a branch has.
 */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import type { StatusCause, TxStatus, WalletBlock, WalletEvent, WalletId } from '../records.ts';
import { isLive } from '../rules/status.ts';
import type { NewTx } from '../store.ts';
import type { EventLog } from './event-log.ts';

/** One transaction of the wallet. */
export interface TxNode {
  /** Its id in hex. */
  readonly key: string;
  readonly txId: Uint8Array;
  /** Null: not in the database yet. */
  rowId: number | null;
  /** In the order of rows, as they were added: the id of the row; of a new one `TxGraph.nextPlace`. */
  readonly place: number;
  readonly isCoinbase: boolean;
  readonly scriptsFailed: boolean;
  readonly label: string;
  /** The mempool was last told to have it no more. */
  readonly isEvicted: boolean;
  readonly inputs: readonly InputNode[];
  status: TxStatus;
  block: WalletBlock | null;
  confirmedOrder: number | null;
  isChanged: boolean;
  /** Of a new row: what it is made of. */
  readonly news: NewTx | null;
}

export interface InputNode {
  readonly index: number;
  readonly outpoint: Outpoint;
  readonly text: string;
}

/** An output of the wallet's own. */
export interface CreditNode {
  /** Null: not in the database yet. */
  readonly rowId: number | null;
  readonly outpoint: Outpoint;
  readonly text: string;
  readonly amount: bigint;
  /** As loaded; the node of the parent, where it is in the graph, is newer. */
  readonly parent: { readonly key: string; readonly status: TxStatus };
  spender: { readonly key: string; readonly input: number } | null;
  /** Who holds the edge in the database. */
  readonly storedSpender: { readonly key: string; readonly input: number } | null;
  /** Of a new credit: the row of the address, the output's script if that is another than the address's, and what it holds. */
  readonly news: {
    readonly addressRowId: number;
    readonly script: Uint8Array | null;
    readonly holding: Uint8Array | null;
    /** A label that came before it says that it is not to be spent. */
    readonly isFrozen: boolean;
  } | null;
}

export function inputNodes(inputs: readonly Outpoint[]): InputNode[] {
  return inputs.map((outpoint, index) => ({ index, outpoint, text: outpointText(outpoint) }));
}

/** Above every id of a row: the places of rows that are new. */
const NEW_ROWS_PLACE = 2 ** 52;

export class TxGraph {
  readonly walletId: WalletId;
  readonly nodes = new Map<string, TxNode>();
  readonly credits = new Map<string, CreditNode>();
  /** Replaced by, oldest first. */
  readonly replacements: { readonly replaced: TxNode; readonly replacement: TxNode; readonly createdAt: number }[] = [];
  /** Places of the wallet's rows in blocks, by height, ascending; below the last only where a row may leave the block. */
  readonly places = new Map<number, number[]>();
  /** Rows that left one block for another, in that order: their places may be taken again. */
  readonly moved = new Set<TxNode>();
  readonly #events: EventLog;
  /** By outpoint, and by the key of the parent: in the order of rows, as they were added. */
  readonly #spenders = new Map<string, TxNode[]>();
  readonly #children = new Map<string, Set<TxNode>>();

  #placesGiven = 0;

  constructor(walletId: WalletId, events: EventLog) {
    this.walletId = walletId;
    this.#events = events;
  }

  add(node: TxNode): void {
    this.nodes.set(node.key, node);
    for (const { outpoint, text } of node.inputs) {
      const spenders = this.#spenders.get(text);
      if (spenders === undefined) this.#spenders.set(text, [node]);
      else spenders.push(node);
      const parent = toHex(outpoint.txId);
      const children = this.#children.get(parent);
      if (children === undefined) this.#children.set(parent, new Set([node]));
      else children.add(node);
    }
  }

  /** Behind all rows of the database, and behind all new ones that were given a place before. */
  nextPlace(): number {
    return NEW_ROWS_PLACE + this.#placesGiven++;
  }

  node(key: string): TxNode {
    const node = this.nodes.get(key);
    assert(node !== undefined, `transaction ${key} was loaded`);
    return node;
  }

  /** Live rows that spend the outpoint. */
  liveSpenders(outpoint: string): TxNode[] {
    return (this.#spenders.get(outpoint) ?? []).filter(({ status }) => isLive(status)).sort(byRow);
  }

  /** Live rows that spend an output of it. */
  liveChildren(key: string): TxNode[] {
    return [...(this.#children.get(key) ?? [])].filter(({ status }) => isLive(status)).sort(byRow);
  }

  isParentLive({ parent }: CreditNode): boolean {
    return isLive(this.nodes.get(parent.key)?.status ?? parent.status);
  }

  setStatus(node: TxNode, to: TxStatus, cause: StatusCause, by: Uint8Array | null = null): void {
    this.tell({ kind: 'tx.status', txId: node.txId, from: node.status, to, cause, by });
    node.status = to;
    node.isChanged = true;
  }

  /** It is in the block now: published, behind those of the wallet that are in it already. */
  confirm(node: TxNode, block: WalletBlock): void {
    if (node.status !== 'published') this.setStatus(node, 'published', 'confirmed');
    const places = this.places.get(block.height);
    assert(places !== undefined, `the places in block ${block.height} were loaded`);
    const order = (places.at(-1) ?? -1) + 1;
    places.push(order);
    if (node.block !== null) this.#leaveBlock(node, node.block.height);
    node.block = block;
    node.confirmedOrder = order;
    node.isChanged = true;
    this.tell({ kind: 'tx.confirmed', txId: node.txId, height: block.height });
  }

  #leaveBlock(node: TxNode, height: number): void {
    this.moved.add(node);
    const places = this.places.get(height);
    const at = places?.indexOf(node.confirmedOrder ?? -1) ?? -1;
    if (at !== -1) places?.splice(at, 1);
  }

  setSpender(credit: CreditNode, spender: CreditNode['spender']): void {
    credit.spender = spender;
    this.tell({ kind: spender === null ? 'utxo.unspent' : 'utxo.spent', outpoint: credit.outpoint, amount: credit.amount });
  }

  tell(event: WalletEvent): void {
    this.#events.add(this.walletId, event);
  }
}

/** In the order they were added. */
export function byRow(a: TxNode, b: TxNode): number {
  return a.place - b.place;
}

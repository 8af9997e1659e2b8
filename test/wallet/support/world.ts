/**
 * A store with wallets in it, for tests that tell stories: transactions have
 * names, and what they spend is written as `A:0`, output 0 of transaction A.
 * Whatever is not named in the story is somebody else's. Ids, scripts, blocks and
 * times follow from names and numbers, so every store sees the same.
 */
import assert from 'node:assert/strict';
import type { Outpoint } from '../../../src/ledgers/outpoint.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../../src/util/errors.ts';
import type { FreeCoins } from '../../../src/wallet/free-coins.ts';
import type { TxStatus, WalletBalance, WalletBlock, WalletEvent, WalletId, WalletTx } from '../../../src/wallet/records.ts';
import type { WalletRows } from '../../../src/wallet/rows.ts';
import type { CoinFilter, LeaseRequest, NewTx, WalletStore } from '../../../src/wallet/store.ts';

/** A store that is empty and nobody else's. */
export interface OpenedWalletStore {
  readonly store: WalletStore;
  /** Every row, as wallet/rows.ts has it. */
  rows(): Promise<WalletRows>;
  close(): Promise<void>;
}
export type OpenWalletStore = () => Promise<OpenedWalletStore>;

/** What a transaction pays: to own address `n`, or to somebody else. */
export type Payment = { readonly own?: number; readonly other?: number; readonly script?: Uint8Array; readonly amount: bigint };

export interface Story {
  readonly spends?: readonly string[];
  readonly pays?: readonly Payment[];
  readonly block?: WalletBlock;
  readonly status?: TxStatus;
  readonly label?: string;
  readonly received?: number;
  readonly replace?: boolean;
  readonly reactivate?: boolean;
  readonly credits?: NewTx['credits'];
  readonly creditCandidates?: NewTx['creditCandidates'];
  readonly walletId?: WalletId;
}

const SCOPE = { purpose: 84, coinType: 0 } as const;
export const NOW = 1_700_000_000_000;
const OWN_ADDRESSES = 10;

/** 32 bytes that begin with the name. */
export function idOf(name: string): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(new TextEncoder().encode(name));
  return bytes;
}

export function nameOf(id: Uint8Array | string): string {
  const bytes = typeof id === 'string' ? Buffer.from(id, 'hex') : id;
  let name = '';
  for (let at = 0; at < bytes.length && bytes[at] !== 0; at++) name += String.fromCharCode(bytes[at]);
  return name;
}

export function outpointOf(text: string): Outpoint {
  const [, name, index] = /^(.*):(\d+)$/.exec(text)!;
  return { txId: idOf(name), index: Number(index) };
}

/** The outpoints of the first coins of a choice. */
export function firstCoins(coins: FreeCoins, count: number): Outpoint[] {
  return [...coins].slice(0, count).map(({ outpoint }) => outpoint);
}

/** A witness program: `wallet` 0 is nobody of the story. */
export function scriptOf(wallet: number, n: number): Uint8Array {
  const script = new Uint8Array(22);
  script.set([0, 20, wallet, n >> 8, n & 0xff, 1]);
  return script;
}

export function blockAt(height: number, fork = 0): WalletBlock {
  return { height, hash: idOf(`block ${height} of ${fork}`), timestamp: NOW / 1000 + height };
}

export class World {
  readonly store: WalletStore;
  readonly rows: () => Promise<WalletRows>;
  readonly #close: () => Promise<void>;
  readonly #txs = new Map<string, WalletTx>();
  /** By number of the wallet in the story, from 1. */
  readonly wallets: WalletId[] = [];

  private constructor(opened: OpenedWalletStore) {
    this.store = opened.store;
    this.rows = () => opened.rows();
    this.#close = () => opened.close();
  }

  /** With one wallet that has ten addresses. */
  static async open(open: OpenWalletStore): Promise<World> {
    const world = new World(await open());
    await world.addWallet();
    return world;
  }

  /** With the wallets that the store has. */
  static async resume(open: OpenWalletStore, wallets: readonly WalletId[]): Promise<World> {
    const world = new World(await open());
    world.wallets.push(...wallets);
    return world;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  get wallet(): WalletId {
    return this.wallets[0];
  }

  async addWallet(): Promise<WalletId> {
    const number = this.wallets.length + 1;
    const { id } = await this.store.createWallet({ name: `wallet ${number}`, isWatchOnly: true });
    const account = await this.store.createAccount(id, {
      scope: SCOPE,
      name: 'main',
      externalKind: 'p2wpkh',
      internalKind: 'p2wpkh',
      isDerived: true,
      now: NOW,
    });
    const derive = (_: number, index: number) => ({ script: scriptOf(number, index), kind: 'p2wpkh' }) as const;
    const horizons = [{ accountId: account.id, branch: 0, index: OWN_ADDRESSES - 1, derive }] as const;
    await this.store.applyScanBatch(id, { horizons, txs: [], syncedBlocks: [], now: NOW });
    this.wallets.push(id);
    return id;
  }

  /** The transaction of that name; what it spends and pays is said once. */
  tx(name: string, { spends, pays, block }: Story = {}): WalletTx {
    const known = this.#txs.get(name);
    if (known !== undefined) return known;
    const isCoinbase = spends === undefined && block !== undefined && name.startsWith('coinbase');
    const inputs = isCoinbase ? [] : (spends ?? [`outside ${name}:0`]).map(outpointOf);
    const outputs = (pays ?? [{ own: 0, amount: 100n }]).map(({ own, other, script, amount }) => {
      return { script: script ?? (own === undefined ? scriptOf(0, other ?? 0) : scriptOf(1, own)), amount };
    });
    const tx: WalletTx = { id: idOf(name), raw: new TextEncoder().encode(`raw ${name}`), inputs, outputs, isCoinbase };
    this.#txs.set(name, tx);
    return tx;
  }

  /** As a call has it. Outputs to addresses of the wallet are its credits where the story does not say which are. */
  news(name: string, story: Story = {}): NewTx {
    const tx = this.tx(name, story);
    const walletId = story.walletId ?? this.wallet;
    const number = this.wallets.indexOf(walletId) + 1;
    const own = tx.outputs.flatMap(({ script }, index) => (script.length === 22 && script[2] === number ? [[index, null] as const] : []));
    const { status, received, label, block, credits, creditCandidates, replace, reactivate } = story;
    return {
      walletId,
      tx,
      received: received ?? NOW,
      status: status ?? 'published',
      credits: credits ?? new Map(own),
      label,
      block,
      creditCandidates,
      replace,
      reactivate,
    };
  }

  async create(name: string, story: Story = {}): Promise<void> {
    await this.store.createTx(this.news(name, story));
  }

  async invalidate(name: string): Promise<void> {
    await this.store.invalidateTx(this.wallet, idOf(name));
  }

  /** The block is the wallet's tip; rows of it may be stored. */
  async sync(height: number, fork = 0): Promise<WalletBlock> {
    const block = blockAt(height, fork);
    for (const walletId of this.wallets) await this.store.updateWallet(walletId, { syncedTo: block });
    return block;
  }

  async status(name: string, walletId = this.wallet): Promise<TxStatus> {
    return (await this.store.getTx(walletId, idOf(name))).status;
  }

  /** `A published 5`: name, status and height of every row, in the order they were added. */
  async states(wallet = 1): Promise<string[]> {
    const { txs } = (await this.rows()).wallets[wallet - 1];
    return txs.map(({ txId, status, height }) => `${nameOf(txId)} ${status}${height === null ? '' : ` ${height}`}`);
  }

  /** `A:0 spent by B`: every credit of the wallet, and who holds it. */
  async edges(wallet = 1): Promise<string[]> {
    const { credits } = (await this.rows()).wallets[wallet - 1];
    return credits.map(({ txId, index, spentBy }) => `${nameOf(txId)}:${index} ${spentBy === null ? 'unspent' : `by ${nameOf(spentBy)}`}`);
  }

  async replacements(wallet = 1): Promise<string[]> {
    const { replacements } = (await this.rows()).wallets[wallet - 1];
    return replacements.map(({ replaced, replacement }) => `${nameOf(replaced)} -> ${nameOf(replacement)}`);
  }

  async balance(filter: Partial<CoinFilter> = {}, walletId = this.wallet): Promise<WalletBalance> {
    return await this.store.balance(walletId, { now: NOW, ...filter });
  }

  async total(filter: Partial<CoinFilter> = {}, walletId = this.wallet): Promise<bigint> {
    return (await this.balance(filter, walletId)).total;
  }

  /** `A:0` for each coin. */
  async coins(filter: Partial<CoinFilter> = {}, walletId = this.wallet): Promise<string[]> {
    const coins = await this.store.listCoins(walletId, { now: NOW, ...filter });
    return coins.map(({ outpoint }) => `${nameOf(outpoint.txId)}:${outpoint.index}`);
  }

  async lease(outpoint: string, request: Partial<LeaseRequest> = {}): Promise<void> {
    await this.store.leaseCoins(this.wallet, [outpointOf(outpoint)], { id: idOf('lease'), now: NOW, durationMs: 1000, ...request });
  }

  /** The number of the newest event. */
  async mark(): Promise<number> {
    return (await this.store.eventRange()).newest;
  }

  /** What happened since, a line each. */
  async eventsSince(mark: number): Promise<string[]> {
    return (await this.store.listEvents(mark, 1_000_000)).map(({ event }) => eventText(event));
  }

  /** The call is refused with that code, and neither a row nor an event is another. */
  async refused(code: ErrorCode, call: () => Promise<unknown>): Promise<void> {
    const [before, mark] = [await this.rows(), await this.mark()];
    await assert.rejects(call, (error) => {
      assert.ok(isUnspentError(error), `${error}`);
      assert.equal(error.code, code, error.message);
      return true;
    });
    assert.deepEqual(await this.rows(), before);
    assert.deepEqual(await this.eventsSince(mark), []);
  }

  /** The call changes neither a row nor tells an event. */
  async changesNothing(call: () => Promise<unknown>): Promise<void> {
    const [before, mark] = [await this.rows(), await this.mark()];
    await call();
    assert.deepEqual(await this.rows(), before);
    assert.deepEqual(await this.eventsSince(mark), []);
  }
}

export function eventText(event: WalletEvent): string {
  switch (event.kind) {
    case 'tx.added':
      return `${event.kind} ${nameOf(event.txId)} ${event.status}`;
    case 'tx.status': {
      const by = event.by === null ? '' : ` by ${nameOf(event.by)}`;
      return `${event.kind} ${nameOf(event.txId)} ${event.from} -> ${event.to} (${event.cause}${by})`;
    }
    case 'tx.confirmed':
    case 'tx.unconfirmed':
      return `${event.kind} ${nameOf(event.txId)} at ${event.height}`;
    case 'tx.evicted':
    case 'tx.seen':
    case 'tx.deleted':
      return `${event.kind} ${nameOf(event.txId)}`;
    case 'utxo.created':
    case 'utxo.spent':
    case 'utxo.unspent':
      return `${event.kind} ${nameOf(event.outpoint.txId)}:${event.outpoint.index} ${event.amount}`;
    case 'lease.acquired':
    case 'lease.released':
    case 'lease.expired':
      return `${event.kind} ${nameOf(event.outpoint.txId)}:${event.outpoint.index} ${toHex(event.leaseId, 0, 8)}`;
    case 'sync.tip':
      return `${event.kind} ${event.height} ${nameOf(event.hash)}`;
    case 'reorg':
      return `${event.kind} ${event.from} -> ${event.to}, ${event.depth} deep`;
  }
}

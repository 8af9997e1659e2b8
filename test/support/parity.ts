/**
 * Our set of coins against a node's: count, total and hashes as its
 * `gettxoutsetinfo` says them, coin by coin where it dumps them, and the store
 * against itself. And a store that follows the node, once to its tip or for as
 * long as the test lasts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { compactBytes } from '../../src/ledgers/bitcoin/cursor.ts';
import { bitcoinNetwork, formatId, OUTPUT_FLAG } from '../../src/ledgers/bitcoin/index.ts';
import { bitcoinSetHash } from '../../src/ledgers/bitcoin/set-hash.ts';
import { commitmentOf } from '../../src/query/bitcoin/commitment.ts';
import type { FollowResult } from '../../src/sources/follow.ts';
import type { MempoolFeed } from '../../src/sources/source.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { concatBytes, toHex } from '../../src/util/bytes.ts';
import type { CoreNode } from './core-node.ts';
import type { NodeKind } from './node-kinds.ts';
import { until } from './patience.ts';
import { readUtxoDump } from './utxo-dump.ts';

const SATOSHIS = 100_000_000;

/** What both say of their set. */
interface SetInfo {
  readonly height: number;
  readonly bestblock: string;
  readonly transactions: number;
  readonly txouts: number;
  readonly bogosize: number;
  readonly total: bigint;
  /** The one that the node gives. */
  readonly hash: string;
}

async function nodeSet(node: CoreNode): Promise<SetInfo> {
  const info = await node.rpc('gettxoutsetinfo');
  const { height, bestblock, transactions, txouts, bogosize, total_amount } = info;
  const hash: string = info[node.kind.setHash];
  // A number of coins with eight digits behind the point: the nearest double is near enough below 2^53 satoshis.
  return { height, bestblock, transactions, txouts, bogosize, total: BigInt(Math.round(total_amount * SATOSHIS)), hash };
}

function ourSet(store: OpenStore, { setHash }: NodeKind): SetInfo {
  const { head } = store.fold;
  assert.ok(head !== null, 'the store has blocks');
  const { transactions, txouts, bogosize, value, hashSerialized2, hashSerialized3 } = commitmentOf(store.engine, head.hash, {
    muhash: false,
  });
  assert.deepEqual({ utxos: head.utxos, value: head.value }, { utxos: txouts, value }, 'the totals of the head');
  const hash = setHash === 'hash_serialized_2' ? hashSerialized2 : hashSerialized3;
  return { height: head.height, bestblock: formatId(head.hash), transactions, txouts, bogosize, total: value, hash };
}

/** The same set as the node's, at the same block. */
export async function assertParity(node: CoreNode, followers: readonly Follower[], when: string): Promise<void> {
  const wanted = await nodeSet(node);
  for (const { store, url } of followers) assert.deepEqual(ourSet(store, node.kind), wanted, `${when}, ${url}`);
}

/** The same MuHash of the set: kept from block to block by us (`proofs.setHash`), made from all coins by the node. */
export async function assertMuHash(node: CoreNode, store: OpenStore, when: string): Promise<void> {
  const { bestblock, muhash } = await node.rpc('gettxoutsetinfo', 'muhash');
  const ours = store.read((query) => query.setHash(bitcoinSetHash));
  const { head } = store.fold;
  assert.ok(head !== null);
  assert.deepEqual({ bestblock: formatId(head.hash), muhash: ours?.hash }, { bestblock, muhash }, when);
}

/** The node's whole set in a file, coin by coin. */
export async function assertDump(node: CoreNode, store: OpenStore): Promise<void> {
  const path = join(node.dir, 'utxo.dump');
  await node.rpc('dumptxoutset', path, 'latest');
  const { baseHash, magic, coins } = readUtxoDump(path);
  rmSync(path);
  assert.equal(magic, bitcoinNetwork(node.kind.network).magic);
  assert.deepEqual([toHex(baseHash), coins.length], [toHex(store.fold.head!.hash), store.fold.head!.utxos]);
  store.read((query) => {
    for (const { txId, index, height, coinbase, value, script } of coins) {
      const found = query.outpoint(txId, index);
      const name = `${formatId(txId)}:${index}`;
      assert.ok(found !== null && found.spent === null, `${name} is unspent`);
      const { output } = found;
      const amount = new Uint8Array(8);
      new DataView(amount.buffer).setBigUint64(0, value, true);
      assert.equal(toHex(output.raw), toHex(concatBytes(amount, compactBytes(script.length), script)), name);
      assert.deepEqual([output.height, (output.flags & OUTPUT_FLAG.coinbase) !== 0], [height, coinbase], name);
    }
  });
}

/** Totals, indexes and whatever else follows from the set do follow from it. */
export function assertSound(store: OpenStore, when: string): void {
  const { faults, utxos, value } = store.verify();
  assert.deepEqual(faults, [], `${when}: verify`);
  assert.deepEqual({ utxos, value }, { utxos: store.fold.head?.utxos, value: store.fold.head?.value }, `${when}: totals`);
}

/** A store in a folder of its own, and the node it follows. */
export class Follower {
  readonly url: string;
  private readonly node: CoreNode;
  private readonly settings: readonly string[];
  private readonly folder = mkdtempSync(join(tmpdir(), 'unspent-parity-'));
  private opened: OpenStore | null = null;
  private stopping: AbortController | null = null;
  private running: Promise<FollowResult | Error> | null = null;

  /** `settings`: as `--set` takes them. */
  constructor(node: CoreNode, url: string, settings: readonly string[] = []) {
    this.node = node;
    this.url = url;
    this.settings = settings;
  }

  get store(): OpenStore {
    assert.ok(this.opened !== null, 'the store is open');
    return this.opened;
  }

  /** Where its store is, or will be. */
  get data(): string {
    return join(this.folder, 'data');
  }

  async open(): Promise<void> {
    const { config } = loadConfig({ flags: { set: [...this.settings] }, env: {} });
    this.opened = await openStore({ network: this.node.kind.network, data: this.data, config });
  }

  /** To the tip, and no further. */
  async catchUp(): Promise<FollowResult> {
    return this.store.follow(this.url);
  }

  /** From now on, until `pause`. */
  stay(): void {
    this.stopping = new AbortController();
    // Kept as a value: whoever waits for a block is told, and nobody else has to listen.
    this.running = this.store.follow(this.url, { follow: true, signal: this.stopping.signal }).catch((error: Error) => error);
  }

  async pause(): Promise<FollowResult> {
    this.stopping?.abort();
    const result = await this.running;
    this.running = null;
    assert.ok(result !== null && !(result instanceof Error), `following ${this.url} failed: ${result}`);
    return result;
  }

  /** When it has the node's best block. */
  async reachesTip(): Promise<void> {
    const wanted = await this.node.rpc<string>('getbestblockhash');
    await until(async () => {
      if (this.running !== null) await Promise.race([this.running, null]).then((ended) => assert.equal(ended, null, `${ended}`));
      const { head } = this.store.fold;
      return head !== null && formatId(head.hash) === wanted;
    }, `${this.url} has block ${wanted}`);
  }

  get mempool(): MempoolFeed {
    const feed = this.store.following?.source.mempool;
    assert.ok(feed !== undefined, `${this.url} shows a mempool`);
    return feed;
  }

  /** As after a stop of the process. */
  async reopen(): Promise<void> {
    await this.store.close();
    await this.open();
  }

  async close(): Promise<void> {
    this.stopping?.abort();
    await this.running;
    await this.opened?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * The story of the crash tests for the Bitcoin family: a chain with forks, and
 * what every block of it adds up to by the producer's own account.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { Random } from '../../src/chains/random.ts';
import { formatId, MUHASH_BYTES, MuHash } from '../../src/ledgers/bitcoin/index.ts';
import { rawBlock } from '../../src/query/bitcoin/raw-block.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { Account } from './bitcoin-account.ts';
import { type PlainBlock, PlainChain } from './bitcoin-chain.ts';
import { assertHead, assertRows } from './bitcoin-rig.ts';
import { headOf } from './crash-check.ts';
import type { SetOf } from './crash-roots.ts';
import { pathTo, Tree, type TreeBlock } from './crash-tree.ts';
import { bitcoinOutput } from './tree-world.ts';

const FORK_BLOCKS_MAX = 40;

export class BitcoinStory {
  readonly tree = new Tree(null);
  /** The last block of the main chain. */
  readonly end: TreeBlock;
  private readonly plain = new Map<TreeBlock, PlainBlock>();
  private readonly chain: PlainChain;

  constructor(seed: number, blocks: number) {
    const random = new Random(seed, 7);
    this.chain = new PlainChain(seed, { txsMax: 3, wide: 0.001 });
    let tip = this.mine(null);
    for (let made = 1; made < blocks; made++) {
      if (made > 2 && random.chance(0.06)) this.fork(tip, 1 + random.int(FORK_BLOCKS_MAX));
      tip = this.mine(tip);
    }
    this.end = tip;
  }

  digestAt(block: TreeBlock): string {
    return this.accountAt(block).digest();
  }

  /** Every row of the store against the account of the block at its head. Returns that block. */
  check(store: OpenStore): TreeBlock | null {
    const block = this.tree.find(headOf(store));
    ok(block !== undefined, `the head ${headOf(store)} is a block of the story`);
    const account = this.accountAt(block);
    assertHead(store.fold.head, account, 'the store');
    assertRows(store.engine, account, `the store at ${headOf(store)}`);
    const { row } = account.setHash();
    const { setHash } = store.network.ledger;
    deepEqual(
      store.read((query) => query.setHash(setHash)),
      setHash.summary(row === '' ? null : fromHex(row)),
    );
    deepEqual(store.verify().faults, [], 'verify finds nothing');
    this.checkHistory(store, account);
    return block;
  }

  setAt(block: TreeBlock | null): SetOf {
    const account = this.accountAt(block);
    const outputs = new Map([...account.unspent].map(([name, output]) => [name, bitcoinOutput(output)]));
    const { row } = account.setHash();
    return { outputs, setHash: formatId((row === '' ? new MuHash() : MuHash.from(fromHex(row).subarray(0, MUHASH_BYTES))).digest()) };
  }

  /** As its readers get it: the newest block byte by byte, and what the last transactions did. */
  private checkHistory(store: OpenStore, account: Account): void {
    const { tip } = account;
    if (tip === undefined) return;
    store.read((query) => {
      const history = query.history();
      equal(toHex(rawBlock(query, query.blockByHash(tip.hash)!)), toHex(tip.raw));
      for (const { txId, index, name } of tip.txs.flatMap((tx) => tx.spends)) {
        const { height, txIndex, input } = account.spends.get(name)!;
        // The transaction that made the output is kept, so the spend need not carry it.
        deepEqual(history.spend(txId, index), { height, txIndex, input, output: null });
      }
    });
  }

  private accountAt(block: TreeBlock | null): Account {
    return new Account(pathTo(block).map((each) => this.plain.get(each)!));
  }

  private mine(parent: TreeBlock | null): TreeBlock {
    const mined = this.chain.mine();
    const block = this.tree.add(parent, mined.height, mined.slot, toHex(mined.hash), mined.raw);
    this.plain.set(block, mined);
    return block;
  }

  private fork(from: TreeBlock, length: number): void {
    let tip = from;
    for (let i = 0; i < length; i++) tip = this.mine(tip);
    this.chain.rollback(length);
  }
}

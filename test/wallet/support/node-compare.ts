/**
 * Our wallet against the node's, coin by coin and balance by balance. Where its
 * rules are others than ours, this is where they meet (docs/wallets.md says
 * which and why):
 *
 *   - it lists a coinbase with 101 confirmations: the filter asks for 101;
 *   - it does not list outputs of a transaction that is neither in a block nor in
 *     its mempool: of ours, those of evicted transactions are left out;
 *   - it trusts an unmined transaction only if it trusts all its parents;
 *   - it counts a coinbase that is too young whoever spends it: one that was old enough, was spent, and is too young again
 *     after a reorganisation; to ours it is added;
 *   - it keeps the coins of a transaction that lost until a block decides, unless
 *     it is told to abandon it: it is told so of those that are dead for us.
 */
import assert from 'node:assert/strict';
import { formatId } from '../../../src/ledgers/bitcoin/index.ts';
import { type Outpoint, outpointText } from '../../../src/ledgers/outpoint.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import type { WalletCoin } from '../../../src/wallet/records.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import { NodeError } from '../../support/core-node.ts';
import type { NodeRig } from './node-rig.ts';

/** Confirmations from which on the node's wallet spends a coinbase. */
const MATURITY = 101;
const COIN = 100_000_000;
const CONFIRMATIONS_MAX = 9_999_999;
/** The node's code for a transaction that its wallet does not have. */
const NOT_IN_WALLET = -5;

interface NodeCoin {
  readonly txid: string;
  readonly vout: number;
  readonly amount: number;
  readonly confirmations: number;
}

/** By id, as the node writes it: the outpoints that it spends. */
type Contradicted = ReadonlyMap<string, readonly string[]>;

function nodeOutpoint({ txId, index }: Outpoint): string {
  return `${formatId(txId)}:${index}`;
}

/** How often the two were compared, and what of it was put to the test. */
export class Comparison {
  compared = 0;
  /** Times that the balance was the node's without regard to evictions and parents. */
  plain = 0;
  /** Times that the node took a transaction in conflict with a lost block for confirmed, so that balances could not be compared. */
  withoutBalances = 0;
  coins = 0;
  private readonly rig: NodeRig;

  constructor(rig: NodeRig) {
    this.rig = rig;
  }

  /** The wallet has what the node has; then they must be equal. */
  async assertSame(when: string): Promise<void> {
    await this.rig.settle();
    const contradicted = await this.abandonDead(when);
    await this.compareCoins(when, contradicted);
    if (contradicted.size === 0) await this.compareBalances(when);
    else this.withoutBalances++;
    this.compared++;
  }

  /**
   * Those of our dead transactions that the node takes for confirmed, by their ids, with the outpoints that they spend: it
   * counts blocks above its tip as confirmations, as nodes did until they forgot conflicts with lost blocks.
   */
  private async abandonDead(when: string): Promise<Contradicted> {
    const contradicted = new Map<string, readonly string[]>();
    const [{ txs }] = (await this.rig.wallets.rows()).wallets;
    const mempool = new Set(await this.rig.node.rpc<string[]>('getrawmempool'));
    for (const { txId, status } of txs) {
      if (status !== 'replaced' && status !== 'failed') continue;
      const id = formatId(fromHex(txId));
      assert.ok(!mempool.has(id), `${when}: ${id} is ${status} for us, and the node's mempool has it`);
      const { confirmations, details } = await this.nodeTx(id);
      if (confirmations > 0) {
        const { tx } = await this.rig.wallets.getTx(this.rig.walletId, fromHex(txId));
        contradicted.set(id, tx.inputs.map(nodeOutpoint));
        continue;
      }
      const isAbandoned = details.length > 0 && details.every(({ abandoned }) => abandoned !== false);
      if (confirmations === 0 && !isAbandoned) await this.rig.ours('abandontransaction', id);
    }
    return contradicted;
  }

  /** Of one that the node's wallet does not have, because it only spends what others own, there is nothing to abandon. */
  private async nodeTx(
    id: string,
  ): Promise<{ readonly confirmations: number; readonly details: readonly { readonly abandoned?: boolean }[] }> {
    try {
      return await this.rig.ours('gettransaction', id);
    } catch (error) {
      if (error instanceof NodeError && error.code === NOT_IN_WALLET) return { confirmations: -1, details: [] };
      throw error;
    }
  }

  /** Without what the node has of transactions that it contradicts itself about, and without what it takes to be spent by them. */
  private async compareCoins(when: string, contradicted: Contradicted): Promise<void> {
    const { rig } = this;
    const spent = new Set([...contradicted.values()].flat());
    const [{ syncedTo }] = await rig.wallets.listWallets();
    for (const minConfs of [0, 1]) {
      const coins = (await this.coinsInSight(minConfs)).filter(({ outpoint }) => !spent.has(nodeOutpoint(outpoint)));
      const ours = coins.map(({ outpoint: { txId, index }, amount, height }) => {
        return `${formatId(txId)}:${index} ${amount} ${height === null ? 0 : syncedTo!.height - height + 1}`;
      });
      const listed = await rig.ours<NodeCoin[]>('listunspent', minConfs, CONFIRMATIONS_MAX);
      const theirs = listed
        .filter(({ txid, vout }) => !contradicted.has(txid) && !spent.has(`${txid}:${vout}`))
        .map(({ txid, vout, amount, confirmations }) => `${txid}:${vout} ${satoshis(amount)} ${confirmations}`);
      assert.deepEqual(ours.sort(), theirs.sort(), `${when}: coins with ${minConfs} confirmations or more`);
      this.coins += ours.length;
    }
  }

  private async compareBalances(when: string): Promise<void> {
    const { wallets, walletId } = this.rig;
    const now = this.rig.now();
    const mature = await wallets.balance(walletId, { now, coinbaseMaturity: MATURITY });
    const pending = (await this.coinsInSight(0)).filter(({ height }) => height === null);
    const sums = { trusted: mature.confirmed, untrusted_pending: 0n, immature: mature.immature + (await this.spentTooYoung()) };
    const trust = new Map<string, boolean>();
    for (const { amount, outpoint } of pending)
      sums[(await this.isTrusted(outpoint.txId, trust)) ? 'trusted' : 'untrusted_pending'] += amount;
    const { mine } = await this.rig.ours('getbalances');
    const theirs = {
      trusted: satoshis(mine.trusted),
      untrusted_pending: satoshis(mine.untrusted_pending),
      immature: satoshis(mine.immature),
    };
    assert.deepEqual(sums, theirs, `${when}: balances`);
    const isPlain = mature.confirmed + mature.trustedPending === theirs.trusted && mature.untrustedPending === theirs.untrusted_pending;
    if (isPlain) this.plain++;
  }

  /** Of coinbases that are too young, what transactions spend that wait for them. */
  private async spentTooYoung(): Promise<bigint> {
    const [{ txs, credits, syncedHeight }] = (await this.rig.wallets.rows()).wallets;
    const young = new Set(
      txs.flatMap(({ txId, isCoinbase, height }) =>
        isCoinbase && height !== null && (syncedHeight ?? 0) - height + 1 < MATURITY ? [txId] : [],
      ),
    );
    return credits.reduce((sum, { txId, amount, spentBy }) => (spentBy !== null && young.has(txId) ? sum + BigInt(amount) : sum), 0n);
  }

  /** What the node lists: without outputs of transactions that are nowhere. */
  private async coinsInSight(minConfs: number): Promise<WalletCoin[]> {
    const { wallets, walletId } = this.rig;
    const coins = await wallets.listCoins(walletId, { now: this.rig.now(), minConfs, coinbaseMaturity: MATURITY });
    return coins.filter((coin) => !coin.isEvicted);
  }

  /** As the node decides it: in a block, or in the mempool with all inputs of ours, from parents that are trusted. */
  private async isTrusted(txId: Uint8Array, known: Map<string, boolean>): Promise<boolean> {
    const id = outpointText({ txId, index: 0 });
    const before = known.get(id);
    if (before !== undefined) return before;
    const detail = await this.rig.wallets.getTxDetail(this.rig.walletId, txId);
    const { tx, block, ownedInputs } = detail;
    let trusted = block !== null;
    if (block === null && !tx.isCoinbase && !isEvicted(detail) && ownedInputs.length === tx.inputs.length) {
      trusted = true;
      for (const input of tx.inputs) trusted &&= await this.isTrusted(input.txId, known);
    }
    known.set(id, trusted);
    return trusted;
  }
}

/** From a number of coins with eight digits behind the point: the nearest double is near enough below 2^53 satoshis. */
export function satoshis(coins: number): bigint {
  return BigInt(Math.round(coins * COIN));
}

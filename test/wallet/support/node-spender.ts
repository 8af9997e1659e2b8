/**
 * What our own wallet sends: coins chosen and leased in one step, a PSBT made,
 * signed and finished, the transaction handed to the node that is followed, and
 * later replaced by one with a higher fee.
 */
import assert from 'node:assert/strict';
import type { Random } from '../../../src/chains/random.ts';
import { formatId, parseAddress, parseId } from '../../../src/ledgers/bitcoin/index.ts';
import { equalBytes, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import {
  createPsbt,
  type DerivedScript,
  extractTx,
  inspectPsbt,
  type PsbtOutput,
  signPsbt,
  spendForm,
} from '../../../src/wallet/bitcoin/keys/index.ts';
import { relayPolicyOf } from '../../../src/wallet/bitcoin/operations/relay-policy.ts';
import { walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import type { FreeCoins } from '../../../src/wallet/free-coins.ts';
import type { WalletCoin } from '../../../src/wallet/records.ts';
import { COINBASE_MATURITY } from '../../../src/wallet/rules/confirmations.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import type { Coin, Selection, SelectionRequest } from '../../../src/wallet/selection/bitcoin/coin.ts';
import { selectReplacement } from '../../../src/wallet/selection/bitcoin/fee-bump.ts';
import { inputWeight } from '../../../src/wallet/selection/bitcoin/input-weight.ts';
import { selectCoins } from '../../../src/wallet/selection/bitcoin/select.ts';
import { satoshis } from './node-compare.ts';
import type { NodeRig } from './node-rig.ts';

const RATE = 20_000;
const LEASE_ID = new Uint8Array(32).fill(7);
const LEASE_MS = 1000;

/** A payment that was sent, and what a replacement of it needs to know. */
interface Sent {
  readonly id: Uint8Array;
  readonly selection: Selection;
  readonly rate: number;
}

export class NodeSpender {
  readonly sent: Sent[] = [];
  bumped = 0;
  private readonly rig: NodeRig;
  private readonly random: Random;

  constructor(rig: NodeRig, random: Random) {
    this.rig = rig;
    this.random = random;
  }

  /** False: there are no coins for it. */
  async send(value: bigint): Promise<boolean> {
    const { wallets, walletId, network } = this.rig;
    const script = parseAddress(network, await this.rig.others('getnewaddress'));
    const change = this.rig.nextOwner(1);
    const now = this.rig.now();
    const evicted = await this.evictedIds();
    const ancestors = await this.ancestry();
    const choose = (coins: FreeCoins): { coins: WalletCoin['outpoint'][]; selection: Selection } => {
      const usable = [...coins].filter(({ outpoint }) => !evicted.has(toHex(outpoint.txId)));
      const selection = selectCoins(
        usable.map((coin) => this.coinOf(coin, ancestors)),
        this.request(value, script, change, RATE),
        this.random,
      );
      return { coins: selection.inputs.map(({ txId, index }) => ({ txId, index })), selection };
    };
    try {
      const { selection } = await wallets.selectAndLease(walletId, { now, coinbaseMaturity: COINBASE_MATURITY }, choose, {
        id: LEASE_ID,
        now,
        durationMs: LEASE_MS,
      });
      await this.publish(selection, change, RATE, false);
      return true;
    } catch (error) {
      if (isUnspentError(error, 'FUNDS_INSUFFICIENT')) return false;
      throw error;
    }
  }

  /** Of the newest payment that still waits: the same, for more. False: none waits. */
  async bump(): Promise<boolean> {
    const { node, wallets, walletId } = this.rig;
    const mempool = new Set(await node.rpc<string[]>('getrawmempool'));
    const last = this.sent.findLast(({ id }) => mempool.has(formatId(id)));
    if (last === undefined || last.selection.change === 0n) return false;
    const { descendantcount, fees, vsize } = await node.rpc('getmempoolentry', formatId(last.id));
    if (descendantcount > 1) return false;
    const [{ value, script }] = last.selection.outputs;
    const change = this.rig.nextOwner(1);
    const coins = await wallets.listCoins(walletId, { now: this.rig.now(), minConfs: 1, coinbaseMaturity: COINBASE_MATURITY });
    const unleased = coins.filter(({ lease }) => lease === null).map((coin) => this.coinOf(coin, new Map()));
    const rate = last.rate * 2;
    const request = { ...this.request(value, script, change, rate), preset: last.selection.inputs };
    const victim = { fee: satoshis(fees.base), vsize, direct: true, replaceable: true };
    const selection = selectReplacement(unleased, request, [victim], undefined, this.random);
    await this.publish(selection, change, rate, true);
    const { status } = await wallets.getTx(walletId, last.id);
    assert.equal(status, 'replaced');
    this.bumped++;
    return true;
  }

  /** Our payments are in blocks, but for one that was replaced; the one in its place is. */
  async assertConfirmed(): Promise<void> {
    const rows = await Promise.all(this.sent.map(({ id }) => this.rig.wallets.getTx(this.rig.walletId, id)));
    assert.ok(this.bumped > 0 && rows.some(({ status }) => status === 'replaced'));
    const confirmed = rows.filter(({ block }) => block !== null);
    assert.ok(confirmed.length > 0, 'a payment of ours is in a block');
    for (const { tx, label } of confirmed) {
      const { confirmations } = await this.rig.node.rpc('getrawtransaction', formatId(tx.id), true);
      assert.ok(confirmations > 0);
      assert.equal(label, 'sent by us');
    }
  }

  private request(value: bigint, script: Uint8Array, change: DerivedScript, rate: number): SelectionRequest {
    const form = spendForm(change)!;
    return {
      outputs: [{ value, script }],
      change: { script: change.script, spendWeight: inputWeight(form) },
      rates: { ...relayPolicyOf(this.rig.network).rates, target: rate },
    };
  }

  private async publish(selection: Selection, change: DerivedScript, rate: number, replace: boolean): Promise<void> {
    const { network, wallets, walletId, ring, mempool } = this.rig;
    const outputs: PsbtOutput[] = selection.outputs.map(({ script, value }) => ({ script, amount: value }));
    if (selection.changeIndex !== null)
      outputs.splice(selection.changeIndex, 0, { script: change.script, amount: selection.change, owner: change });
    const inputs = await Promise.all(
      selection.inputs.map(async ({ txId, index, value }) => {
        const { tx } = await wallets.getTx(walletId, txId);
        return { txid: txId, index, amount: value, owner: this.rig.owners.get(toHex(tx.outputs[index].script))!, previousTx: tx.raw };
      }),
    );
    const { psbt } = signPsbt(createPsbt({ network, inputs, outputs }), ring);
    assert.equal(inspectPsbt(psbt).fee, selection.fee);
    const { raw, txid } = extractTx(psbt);
    const tx = walletTxOf(raw, network.mweb);
    assert.ok(equalBytes(tx.id, txid));
    const credits = new Map<number, null>();
    for (const [index, { script }] of tx.outputs.entries()) if (this.rig.owners.has(toHex(script))) credits.set(index, null);
    await wallets.createTx({ walletId, tx, received: this.rig.now(), status: 'pending', credits, replace, label: 'sent by us' });
    assert.deepEqual(await mempool.submit(raw), tx.id, 'the node takes it');
    this.sent.push({ id: tx.id, selection, rate });
  }

  private coinOf({ outpoint, amount, script, kind, height, isOwnChange }: WalletCoin, ancestry: ReadonlyMap<string, Ancestry>): Coin {
    const form = spendForm(this.rig.owners.get(toHex(script))!)!;
    const { ancestors, descendants } = ancestry.get(toHex(outpoint.txId)) ?? { ancestors: 0, descendants: 0 };
    return {
      ...outpoint,
      value: amount,
      weight: inputWeight(form),
      type: kind,
      script: toHex(script),
      confirmations: height === null ? 0 : 6,
      own: isOwnChange,
      ancestors,
      descendants,
      bumpFee: 0n,
    };
  }

  private async evictedIds(): Promise<Set<string>> {
    const rows = await this.rig.wallets.listTxs(this.rig.walletId, 'unmined');
    return new Set(rows.filter(isEvicted).map(({ tx }) => toHex(tx.id)));
  }

  private async ancestry(): Promise<Map<string, Ancestry>> {
    const entries = await this.rig.node.rpc<Record<string, { ancestorcount: number; descendantcount: number }>>('getrawmempool', true);
    return new Map(
      Object.entries(entries).map(([id, { ancestorcount, descendantcount }]) => [
        toHex(parseId(id)),
        { ancestors: ancestorcount, descendants: ancestorcount + descendantcount },
      ]),
    );
  }
}

interface Ancestry {
  readonly ancestors: number;
  readonly descendants: number;
}

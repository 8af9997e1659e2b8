/**
 * The mempool of a local node as a source tells it: what others put there, what
 * goes into a block, what was submitted here and is gone before anybody looked,
 * and that nothing told is left when the connection is lost.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { devnetMempool } from '../../../../src/chains/cardano/devnet/ledger-feed.ts';
import { LiveDevnet } from '../../../../src/chains/cardano/devnet/live.ts';
import { makeWallet } from '../../../../src/chains/cardano/devnet/wallet.ts';
import { serveChain } from '../../../../src/chains/cardano/responder/index.ts';
import type { MempoolChange } from '../../../../src/ledgers/mempool-change.ts';
import { type OuroborosSource, openOuroboros } from '../../../../src/sources/cardano/ouroboros/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { until } from '../../../support/patience.ts';

const { address } = makeWallet(3);

/** A devnet on a local socket, and a source that is followed and watched there. */
class Stage {
  readonly chain = new LiveDevnet({ seed: 3, txPerBlock: 1 });
  readonly told: MempoolChange[] = [];
  source!: OuroborosSource;
  private readonly folder = mkdtempSync(join(tmpdir(), 'unspent-mempool-'));
  private readonly stop = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private responder: Awaited<ReturnType<typeof serveChain>> | null = null;

  static async with(body: (stage: Stage) => Promise<void>): Promise<void> {
    const stage = new Stage();
    try {
      await stage.start();
      await body(stage);
    } finally {
      await stage.close();
    }
  }

  private async start(): Promise<void> {
    this.chain.mine(3);
    await this.serve();
    const { magic, byronEpochSlots } = this.chain.network;
    this.source = openOuroboros([`n2c:${this.socket}`], { magic, byronEpochSlots, reconnectMs: [5, 5] });
    this.following = this.follow();
    this.source.mempool!.watch((change) => this.told.push(change));
    await until(() => this.source.status().state === 'following', 'the node is followed');
  }

  get socket(): string {
    return join(this.folder, 'node.socket');
  }

  async serve(): Promise<void> {
    this.responder = await serveChain(this.chain, { socket: this.socket });
  }

  /** The node goes; whoever is connected loses the connection. */
  async leave(): Promise<void> {
    await this.responder?.close();
    this.responder = null;
  }

  private async follow(): Promise<void> {
    for await (const _run of this.source.runs({ from: [], signal: this.stop.signal, follow: true }));
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.following;
    await this.leave();
    await this.chain.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What was told so far. */
  story(): string[] {
    return storyOf(this.told);
  }

  async tells(wanted: readonly string[]): Promise<void> {
    await until(() => this.told.length > 0 && this.story().length >= wanted.length, 'the feed has told it');
    assert.deepEqual(this.story(), wanted);
    this.told.length = 0;
  }
}

function storyOf(told: readonly MempoolChange[]): string[] {
  return told.flatMap((change) => {
    if (change.kind === 'reset') return ['reset'];
    if (change.kind === 'remove') return change.ids.map((id) => `- ${toHex(id)} ${change.slot}`);
    return change.txs.map((tx) => `+ ${toHex(tx)}`);
  });
}

describe('the mempool of a local node', () => {
  it('is told as it changes, with the slot it was for when something left', () =>
    Stage.with(async (stage) => {
      const { chain } = stage;
      const here: MempoolChange[] = [];
      const stop = devnetMempool(chain).watch((change) => here.push(change));
      /** A devnet in the same process tells the same, at once. */
      const tells = async (wanted: readonly string[]): Promise<void> => {
        assert.deepEqual(storyOf(here.splice(0)), wanted);
        await stage.tells(wanted);
      };
      const first = chain.fund(address, 5_000_000n);
      await tells([`+ ${toHex(chain.pending()[0].tx)}`]);
      chain.fund(address, 6_000_000n);
      await tells([`+ ${toHex(chain.pending()[1].tx)}`]);
      const second = chain.pending()[1].id;
      chain.mine();
      const slot = chain.tip.point!.slot + 1;
      await tells([`- ${toHex(first)} ${slot}`, `- ${toHex(second)} ${slot}`]);
      chain.rollback(1);
      await tells(chain.pending().map(({ tx }) => `+ ${toHex(tx)}`));
      stop();
    }));

  it('is told to have lost what was submitted here, whether or not a look has seen it there', () =>
    Stage.with(async (stage) => {
      const { chain, source } = stage;
      // Another devnet with the same story makes the transaction.
      const twin = new LiveDevnet({ seed: 3, txPerBlock: 1 });
      twin.mine(3);
      twin.fund(address, 5_000_000n);
      const [{ tx, id }] = twin.pending();
      assert.deepEqual(await source.mempool!.submit(tx), id);
      chain.mine();
      const removed = `- ${toHex(id)} ${chain.tip.point!.slot + 1}`;
      await until(() => stage.story().includes(removed), 'it is told to have left');
      assert.deepEqual(
        stage.story().filter((line) => line !== removed && line !== `+ ${toHex(tx)}`),
        [],
      );
    }));

  it('is void when the connection is lost, and told anew over the next one', () =>
    Stage.with(async (stage) => {
      const { chain } = stage;
      chain.fund(address, 5_000_000n);
      const added = `+ ${toHex(chain.pending()[0].tx)}`;
      await stage.tells([added]);
      await stage.leave();
      await stage.tells(['reset']);
      await stage.serve();
      await stage.tells([added]);
    }));
});

/**
 * What a local client can ask and do: questions to the ledger at a point,
 * transactions into the next block, a look at the mempool.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { decode } from 'cborg';
import { makeWallet } from '../../../../src/chains/cardano/devnet/wallet.ts';
import { encodeLedgerOutput } from '../../../../src/ledgers/cardano/ledger-output.ts';
import { outpointIndex, TXID_BYTES } from '../../../../src/ledgers/outpoint.ts';
import { readStored } from '../../../../src/projections/coin.ts';
import { UNSPENT } from '../../../../src/projections/utxo.ts';
import { LOCAL_TX_MONITOR } from '../../../../src/sources/cardano/ouroboros/local-tx-monitor.ts';
import { Mux } from '../../../../src/sources/cardano/ouroboros/mux.ts';
import { N2cClient } from '../../../../src/sources/cardano/ouroboros/n2c-client.ts';
import { type EraQuestion, readEraResult, type UtxoEntry } from '../../../../src/sources/cardano/ouroboros/queries.ts';
import { Session } from '../../../../src/sources/cardano/ouroboros/session.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import { CborWriter } from '../../../../src/util/cbor-write.ts';
import { until } from '../../../support/patience.ts';
import { assertNothingHeld, assertSame, later, type Net, openFollower, SMALL, serveDevnet, source } from './net.ts';

const VOLATILE = { at: 'volatileTip' } as const;
const CONWAY = 6;

async function localClient(t: TestContext, net: Pick<Net, 'data'>): Promise<N2cClient> {
  const mux = new Mux(connect(join(net.data, 'socket')), { peer: 'the node' });
  later(t, () => mux.close());
  return N2cClient.over(mux, { magic: 42, byronEpochSlots: 21_600 });
}

function lines(entries: Iterable<UtxoEntry>): string[] {
  return Array.from(entries, ({ input, output }) => `${toHex(input.txId)}#${input.index} ${toHex(output)}`).sort();
}

function encodedLine({ key, output }: { readonly key: string; readonly output: Uint8Array }): string {
  return `${key} ${toHex(encodeLedgerOutput(output))}`;
}

/** Spends one output of the devnet's, all of it to one address. */
function payment(net: Net, to: Uint8Array, fee = 200_000n): { tx: Uint8Array; key: string; lovelace: bigint } {
  const coin = [...net.devnet.utxos.values()].find(({ assets, lovelace }) => assets.size === 0 && lovelace > 5_000_000n)!;
  const w = new CborWriter().array(4).map(3).uint(0).array(1).array(2).bytes(coin.txId).uint(coin.index);
  w.uint(1)
    .array(1)
    .array(2)
    .bytes(to)
    .bigUint(coin.lovelace - fee);
  return { tx: w.uint(2).bigUint(200_000n).map(0).bool(true).null().take(), key: coin.key, lovelace: coin.lovelace - fee };
}

/** Rational numbers as their pair; cost models by the number of their language. */
const readParameters = (bytes: Uint8Array): unknown[] => decode(bytes, { useMaps: true, tags: { 30: (inner) => inner() } }) as unknown[];

describe('questions to the ledger', () => {
  it('the whole unspent set is that of a store at the same point, each output as a ledger encodes it', async (t) => {
    const net = await serveDevnet(t, 300);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    await store.follow(source(net.url('n2n'), net.devnet));
    const client = await localClient(t, net);
    const { head } = store.fold;
    const target = { at: 'point', point: { slot: head!.slot, hash: head!.hash } } as const;
    const answered = await client.ask(target, async (ledger) => {
      assert.deepEqual(await ledger.tip(), net.devnet.tip);
      return lines(await ledger.utxoWhole());
    });
    const ours: string[] = [];
    for (const [key, value] of store.engine.scan(UNSPENT)) {
      ours.push(`${toHex(key, 0, TXID_BYTES)}#${outpointIndex(key)} ${toHex(encodeLedgerOutput(readStored(value).raw))}`);
    }
    assert.ok(ours.length > 200, `${ours.length} outputs`);
    assert.deepEqual(answered, ours.sort());
  });

  it('era, epoch, parameters, outputs by address and by input', async (t) => {
    const net = await serveDevnet(t, 60);
    const client = await localClient(t, net);
    const some = [...net.devnet.utxos.values()].slice(3, 9);
    await client.ask(VOLATILE, async (ledger) => {
      assert.equal(await ledger.currentEra(), CONWAY);
      assert.equal(await ledger.epoch(), 0);
      assert.equal(readParameters(await ledger.parameters()).length, 31);
      const byInput = await ledger.utxoByInput([...some, { txId: new Uint8Array(32), index: 0 }]);
      assert.deepEqual(lines(byInput), some.map(encodedLine).sort());
      const { addressHex } = some[0];
      const there = [...net.devnet.utxos.values()].filter((utxo) => utxo.addressHex === addressHex);
      assert.deepEqual(lines(await ledger.utxoByAddress([fromHex(addressHex)])), there.map(encodedLine).sort());
      const history = decode(await ledger.ask({ about: 'eraHistory' })) as unknown[][];
      assert.equal(history.length, 7);
      assert.equal(history[6][1], null);
      assert.deepEqual(decode(await ledger.ask({ about: 'systemStart' })), [2026, 1, 0]);
      const other = decode(await ledger.ask({ about: 'era', eraIndex: 5, question: { about: 'epoch' } }));
      assert.deepEqual(other, [
        [5, 'Babbage'],
        [6, 'Conway'],
      ]);
    });
    await until(() => net.devnet.held.views === 0, 'the view is released');
  });

  it('a view stays as it was while the chain grows and turns', async (t) => {
    const net = await serveDevnet(t, 40);
    const { devnet } = net;
    const client = await localClient(t, net);
    const before = [...devnet.utxos.keys()].sort();
    const keys = (entries: Iterable<UtxoEntry>) => Array.from(entries, ({ input }) => `${toHex(input.txId)}#${input.index}`).sort();
    await client.ask(VOLATILE, async (ledger) => {
      devnet.mine(5);
      assert.deepEqual(keys(await ledger.utxoWhole()), before, 'after blocks');
      devnet.fork(20);
      assert.deepEqual(keys(await ledger.utxoWhole()), before, 'after a fork below it');
      assert.equal(devnet.held.views, 1);
    });
    const [, , third] = devnet.blocks;
    await client.ask({ at: 'point', point: third }, async (ledger) => assert.equal((await ledger.tip()).height, 2));
    await client.ask({ at: 'immutableTip' }, async (ledger) => assert.equal((await ledger.tip()).point, null));
    const nowhere = { at: 'point', point: { slot: 3, hash: new Uint8Array(32) } } as const;
    await assert.rejects(
      client.ask(nowhere, async () => {}),
      { code: 'POINT_UNKNOWN' },
    );
  });
});

describe('what cannot be answered', () => {
  const asked = { about: 'era', eraIndex: CONWAY, question: { about: 'unknown', key: 16 } } as const;

  it('a question of another era, known to us or not, is told both eras', async (t) => {
    const client = await localClient(t, await serveDevnet(t, 5));
    await client.ask(VOLATILE, async (ledger) => {
      const other = decode(await ledger.ask({ ...asked, eraIndex: 5 }));
      assert.deepEqual(other, [
        [5, 'Babbage'],
        [6, 'Conway'],
      ]);
    });
  });

  it('the ledger’s tip, and an answer as bytes', async (t) => {
    const net = await serveDevnet(t, 5);
    const client = await localClient(t, net);
    await client.ask(VOLATILE, async (ledger) => {
      const era = async (question: EraQuestion) => readEraResult(await ledger.ask({ about: 'era', eraIndex: CONWAY, question }));
      const { slot, hash } = net.devnet.tip.point!;
      assert.deepEqual(decode(await era({ about: 'ledgerTip' })), [slot, hash]);
      const inner = await era({ about: 'encoded', question: { about: 'utxoWhole' } });
      assert.deepEqual(
        decode(inner, { tags: { 24: (content) => content() } }),
        await era({ about: 'utxoWhole' }),
        'the very bytes of the plain answer',
      );
    });
  });

  it('ends the connection, with the reason, after what the other protocols had to say', async (t) => {
    const ended: string[] = [];
    const net = await serveDevnet(t, 10, undefined, SMALL, (why) => ended.push(why?.message ?? 'goodbye'));
    const client = await localClient(t, net);
    const { tx } = payment(net, makeWallet(9).address);
    await client.ask(VOLATILE, async (ledger) => {
      // Both are sent in one go, and the responder has answered the first when the second ends it.
      const submitted = client.submit(tx, CONWAY);
      await assert.rejects(ledger.ask(asked), { code: 'SOURCE_UNREACHABLE' });
      assert.deepEqual(await submitted, { accepted: true });
    });
    assert.equal(net.devnet.pending().length, 1);
    await until(() => net.responder.clients === 0, 'gone');
    assert.deepEqual(ended, ['it asked what this chain cannot answer (query 16 of an era is not answered), which ends a connection']);
    assertNothingHeld(net);
    const again = await localClient(t, net);
    await again.ask(VOLATILE, async (ledger) => assert.equal(await ledger.epoch(), 0));
  });

  it('protocol parameters are Conway’s in Conway, and refused in an era whose we do not have', async (t) => {
    const early = { ...SMALL, eras: [{ era: 6, atHeight: 0 }] };
    const net = await serveDevnet(t, 5, undefined, early);
    const client = await localClient(t, net);
    await client.ask(VOLATILE, async (ledger) => {
      assert.equal(await ledger.currentEra(), 5, 'Babbage');
      await assert.rejects(ledger.parameters(), { code: 'SOURCE_UNREACHABLE' });
    });
    const { protocolParams } = JSON.parse(net.devnet.genesis.shelley) as { protocolParams: Record<string, number> };
    const conway = await localClient(t, await serveDevnet(t, 5));
    const told = await conway.ask(VOLATILE, (ledger) => ledger.parameters());
    const fields = readParameters(told);
    assert.equal(fields.length, 31);
    const { minFeeA, minFeeB, maxBlockBodySize, nOpt, minPoolCost } = protocolParams;
    assert.deepEqual([fields[0], fields[1], fields[2], fields[8], fields[13]], [minFeeA, minFeeB, maxBlockBodySize, nOpt, minPoolCost]);
  });
});

describe('transactions', () => {
  it('go into the next block, come back after a rollback, and are refused with a reason', async (t) => {
    const net = await serveDevnet(t, 10);
    const { devnet } = net;
    const store = await openFollower(t, net.data, 'store', devnet);
    const client = await localClient(t, net);
    const { address } = makeWallet(9);
    const { tx, key, lovelace } = payment(net, address);
    assert.deepEqual(await client.submit(tx, CONWAY), { accepted: true });
    devnet.mine(1);
    const mine = () => [...devnet.utxos.values()].filter(({ addressHex }) => addressHex === toHex(address));
    assert.deepEqual(
      mine().map((utxo) => utxo.lovelace),
      [lovelace],
    );
    assert.equal(devnet.utxos.has(key), false);
    await store.follow(source(net.url('n2c'), devnet));
    assertSame(store, devnet);

    devnet.rollback(1);
    assert.equal(mine().length, 0);
    assert.equal(devnet.pending().length, 1, 'it waits again');
    devnet.mine(30);
    assert.deepEqual(
      mine().map((utxo) => utxo.lovelace),
      [lovelace],
      'and nobody spends what is not the devnet’s',
    );
    await store.follow(source(net.url('n2c'), devnet));
    assertSame(store, devnet);

    const reason = async (bytes: Uint8Array, era = CONWAY) => {
      const verdict = await client.submit(bytes, era);
      assert.ok(!verdict.accepted);
      return (decode(verdict.reason) as [[number, [[number, string]]]])[0][1][0][1];
    };
    assert.match(await reason(tx), /is not unspent/);
    assert.match(await reason(payment(net, address, 100_000n).tx), /value is not conserved/);
    assert.match(await reason(Uint8Array.of(0x80)), /not a Conway transaction/);
    assert.match(await reason(payment(net, address).tx, 5), /era 5/);
  });

  it('wait in a mempool that can be looked at', async (t) => {
    const net = await serveDevnet(t, 10);
    const { devnet } = net;
    const client = await localClient(t, net);
    const { address } = makeWallet(9);
    const ids = [devnet.fund(address, 5_000_000n), devnet.fund(address, 6_000_000n)];
    await client.mempool(async (mempool) => {
      assert.equal(mempool.slot, devnet.tip.point!.slot + 1);
      assert.equal(await mempool.has({ eraIndex: CONWAY, id: ids[1] }), true);
      assert.equal(await mempool.has({ eraIndex: CONWAY, id: new Uint8Array(32) }), false);
      const { txs, sizeBytes, capacityBytes } = await mempool.sizes();
      assert.ok(txs === 2 && sizeBytes > 200 && capacityBytes > sizeBytes);
      assert.equal((await mempool.measures())[0].used, sizeBytes);
      assert.deepEqual(
        (await mempool.txs()).map(({ tx }) => toHex(tx)),
        devnet.pending().map(({ tx }) => toHex(tx)),
      );
    });
    devnet.mine(1);
    await client.mempool(async (mempool) => assert.equal((await mempool.sizes()).txs, 0));
    assert.equal([...devnet.utxos.values()].filter(({ addressHex }) => addressHex === toHex(address)).length, 2);
  });

  it('acquiring a mempool again waits until it has changed', async (t) => {
    const net = await serveDevnet(t, 10);
    const client = await localClient(t, net);
    const session = new Session(client.mux, LOCAL_TX_MONITOR, 'initiator');
    session.send({ kind: 'acquire' });
    assert.equal((await session.receive()).kind, 'acquired');
    session.send({ kind: 'acquire' });
    let isBack = false;
    const answer = session.receive().then((message) => {
      isBack = true;
      return message;
    });
    await sleep(50);
    assert.equal(isBack, false);
    net.devnet.fund(makeWallet(9).address, 5_000_000n);
    assert.equal((await answer).kind, 'acquired');
    await client.close();
    await until(() => net.responder.clients === 0, 'gone');
    assertNothingHeld(net);
  });
});

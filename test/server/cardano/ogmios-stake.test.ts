/**
 * Stake accounts and pots through the Ogmios API, from a node that is followed
 * over its local socket, with the client that comes from npm; and from a devnet in
 * the same process, which answers the same.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createInteractionContext, createLedgerStateQueryClient, type InteractionContext } from '@cardano-ogmios/client';
import { Ed25519KeyHash } from '@emurgo/cardano-serialization-lib-nodejs';
import { devnetLedger } from '../../../src/chains/cardano/devnet/ledger-feed.ts';
import { formatAddress, rewardAddress } from '../../../src/ledgers/cardano/index.ts';
import { readPots, readStakeAccounts } from '../../../src/ledgers/cardano/stake-accounts.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { ScriptNetwork } from '../../support/script-network.ts';
import { Served } from '../../support/served.ts';
import { signTx } from '../../support/sign.ts';

const FEE = 200_000n;
const KEY = '5a'.repeat(28);
const SCRIPT = '5b'.repeat(28);
const POOL = '5c'.repeat(28);
const ACCOUNT = formatAddress(rewardAddress({ kind: 'key', hash: fromHex(KEY) }, 0));

let network: ScriptNetwork;
let context: InteractionContext;
before(async () => {
  network = await ScriptNetwork.start(35);
  const address = { http: `${network.url}ogmios`, webSocket: `${network.url}ogmios`.replace('http:', 'ws:') };
  context = await createInteractionContext(
    (error) => assert.fail(error),
    () => undefined,
    { connection: { address } },
  );
});
after(async () => {
  context.socket.close();
  await network.close();
});

/** In a block: a transaction with these certificates, as CBOR in hex, that gives so much to the treasury. */
async function certify(certificates: readonly string[], donation = 0n): Promise<void> {
  const [coin] = network.coins();
  const w = new CborWriter().array(4).map(5);
  w.uint(0).array(1).array(2).bytes(coin.txId).uint(coin.index);
  w.uint(1)
    .array(1)
    .array(2)
    .bytes(network.wallet.address)
    .bigUint(coin.lovelace - FEE - donation);
  w.uint(2).bigUint(FEE).uint(4).array(certificates.length);
  for (const certificate of certificates) w.raw(fromHex(certificate));
  const tx = w.uint(22).bigUint(donation).map(0).bool(true).null().take();
  const verdict = network.chain.submit(signTx(tx, network.wallet));
  assert.ok(verdict.accepted, JSON.stringify(verdict));
  await network.mine();
}

interface Pots {
  readonly treasury: { readonly ada: { readonly lovelace: number } };
  readonly reserves: { readonly ada: { readonly lovelace: number } };
}

/** The client has no method for it. */
async function potsOf(): Promise<Pots> {
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'queryLedgerState/treasuryAndReserves' });
  const answer = await fetch(`${network.url}ogmios`, { method: 'POST', body });
  return ((await answer.json()) as { readonly result: Pots }).result;
}

const key = `8200581c${KEY}`;
const script = `8201581c${SCRIPT}`;

describe('stake through the Ogmios API', () => {
  it('has no account where none is registered, nor where none is asked for', async () => {
    const client = await createLedgerStateQueryClient(context);
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [KEY] }), []);
    assert.deepEqual(await client.rewardAccountSummaries({}), []);
  });

  it('says whom accounts delegate to, and goes back with the chain', async () => {
    const client = await createLedgerStateQueryClient(context);
    const registered = { credential: KEY, rewards: { ada: { lovelace: 0n } }, deposit: { ada: { lovelace: 2_000_000n } } };
    await certify([`8200${key}`]);
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [ACCOUNT] }), [registered]);
    // Registers a script, with its votes to nobody in particular; delegates the key to a pool.
    await certify([`840c${script}81021a004c4b40`, `8302${key}581c${POOL}`]);
    const [ofKey, ofScript] = await client.rewardAccountSummaries({ keys: [KEY], scripts: [SCRIPT] });
    const pool = Ed25519KeyHash.from_hex(POOL).to_bech32('pool');
    assert.deepEqual(ofKey, { ...registered, stakePool: { id: pool } });
    assert.deepEqual(ofScript, {
      from: 'script',
      credential: SCRIPT,
      delegateRepresentative: { type: 'abstain' },
      rewards: { ada: { lovelace: 0n } },
      deposit: { ada: { lovelace: 5_000_000n } },
    });
    await certify([`8201${key}`]);
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [KEY] }), []);
    network.chain.rollback(2);
    await network.settled();
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [KEY] }), [registered]);
    await network.mine();
  });

  it('has treasury and reserves', async () => {
    const { treasury, reserves } = await potsOf();
    await certify([], 3_000_000n);
    const later = await potsOf();
    assert.equal(later.treasury.ada.lovelace - treasury.ada.lovelace, 3_000_000);
    assert.equal(later.reserves.ada.lovelace, reserves.ada.lovelace);
    assert.ok(reserves.ada.lovelace > 0);
  });

  it('is answered by a devnet in the same process as over its socket', async () => {
    const client = await createLedgerStateQueryClient(context);
    const asked = [KEY, SCRIPT].map((hash, i) => rewardAddress({ kind: i === 0 ? 'key' : 'script', hash: fromHex(hash) }, 0));
    const { accounts, pots } = await devnetLedger(network.chain).answers({ accounts: asked, pots: true });
    const summaries = await client.rewardAccountSummaries({ keys: [KEY], scripts: [SCRIPT] });
    assert.equal(readStakeAccounts(accounts!).length, summaries.length);
    assert.equal(readPots(pots!).treasury, BigInt((await potsOf()).treasury.ada.lovelace));
  });

  it('is refused where no node is followed, and where what is asked is no account', async () => {
    const served = await Served.open({ blocks: 1 });
    const ask = async (method: string, params: object = {}): Promise<{ code: number; data?: { code: string } }> => {
      const payload = { jsonrpc: '2.0', method: `queryLedgerState/${method}`, params };
      const answer = await served.app.inject({ method: 'POST', url: '/ogmios', headers: { host: 'localhost' }, payload });
      return answer.json<{ error: { code: number; data?: { code: string } } }>().error;
    };
    for (const [method, params] of [
      ['rewardAccountSummaries', { keys: [KEY] }],
      ['treasuryAndReserves', {}],
    ] as const)
      assert.deepEqual((await ask(method, params)).data, { code: 'UNSUPPORTED' });
    assert.equal((await ask('rewardAccountSummaries', { keys: ['zz'] })).code, -32_602);
    assert.equal((await ask('rewardAccountSummaries', { keys: KEY })).code, -32_602);
    await served.close();
  });
});

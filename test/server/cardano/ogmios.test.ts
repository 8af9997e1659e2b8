/**
 * The Ogmios API with the clients that speak it, as they come from npm, against
 * a store with a node behind it: parameters, tip, outputs, a transaction that is
 * evaluated, submitted and lands, stake and the pots that rewards come from, and what
 * they are told where it cannot be done.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Transaction, TransactionId, TransactionInput, TransactionOutput, TransactionUnspentOutput, TxCBOR } from '@blaze-cardano/core';
import { Unwrapped } from '@blaze-cardano/ogmios';
import { Kupmios } from '@blaze-cardano/query';
import {
  createInteractionContext,
  createLedgerStateQueryClient,
  createTransactionSubmissionClient,
  type InteractionContext,
} from '@cardano-ogmios/client';
import { Ed25519KeyHash } from '@emurgo/cardano-serialization-lib-nodejs';
import { WebSocket } from 'ws';
import { devnetLedger } from '../../../src/chains/cardano/devnet/ledger-feed.ts';
import { formatAddress, rewardAddress } from '../../../src/ledgers/cardano/index.ts';
import { readPots, readStakeAccounts } from '../../../src/ledgers/cardano/stake-accounts.ts';
import { readWholeTx } from '../../../src/ledgers/cardano/transaction.ts';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { datumOf, ScriptNetwork } from '../../support/script-network.ts';
import { Served } from '../../support/served.ts';

type Json = Readonly<Record<string, unknown>>;

let network: ScriptNetwork;
before(async () => {
  network = await ScriptNetwork.start(33);
});
after(() => network.close());

const httpUrl = (): string => `${network.url}ogmios`;
const socketUrl = (): string => httpUrl().replace('http:', 'ws:');

function connect(): Promise<InteractionContext> {
  const connection = { address: { http: httpUrl(), webSocket: socketUrl() } };
  return createInteractionContext(
    (error) => assert.fail(error),
    () => undefined,
    { connection },
  );
}

async function call(method: string, params?: object): Promise<{ readonly status: number; readonly body: Json }> {
  const body = JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }), id: 'a' });
  const response = await fetch(httpUrl(), { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return { status: response.status, body: (await response.json()) as Json };
}

/** An output that takes its datum to be spent, in a block. */
async function locked(value: number): Promise<{ readonly txId: Uint8Array; readonly index: number }> {
  const { tx, id } = network.lock(datumOf(value));
  assert.ok(network.chain.submit(tx).accepted);
  await network.mine();
  return { txId: id, index: 0 };
}

describe('@cardano-ogmios/client', () => {
  let context: InteractionContext;
  before(async () => {
    context = await connect();
  });
  after(() => {
    context.socket.close();
  });

  it('reads the tip, the epoch, the time and the parameters', async () => {
    const client = await createLedgerStateQueryClient(context);
    const { point } = network.chain.tip;
    assert.deepEqual(await client.networkTip(), { slot: point!.slot, id: toHex(point!.hash) });
    assert.deepEqual(await client.ledgerTip(), { slot: point!.slot, id: toHex(point!.hash) });
    assert.equal(await client.networkBlockHeight(), network.chain.tip.height);
    assert.equal(await client.epoch(), 0);
    assert.equal((await client.networkStartTime()).toISOString(), '2026-01-01T00:00:00.000Z');
    const parameters = await client.protocolParameters();
    assert.equal(parameters.minFeeCoefficient, 44);
    assert.deepEqual(parameters.minFeeConstant, { ada: { lovelace: 155_381n } });
    assert.equal(parameters.plutusCostModels?.['plutus:v3']?.length, 297);
    assert.equal(parameters.scriptExecutionPrices?.memory, '577/10000');
    assert.equal(parameters.delegateRepresentativeVotingThresholds?.treasuryWithdrawals, '67/100');
    await client.acquireLedgerState({ slot: point!.slot, id: toHex(point!.hash) });
    await client.releaseLedgerState();
  });

  it('reads outputs by address and by reference', async () => {
    const client = await createLedgerStateQueryClient(context);
    const coins = network.coins();
    const byAddress = await client.utxo({ addresses: [network.address] });
    assert.deepEqual(
      byAddress.map(({ transaction: { id }, index, value }) => [`${id}#${index}`, value.ada.lovelace]).sort(),
      coins.map((coin) => [outpointText(coin), coin.lovelace]).sort(),
    );
    const [{ txId, index }] = coins;
    const [found] = await client.utxo({ outputReferences: [{ transaction: { id: toHex(txId) }, index }] });
    assert.equal(found.address, network.address);
  });

  it('evaluates a spend from a script, submits it, and it lands', async () => {
    const client = await createTransactionSubmissionClient(context);
    const output = await locked(1);
    const [{ validator, budget }] = await client.evaluateTransaction(toHex(network.unlock(output, datumOf(1)).tx));
    assert.deepEqual(validator, { purpose: 'spend', index: 0 });
    const units = { memory: BigInt(budget.memory), steps: BigInt(budget.cpu) };
    const { tx, id } = network.unlock(output, datumOf(1), units);
    assert.equal(await client.submitTransaction(toHex(tx)), toHex(id));
    await network.mine();
    assert.equal(network.store.utxo(outpointText(output))?.spent_tx_hash, toHex(id));
  });

  it('is told which script fails, and why a transaction is refused', async () => {
    const client = await createTransactionSubmissionClient(context);
    const output = await locked(2);
    const { tx } = network.unlock(output, datumOf(3));
    const failure = await client.evaluateTransaction(toHex(tx)).catch((error: unknown) => error as { code: number; data: unknown });
    assert.ok('code' in failure && failure.code === 3010, JSON.stringify(failure));
    assert.match(JSON.stringify(failure), /"validator":\{"purpose":"spend","index":0\}/);
    await assert.rejects(client.submitTransaction(toHex(network.unlock({ ...output, index: 9 }, datumOf(2)).tx)), /did not take/);
  });

  it('is told what is not answered', async () => {
    const client = await createLedgerStateQueryClient(context);
    await assert.rejects(client.liveStakeDistribution(), /does not answer 'queryLedgerState\/liveStakeDistribution'/);
  });
});

const KEY = '5a'.repeat(28);
const SCRIPT = '5b'.repeat(28);
const POOL = '5c'.repeat(28);
const ACCOUNT = formatAddress(rewardAddress({ kind: 'key', hash: fromHex(KEY) }, 0));

interface Pots {
  readonly treasury: { readonly ada: { readonly lovelace: number } };
  readonly reserves: { readonly ada: { readonly lovelace: number } };
}

/** The client has no method for it. */
async function potsOf(): Promise<Pots> {
  const { body } = await call('queryLedgerState/treasuryAndReserves');
  return body['result'] as Pots;
}

const key = `8200581c${KEY}`;
const script = `8201581c${SCRIPT}`;

describe('stake through the Ogmios API', () => {
  let context: InteractionContext;
  before(async () => {
    context = await connect();
  });
  after(() => {
    context.socket.close();
  });

  it('has no account where none is registered, nor where none is asked for', async () => {
    const client = await createLedgerStateQueryClient(context);
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [KEY] }), []);
    assert.deepEqual(await client.rewardAccountSummaries({}), []);
  });

  it('says whom accounts delegate to, and goes back with the chain', async () => {
    const client = await createLedgerStateQueryClient(context);
    const registered = { credential: KEY, rewards: { ada: { lovelace: 0n } }, deposit: { ada: { lovelace: 2_000_000n } } };
    await network.certify([`8200${key}`]);
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [ACCOUNT] }), [registered]);
    // Registers a script, with its votes to nobody in particular; delegates the key to a pool.
    await network.certify([`840c${script}81021a004c4b40`, `8302${key}581c${POOL}`]);
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
    await network.certify([`8201${key}`]);
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [KEY] }), []);
    network.chain.rollback(2);
    await network.settled();
    assert.deepEqual(await client.rewardAccountSummaries({ keys: [KEY] }), [registered]);
    await network.mine();
  });

  it('has treasury and reserves', async () => {
    const { treasury, reserves } = await potsOf();
    await network.certify([], 3_000_000n);
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
});

describe('Blaze over Ogmios', () => {
  let ogmios: Unwrapped.Ogmios;
  let provider: Kupmios;
  before(async () => {
    ogmios = await quietly(() => Unwrapped.Ogmios.new(socketUrl()));
    provider = new Kupmios(`${network.url}kupo`, ogmios as unknown as ConstructorParameters<typeof Kupmios>[1]);
  });
  after(() => ogmios.connect().close());

  it('has parameters, and evaluates with outputs that are in no block yet', async () => {
    const parameters = await provider.getParameters();
    assert.equal(parameters.coinsPerUtxoByte, 4310);
    assert.equal(parameters.costModels.get(2)?.length, 297);
    const { tx, id } = network.lock(datumOf(4));
    const [{ start, end }] = readWholeTx(tx).outputs;
    const output = TransactionOutput.fromCbor(toHex(tx.subarray(start, end)) as Parameters<typeof TransactionOutput.fromCbor>[0]);
    const input = new TransactionInput(TransactionId(toHex(id)), 0n);
    const spend = Transaction.fromCbor(TxCBOR(toHex(network.unlock({ txId: id, index: 0 }, datumOf(4)).tx)));
    const outputs = Kupmios.serializeUtxos([new TransactionUnspentOutput(input, output)]);
    const transaction = { cbor: spend.toCbor() };
    const given = JSON.stringify(outputs, (_key, value) => (typeof value === 'bigint' ? Number(value) : value));
    const { body } = await call('evaluateTransaction', { transaction, additionalUtxo: JSON.parse(given) });
    const units = await ogmios.evaluateTransaction(transaction, outputs as Parameters<typeof ogmios.evaluateTransaction>[1]);
    assert.deepEqual(units, body['result']);
    assert.deepEqual(
      units.map(({ validator, budget }) => [validator, budget.memory]),
      [[{ purpose: 'spend', index: 0 }, 7114]],
    );
  });
});

describe('the Ogmios API', () => {
  it('answers by POST, with the code of the failure', async () => {
    assert.deepEqual(await call('queryNetwork/blockHeight'), {
      status: 200,
      body: { jsonrpc: '2.0', method: 'queryNetwork/blockHeight', result: network.chain.tip.height, id: 'a' },
    });
    const failures: [string, object, number][] = [
      ['nextBlock', {}, -32_601],
      ['submitTransaction', {}, -32_602],
      ['evaluateTransaction', { transaction: { cbor: '80' } }, -32_602],
      [
        'evaluateTransaction',
        { transaction: { cbor: toHex(network.unlock({ txId: new Uint8Array(32), index: 0 }, datumOf(1)).tx) } },
        3004,
      ],
    ];
    for (const [method, params, code] of failures) {
      const { status, body } = await call(method, params);
      assert.deepEqual([status, (body['error'] as Json)['code']], [400, code], JSON.stringify(body));
    }
    const response = await fetch(httpUrl(), { method: 'POST', body: '{' });
    assert.equal(((await response.json()) as { error: Json }).error['code'], -32_700);
  });

  it('says how it is', async () => {
    const health = (await (await fetch(`${httpUrl()}/health`)).json()) as Json;
    const { point, height } = network.chain.tip;
    assert.deepEqual(health['lastKnownTip'], { slot: point!.slot, id: toHex(point!.hash), height });
    assert.deepEqual(
      [health['currentEra'], health['currentEpoch'], health['connectionStatus'], health['network']],
      ['conway', 0, 'connected', 'devnet'],
    );
  });

  it('answers messages of a WebSocket in their order', async () => {
    const socket = new WebSocket(socketUrl());
    const answers: Json[] = [];
    const all = new Promise<void>((resolve, reject) => {
      socket.on('message', (data) => {
        answers.push(JSON.parse(data.toString()) as Json);
        if (answers.length === 40) resolve();
      });
      socket.on('error', reject);
      socket.on('open', () => {
        for (let id = 0; id < 40; id++) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'queryNetwork/startTime', id }));
      });
    });
    await all;
    socket.close();
    assert.deepEqual(
      answers.map(({ id }) => id),
      Array.from({ length: 40 }, (_, i) => i),
    );
  });

  it('lets no page of another origin in, and no socket elsewhere', async () => {
    const refusal = (url: string, options: object): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(url, options);
        socket.on('error', (error) => resolve(error.message));
        socket.on('open', () => resolve('open'));
      });
    assert.match(await refusal(socketUrl(), { origin: 'https://elsewhere.example' }), /403/);
    assert.match(await refusal(socketUrl(), { headers: { host: 'elsewhere.example' } }), /421|403|400/);
    assert.match(await refusal(socketUrl().replace('ogmios', 'api/v1'), {}), /404/);
  });

  it('says what comes from a node, where none is followed', async () => {
    const served = await Served.open({ blocks: 1 });
    const ask = async (method: string, params: object = {}): Promise<{ code: number; data?: Json }> => {
      const payload = { jsonrpc: '2.0', method: `queryLedgerState/${method}`, params };
      const answer = await served.app.inject({ method: 'POST', url: '/ogmios', headers: { host: 'localhost' }, payload });
      return answer.json<{ error: { code: number; data?: Json } }>().error;
    };
    for (const [method, params] of [
      ['protocolParameters', {}],
      ['rewardAccountSummaries', { keys: [KEY] }],
      ['treasuryAndReserves', {}],
    ] as const) {
      const { code, data } = await ask(method, params);
      assert.deepEqual([code, data], [-32_000, { code: 'UNSUPPORTED' }]);
    }
    assert.equal((await ask('rewardAccountSummaries', { keys: ['zz'] })).code, -32_602);
    assert.equal((await ask('rewardAccountSummaries', { keys: KEY })).code, -32_602);
    await served.close();
  });
});

/** Blaze prints the address that it connects to. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { log } = console;
  console.log = () => undefined;
  try {
    return await run();
  } finally {
    console.log = log;
  }
}

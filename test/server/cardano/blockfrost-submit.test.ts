/**
 * Clients of Blockfrost, as they come from npm, over a devnet that takes their
 * transactions: protocol parameters, submitting, waiting, reading back what was
 * made, and all of it across a fork.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  Address,
  AuxiliaryData,
  Hash32ByteBase16,
  HexBlob,
  Transaction,
  TransactionId,
  TransactionInput,
  TxCBOR,
} from '@blaze-cardano/core';
import { Blockfrost } from '@blaze-cardano/query';
import { BlockFrostAPI, BlockfrostServerError } from '@blockfrost/blockfrost-js';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { checkBlockfrost } from '../../support/blockfrost-check.ts';
import { LiveStage, type SignedTx, type WalletCoin } from '../../support/live-stage.ts';

const ADA = 1_000_000n;
/** Of nobody. */
const ELSEWHERE = formatAddress(fromHex(`60${'ab'.repeat(28)}`));

let stage: LiveStage;
let blaze: Blockfrost;
let js: BlockFrostAPI;

before(async () => {
  stage = await LiveStage.start(11, [50n * ADA, 60n * ADA, 70n * ADA]);
  blaze = new Blockfrost({ network: 'cardano-preview', projectId: 'none' });
  blaze.url = `${stage.origin}/blockfrost/`;
  js = new BlockFrostAPI({ customBackend: `${stage.origin}/blockfrost/api/v0`, rateLimiter: false });
});
after(() => stage.close());

/** Those that hold nothing but lovelace. */
async function coins(): Promise<WalletCoin[]> {
  const found = await js.addressesUtxosAll(stage.address);
  const plain = found.filter(({ amount }) => amount.length === 1);
  return plain.map(({ tx_hash, output_index, amount }) => ({ txId: tx_hash, index: output_index, lovelace: BigInt(amount[0].quantity) }));
}

/** The same with a message, put there by Blaze. */
function withMetadata({ unsigned }: SignedTx): SignedTx {
  const tx = Transaction.fromCbor(TxCBOR(HexBlob(toHex(unsigned))));
  const note = new Map<string | bigint, unknown>([
    ['msg', ['hello', 7n, fromHex('c0ffee')]],
    [1n, -2n],
  ]);
  const auxiliary = AuxiliaryData.fromCore({ blob: new Map([[674n, note]]) } as Parameters<typeof AuxiliaryData.fromCore>[0]);
  const body = tx.body();
  body.setAuxiliaryDataHash(Hash32ByteBase16(toHex(blake2b256(fromHex(auxiliary.toCbor())))));
  return stage.sign(fromHex(new Transaction(body, tx.witnessSet(), auxiliary).toCbor()));
}

describe('clients of Blockfrost on a devnet that takes transactions', () => {
  test('protocol parameters are those of the node', async () => {
    const parameters = await blaze.getParameters();
    assert.deepEqual(
      [parameters.minFeeCoefficient, parameters.minFeeConstant, parameters.maxTxSize, Number(parameters.coinsPerUtxoByte)],
      [44, 155_381, 16_384, 4310],
    );
    assert.deepEqual(parameters.prices, { memory: 0.0577, steps: 0.0000721 });
    const latest = await js.epochsLatestParameters();
    assert.deepEqual([latest.key_deposit, latest.min_fee_ref_script_cost_per_byte, latest.dvt_treasury_withdrawal], ['2000000', 15, 0.67]);
    const { epoch } = await js.epochsLatest();
    assert.deepEqual(await js.epochsParameters(epoch), latest);
    await assert.rejects(js.epochsParameters(epoch + 1), ({ status_code }: BlockfrostServerError) => status_code === 501);
    const answer = await fetch(`${stage.origin}/blockfrost/epochs/latest/parameters`);
    checkBlockfrost('/epochs/latest/parameters', { status: answer.status, text: await answer.text() });
  });

  test('Blaze submits, waits and reads back', async () => {
    const [coin] = await coins();
    const { id, hex } = stage.payment(coin);
    assert.equal(await blaze.postTransactionToChain(Transaction.fromCbor(TxCBOR(HexBlob(hex)))), id);
    assert.equal(await blaze.awaitTransactionConfirmation(TransactionId(id)), false);
    await stage.mine();
    assert.equal(await blaze.awaitTransactionConfirmation(TransactionId(id)), true);
    const [made] = await blaze.resolveUnspentOutputs([new TransactionInput(TransactionId(id), 0n)]);
    assert.equal(made.output().amount().coin(), coin.lovelace - 200_000n);
    const held = await blaze.getUnspentOutputs(Address.fromBech32(stage.address));
    assert.ok(held.some((utxo) => utxo.input().transactionId() === id));
  });

  test('blockfrost-js submits hex and bytes; what is spent is refused in the words of the node', async () => {
    const [first, second] = await coins();
    const [hexTx, bytesTx] = [stage.payment(first), stage.payment(second)];
    assert.equal(await js.txSubmit(hexTx.hex), hexTx.id);
    assert.equal(await js.txSubmit(fromHex(bytesTx.hex)), bytesTx.id);
    await stage.mine();
    const { outputs } = await js.txsUtxos(hexTx.id);
    assert.equal(outputs[0].consumed_by_tx, null);
    await assert.rejects(js.txSubmit(hexTx.hex), (error) => error instanceof BlockfrostServerError && error.status_code === 400);
    await assert.rejects(js.txSubmit('84a0'), (error) => error instanceof BlockfrostServerError && error.status_code === 400);
  });

  test('hex is taken whatever its type, and answered as the client wants it', async () => {
    const submit = async (path: string, type: string, hex: string): Promise<[number, unknown]> => {
      const answer = await fetch(`${stage.origin}/blockfrost${path}`, { method: 'POST', headers: { 'content-type': type }, body: hex });
      return [answer.status, await answer.json()];
    };
    const [first, second] = (await coins()).map((coin) => stage.payment(coin));
    assert.deepEqual(await submit('/tx/submit', 'application/cbor', first.hex), [200, first.id]);
    assert.deepEqual(await submit('/api/v1/tx/submit', 'text/plain', second.hex), [202, second.id], 'Yaci takes 202 and no other');
    await stage.mine();
  });

  test('what a transaction says is kept: what it mints, its redeemers, its metadata', async () => {
    const [first, second] = await coins();
    const policy = fromHex('5a'.repeat(28));
    const minting = stage.payment(first, { policy, name: new Uint8Array(0), quantity: 2n ** 63n - 1n });
    const noted = withMetadata(stage.payment(second));
    for (const { hex } of [minting, noted]) await js.txSubmit(hex);
    await stage.mine();
    const { asset_mint_or_burn_count, redeemer_count, fees, size, output_amount } = await js.txs(minting.id);
    assert.deepEqual([asset_mint_or_burn_count, redeemer_count, fees], [1, 1, '200000']);
    assert.equal(size, fromHex(minting.hex).length - 1);
    assert.deepEqual(output_amount[1], { unit: '5a'.repeat(28), quantity: `${2n ** 63n - 1n}` });
    const [redeemer] = await js.txsRedeemers(minting.id);
    assert.deepEqual(
      [redeemer.purpose, redeemer.tx_index, redeemer.script_hash, redeemer.unit_mem, redeemer.unit_steps],
      ['mint', 0, '5a'.repeat(28), '1700', '476468'],
    );
    assert.equal(redeemer.redeemer_data_hash, toHex(blake2b256(Uint8Array.of(0x18, 0x2a))));
    assert.equal((await js.txsCbor(noted.id)).cbor, noted.hex);
    assert.deepEqual(await js.txsMetadata(minting.id), []);
    assert.deepEqual(await js.txsMetadata(noted.id), [{ label: '674', json_metadata: { msg: ['hello', 7, '0xc0ffee'], 1: -2 } }]);
    const [{ metadata }] = await js.txsMetadataCbor(noted.id);
    assert.match(metadata ?? '', /^a11902a2/);
    for (const path of ['', '/redeemers', '/metadata', '/metadata/cbor', '/cbor', '/utxos']) {
      const answer = await fetch(`${stage.origin}/blockfrost/txs/${minting.id}${path}`);
      checkBlockfrost(`/txs/${minting.id}${path}`, { status: answer.status, text: await answer.text() });
    }
    const own = await js.addressesTransactionsAll(stage.address);
    assert.deepEqual(
      own.slice(-2).map(({ tx_hash }) => tx_hash),
      [minting.id, noted.id],
    );
  });

  test('what waits for a block is in the mempool, with what it spends and makes, until it is in one', async () => {
    const [coin, other] = await coins();
    assert.deepEqual(await js.mempool(), []);
    const policy = fromHex('5b'.repeat(28));
    const minting = stage.payment(coin, { policy, name: fromHex('01'), quantity: 5n });
    const chained = stage.payment({ txId: minting.id, index: 0, lovelace: coin.lovelace - 200_000n });
    const plain = stage.payment(other);
    for (const { hex } of [minting, plain]) await js.txSubmit(hex);
    const waiting = [minting, plain].map(({ id }) => ({ tx_hash: id }));
    assert.deepEqual(await js.mempool(), waiting);
    assert.deepEqual(await js.mempool({ count: 1, page: 2 }), waiting.slice(1));
    assert.deepEqual(await js.mempool({ order: 'desc' }), waiting.toReversed());
    assert.deepEqual(await js.mempoolByAddress(stage.address), waiting);
    assert.deepEqual(await js.mempoolByAddress(ELSEWHERE), []);

    const { tx, inputs, outputs, redeemers } = await js.mempoolTx(minting.id);
    assert.deepEqual([tx.hash, tx.fees, tx.redeemer_count, tx.valid_contract, tx.deposit], [minting.id, '200000', 1, true, '0']);
    assert.deepEqual(tx.output_amount[1], { unit: `${'5b'.repeat(28)}01`, quantity: '5' });
    const named = { address: stage.address, tx_hash: coin.txId, output_index: coin.index, reference: false };
    assert.deepEqual(inputs, [
      { ...named, collateral: false },
      { ...named, collateral: true },
    ]);
    assert.deepEqual([outputs.length, outputs[0].address, outputs[0].amount], [1, stage.address, tx.output_amount]);
    assert.deepEqual(redeemers, [{ tx_index: 0, purpose: 'mint', unit_mem: '1700', unit_steps: '476468' }]);
    for (const path of ['/mempool', `/mempool/${minting.id}`, `/mempool/addresses/${stage.address}`]) {
      const answer = await fetch(`${stage.origin}/blockfrost${path}`);
      checkBlockfrost(path, { status: answer.status, text: await answer.text() });
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    const isMissing = (error: unknown): boolean => error instanceof BlockfrostServerError && error.status_code === 404;
    await assert.rejects(js.mempoolTx(chained.id), isMissing);
    await stage.mine();
    assert.deepEqual([await js.mempool(), await js.mempoolByAddress(stage.address)], [[], []]);
    await assert.rejects(js.mempoolTx(minting.id), isMissing);
    assert.equal((await js.txs(minting.id)).hash, minting.id);
  });

  test('a fork takes a transaction back, and the answers with it', async () => {
    const [coin] = await coins();
    const { id, hex } = stage.payment(coin);
    await js.txSubmit(hex);
    await stage.mine();
    const { hash, height } = await js.blocksLatest();
    assert.equal((await js.txsUtxos(id)).outputs.length, 1);
    stage.chain.fork(2);
    await stage.settled();
    await assert.rejects(js.blocks(hash), (error) => error instanceof BlockfrostServerError && error.status_code === 404);
    assert.notEqual((await js.blocks(height!)).hash, hash);
  });
});

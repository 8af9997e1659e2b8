/**
 * The Blockfrost API says the same as our own and as that of Kupo, on chains made
 * by chance that lose blocks and gain others. Every answer is held against
 * Blockfrost's own specification.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bech32 } from '@scure/base';
import { formatAddress, readAddress } from '../../../src/ledgers/cardano/index.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import {
  type BlockfrostAmount,
  type BlockfrostOutput,
  everyPage,
  fromNative,
  read,
  sharedWithBlockfrost,
  sharedWithKupo,
} from '../../support/blockfrost-output.ts';
import { CLIENT_KEEPS } from '../../support/client-stage.ts';
import { matchesIn } from '../../support/kupo-match.ts';
import { Served } from '../../support/served.ts';

/** Of those that hold something, at each stop. */
const ADDRESSES = 8;
const STRINGS = { accept: 'application/json;asset-quantity=string' };

/** The list is the same in the three shapes: under these paths, and in this order. */
async function compare(served: Served, paths: { native: string; kupo: string; blockfrost: string }): Promise<BlockfrostOutput[]> {
  const native = (await served.get(`${paths.native}?all=true`)).json<UtxoJson[]>().map(fromNative);
  const found = await everyPage(served, paths.blockfrost, 7);
  assert.deepEqual(found, native);
  assert.deepEqual(await everyPage(served, paths.blockfrost, 100, 'desc'), native.toReversed());
  const matches = matchesIn(await served.get(`//kupo/matches/${paths.kupo}&order=oldest_first`, STRINGS));
  assert.deepEqual(found.map(sharedWithKupo), matches.map(sharedWithBlockfrost));
  return found;
}

async function compareHolders(served: Served): Promise<void> {
  const addresses = new Set([...served.devnet.chain.utxos.values()].map(({ addressHex }) => addressHex));
  for (const hex of [...addresses].slice(-ADDRESSES)) {
    const address = formatAddress(fromHex(hex));
    const found = await compare(served, {
      native: `/addresses/${address}/utxos`,
      kupo: `${address}?unspent`,
      blockfrost: `/addresses/${address}/utxos`,
    });
    const { amount } = await read<{ amount: BlockfrostAmount[] }>(served, `/addresses/${address}`);
    assert.deepEqual(
      new Map(amount.map(({ unit, quantity }) => [unit, BigInt(quantity)])),
      sumOf(found.flatMap((utxo) => utxo.amount.map((each) => [each.unit, each.quantity] as const))),
    );
    const { payment, stake } = readAddress(fromHex(hex));
    if (payment === null) continue;
    const credential = Buffer.from(payment.hash).toString('hex');
    // Lucid writes addr_vkh for scripts too.
    for (const prefix of ['addr_vkh', 'script']) {
      const text = bech32.encode(prefix, bech32.toWords(payment.hash), false);
      await compare(served, {
        native: `/credentials/${credential}/utxos`,
        kupo: `${credential}/*?unspent`,
        blockfrost: `/addresses/${text}/utxos`,
      });
    }
    if (stake === null) continue;
    const account = (await read<{ stake_address: string }>(served, `/addresses/${address}`)).stake_address;
    await compare(served, { native: `/stake/${account}/utxos`, kupo: `${account}?unspent`, blockfrost: `/accounts/${account}/utxos` });
  }
}

async function compareAssets(served: Served): Promise<void> {
  const units = [...new Set([...served.devnet.chain.utxos.values()].flatMap(({ assets }) => [...assets.keys()]))];
  assert.ok(units.length > 0);
  for (const unit of units) {
    const joined = unit.replace('.', '');
    const held = (await served.get(`/assets/${joined}/utxos?all=true`)).json<UtxoJson[]>().map(fromNative);
    const quantityIn = ({ amount }: BlockfrostOutput): string => amount.find((each) => each.unit === joined)?.quantity ?? '0';
    const holders = sumOf(held.map((utxo) => [utxo.address, quantityIn(utxo)] as const));
    const listed = await read<{ address: string; quantity: string }[]>(served, `/assets/${joined}/addresses`);
    assert.deepEqual(new Map(listed.map(({ address, quantity }) => [address, BigInt(quantity)])), holders);
    const { quantity } = await read<{ quantity: string }>(served, `/assets/${joined}`);
    assert.equal(
      BigInt(quantity),
      [...holders.values()].reduce((sum, each) => sum + each, 0n),
    );
    const ofPolicy = await read<{ asset: string; quantity: string }[]>(served, `/assets/policy/${joined.slice(0, 56)}`);
    assert.equal(ofPolicy.find(({ asset }) => asset === joined)?.quantity, quantity);
    const [{ address }] = held;
    await compare(served, {
      native: `/addresses/${address}/utxos/${joined}`,
      kupo: `${address}?unspent&policy_id=${unit.split('.')[0]}&asset_name=${unit.split('.')[1]}`,
      blockfrost: `/addresses/${address}/utxos/${joined}`,
    });
  }
}

async function compareTransactions(served: Served): Promise<void> {
  const { devnet } = served;
  const blocks = devnet.chain.blocks.slice(-5).map(({ height }) => devnet.blocks()[height]);
  for (const tx of blocks.flatMap(({ txs }) => txs.map(({ id }) => Buffer.from(id).toString('hex')))) {
    const native = (await served.get(`/txs/${tx}/utxos`)).json<(UtxoJson & { spent_tx_hash?: string })[]>();
    const answer = await served.get(`//blockfrost/txs/${tx}/utxos`);
    const { outputs } = answer.json<{ outputs: (BlockfrostOutput & { consumed_by_tx: string | null; collateral: boolean })[] }>();
    const wanted = native.map((utxo) => {
      const { tx_hash: _, tx_index: __, block: ___, ...output } = fromNative(utxo);
      return { ...output, collateral: utxo.is_collateral_return === true, consumed_by_tx: utxo.spent_tx_hash ?? null };
    });
    assert.deepEqual(outputs, wanted);
  }
}

function sumOf(amounts: readonly (readonly [of: string, quantity: string])[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [of, quantity] of amounts) sums.set(of, (sums.get(of) ?? 0n) + BigInt(quantity));
  return sums;
}

describe('the same through every shape', () => {
  for (const seed of [3, 8]) {
    test(`on chain ${seed}, across forks`, async () => {
      const served = await Served.open({ blocks: 30, seed, store: { keeps: CLIENT_KEEPS } });
      for (const [depth, count] of [
        [0, 0],
        [12, 6],
        [3, 14],
      ]) {
        if (depth > 0) served.back(depth);
        served.forward(count);
        await compareHolders(served);
        await compareAssets(served);
        await compareTransactions(served);
        const { height, hash, slot } = served.devnet.chain.blocks.at(-1)!;
        const latest = await read<Record<string, unknown>>(served, '/blocks/latest');
        assert.deepEqual([latest['height'], latest['hash'], latest['slot']], [height, Buffer.from(hash).toString('hex'), slot]);
        assert.deepEqual(await read(served, `/blocks/${height}`), latest);
        assert.deepEqual(await read(served, `/blocks/${latest['hash']}`), latest);
        assert.deepEqual(await read(served, `/blocks/slot/${slot}`), latest);
      }
      await served.close();
    });
  }
});

/**
 * Stake accounts through the Blockfrost API, with blockfrost-js: not found before
 * they are registered, then with their delegation from the node and what is at
 * their addresses from the store, and back again with the chain.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BlockFrostAPI, BlockfrostServerError } from '@blockfrost/blockfrost-js';
import { Ed25519KeyHash } from '@emurgo/cardano-serialization-lib-nodejs';
import { formatAddress, rewardAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { checkBlockfrost } from '../../support/blockfrost-check.ts';
import { loadClient, skipWithout } from '../../support/heavy-clients.ts';
import { LiveStage } from '../../support/live-stage.ts';

interface LucidPackage {
  readonly Blockfrost: new (
    url: string,
    project: string,
  ) => { getDelegation(stake: string): Promise<{ readonly poolId: string | null; readonly rewards: bigint }> };
}

interface MeshAccount {
  readonly poolId?: string;
  readonly active: boolean;
  readonly balance: string;
  readonly rewards: string;
}

interface MeshPackage {
  readonly BlockfrostProvider: new (url: string) => { fetchAccountInfo(stake: string): Promise<MeshAccount> };
}

const ADA = 1_000_000n;
const FEE = 200_000n;
const KEY = '5a'.repeat(28);
const POOL = '5c'.repeat(28);
const DREP = '5d'.repeat(28);
const STAKE = formatAddress(rewardAddress({ kind: 'key', hash: fromHex(KEY) }, 0));
/** Base addresses with the same stake. */
const [FIRST, SECOND] = ['ab', 'ac'].map((byte) => `00${byte.repeat(28)}${KEY}`);

let stage: LiveStage;
let js: BlockFrostAPI;
before(async () => {
  stage = await LiveStage.start(41, [50n * ADA, 60n * ADA]);
  js = new BlockFrostAPI({ customBackend: `${stage.origin}/blockfrost/api/v0`, rateLimiter: false });
});
after(() => stage.close());

/** In a block: a transaction with these certificates, as CBOR in hex, that pays so much lovelace to each address. */
async function certify(
  certificates: readonly string[],
  payments: readonly (readonly [address: string, lovelace: bigint])[],
): Promise<void> {
  const found = await js.addressesUtxosAll(stage.address);
  const [{ tx_hash, output_index, amount }] = found;
  const paid = payments.reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  const w = new CborWriter().array(4).map(4);
  w.uint(0).array(1).array(2).bytes(fromHex(tx_hash)).uint(output_index).uint(1);
  w.array(payments.length + 1);
  for (const [address, lovelace] of payments) w.array(2).bytes(fromHex(address)).bigUint(lovelace);
  w.array(2)
    .bytes(stage.wallet.address)
    .bigUint(BigInt(amount[0].quantity) - FEE - paid);
  w.uint(2).bigUint(FEE).uint(4).array(certificates.length);
  for (const certificate of certificates) w.raw(fromHex(certificate));
  const { hex, id } = stage.sign(w.map(0).bool(true).null().take());
  assert.equal(await js.txSubmit(hex), id);
  await stage.mine();
}

/** Those of Lucid and Mesh where they are installed (`heavy-clients.ts`). */
async function checkProviders(pool: string): Promise<void> {
  const [lucid, mesh] = ['@lucid-evolution/provider', '@meshsdk/provider'];
  if (skipWithout(lucid) === false) {
    const { Blockfrost } = loadClient<LucidPackage>(lucid);
    const delegation = await new Blockfrost(`${stage.origin}/blockfrost`, 'none').getDelegation(STAKE);
    assert.deepEqual([delegation.poolId, delegation.rewards], [pool, 0n]);
  }
  if (skipWithout(mesh) === false) {
    const { BlockfrostProvider } = loadClient<MeshPackage>(mesh);
    const info = await new BlockfrostProvider(`${stage.origin}/blockfrost/`).fetchAccountInfo(STAKE);
    assert.deepEqual([info.poolId, info.active, info.balance, info.rewards], [pool, true, `${9n * ADA}`, '0']);
  }
}

const isMissing = (error: unknown): boolean => error instanceof BlockfrostServerError && error.status_code === 404;
const key = `8200581c${KEY}`;

describe('stake accounts of the Blockfrost API', () => {
  test('are not found before they are registered; what is at their addresses is known all the same', async () => {
    await assert.rejects(js.accounts(STAKE), isMissing);
    assert.deepEqual(await js.accountsAddresses(STAKE), []);
    await certify([], [[FIRST, 2n * ADA]]);
    await assert.rejects(js.accounts(STAKE), isMissing);
    assert.deepEqual(await js.accountsAddresses(STAKE), [{ address: formatAddress(fromHex(FIRST)) }]);
  });

  test('have their delegation from the node and their outputs from the store, and go back with the chain', async () => {
    await certify([`8200${key}`], []);
    const registered = await js.accounts(STAKE);
    assert.deepEqual(
      [registered.stake_address, registered.registered, registered.active, registered.pool_id, registered.drep_id],
      [STAKE, true, false, null, null],
    );
    await certify(
      [`8302${key}581c${POOL}`, `8309${key}8200581c${DREP}`],
      [
        [SECOND, 3n * ADA],
        [FIRST, 4n * ADA],
      ],
    );
    const account = await js.accounts(STAKE);
    const drep = Ed25519KeyHash.from_hex(DREP).to_bech32('drep');
    assert.deepEqual([account.active, account.pool_id, account.drep_id], [true, Ed25519KeyHash.from_hex(POOL).to_bech32('pool'), drep]);
    await checkProviders(Ed25519KeyHash.from_hex(POOL).to_bech32('pool'));
    assert.deepEqual([account.controlled_amount, account.withdrawable_amount], [`${9n * ADA}`, '0']);
    const addresses = [FIRST, SECOND].map((hex) => ({ address: formatAddress(fromHex(hex)) }));
    assert.deepEqual(await js.accountsAddresses(STAKE), addresses);
    assert.deepEqual(await js.accountsAddresses(STAKE, { count: 1, page: 2 }), addresses.slice(1));
    assert.deepEqual(await js.accountsAddressesAssets(STAKE), []);
    for (const path of ['', '/addresses', '/addresses/assets', '/utxos']) {
      const answer = await fetch(`${stage.origin}/blockfrost/accounts/${STAKE}${path}`);
      checkBlockfrost(`/accounts/${STAKE}${path}`, { status: answer.status, text: await answer.text() });
    }
    stage.chain.rollback(1);
    await stage.settled();
    assert.deepEqual((await js.accounts(STAKE)).pool_id, null);
    assert.equal((await js.accountsAddresses(STAKE)).length, 1);
  });

  test('live on a network whose treasury and reserves the node tells', async () => {
    const { supply, stake } = await js.network();
    assert.deepEqual([supply.max, supply.total, supply.circulating, supply.locked, stake.live, stake.active], Array(6).fill(null));
    assert.match(`${supply.treasury} ${supply.reserves}`, /^\d+ [1-9]\d+$/);
  });

  test('are refused where the address is none of an account', async () => {
    const isWrong = (error: unknown): boolean => error instanceof BlockfrostServerError && error.status_code === 400;
    await assert.rejects(js.accounts(stage.address), isWrong);
    await assert.rejects(js.accounts('stake_test1nonsense'), isWrong);
  });
});

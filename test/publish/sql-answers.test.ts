/**
 * What the tables for people answer is what the API answers, for any address,
 * output and block, while blocks come and go; and every query of docs/sql.md is
 * one that the database takes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { openTarget } from '../../src/publish/open.ts';
import type { Publisher } from '../../src/publish/publisher.ts';
import type { CopyTarget } from '../../src/publish/target.ts';
import type { BalanceJson, BlockJson, UtxoJson } from '../../src/query/json.ts';
import { toHex } from '../../src/util/bytes.ts';
import { blocksOf } from '../docs/page-blocks.ts';
import { Account } from '../support/bitcoin-account.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { memoryBitcoin } from '../support/bitcoin-rig.ts';
import { RandomRequests } from '../support/copy/requests.ts';
import { TEST_SEED } from '../support/harness.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { SqlCopy } from '../support/publish/sql-copy.ts';
import { Served } from '../support/served.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

/** Of each kind of question, after each move. */
const QUESTIONS = 6;

describe('tables for people', { skip: withoutPostgres }, () => {
  let server: PostgresServer;
  let served: Served;
  let target: CopyTarget;
  let publisher: Publisher;
  let copy: SqlCopy;
  let random: RandomRequests;

  before(async () => {
    server = await PostgresServer.start(async () => {});
    served = await Served.open({ blocks: 50, mirrored: false });
    const url = `${await server.unusedUrl()}&partition=20`;
    const store = publishedStore(served.rig, 'devnet', served.devnet.ledger);
    target = await openTarget(url, 'sql', store);
    publisher = await startPublisher(store, target);
    await publishOnce(publisher);
    copy = await SqlCopy.open(url);
    random = new RandomRequests(new Random(TEST_SEED), served.devnet);
  });

  after(async () => {
    publisher?.close();
    await Promise.all([copy?.close(), target?.close(), served?.close()]);
    await server?.stop();
  });

  async function balance(hex: string): Promise<void> {
    const [address] = [await textOf(hex)];
    const told = (await served.get(`/addresses/${hex}/balance`)).json<BalanceJson>();
    const [row = { value: '0', outputs: '0' }] = await copy.rows('SELECT value, outputs FROM balances WHERE address = $1', [address]);
    assert.deepEqual([String(row['value']), Number(row['outputs'])], [told.lovelace_amount ?? '0', told.utxo_count], address);
    const assets = await copy.rows('SELECT asset, quantity FROM holders WHERE address = $1', [address]);
    const wanted = told.amounts.filter(({ unit }) => unit !== 'lovelace').map(({ unit, quantity }) => `${unit} ${quantity}`);
    assert.deepEqual(assets.map(({ asset, quantity }) => `${asset} ${quantity}`).sort(), wanted.sort(), address);
  }

  async function unspent(hex: string): Promise<void> {
    const told = (await served.get(`/addresses/${hex}/utxos?all=true`)).json<UtxoJson[]>();
    const rows = await copy.rows(
      `SELECT encode(tx_id, 'hex') AS tx, output_index, value, height, stake_address, encode(datum, 'hex') AS datum,
       encode(script_hash, 'hex') AS script FROM unspent WHERE address = $1`,
      [await textOf(hex)],
    );
    const ours = rows.map((row) => Object.values(row).join(' ')).sort();
    const theirs = told.map((u) =>
      [u.tx_hash, u.output_index, u.lovelace_amount, u.block, u.owner_stake_addr, u.inline_datum, u.reference_script_hash].join(' '),
    );
    assert.deepEqual(ours, theirs.sort());
  }

  /** What an address had at an earlier block, from outputs by the heights of their making and spending. */
  async function past(hex: string): Promise<void> {
    const { blocks } = served.devnet.chain;
    const { hash, height } = random.random.pick(blocks.slice(-25));
    const told = (await served.get(`/addresses/${hex}/utxos?all=true&at=${toHex(hash)}`)).json<UtxoJson[]>();
    const rows = await copy.rows(
      `SELECT encode(tx_id, 'hex') AS tx, output_index, value FROM outputs
       WHERE address = $1 AND height <= $2 AND (spent_height IS NULL OR spent_height > $2)`,
      [await textOf(hex), height],
    );
    const theirs = told.map((u) => `${u.tx_hash} ${u.output_index} ${u.lovelace_amount}`);
    assert.deepEqual(rows.map((row) => Object.values(row).join(' ')).sort(), theirs.sort(), `at height ${height}`);
  }

  /** Where an asset is, and how much of it. */
  async function asset(): Promise<number> {
    const units = await copy.rows('SELECT DISTINCT asset FROM holders ORDER BY asset');
    const unit = String(random.random.pick(units)['asset']);
    const told = (await served.get(`/assets/${unit}/utxos?all=true`)).json<UtxoJson[]>();
    const rows = await copy.rows(
      `SELECT encode(u.tx_id, 'hex') AS tx, u.output_index, u.address, a.quantity FROM unspent u
       JOIN unspent_assets a ON a.tx_id = u.tx_id AND a.output_index = u.output_index
       WHERE encode(a.policy || a.asset_name, 'hex') = $1`,
      [unit],
    );
    const quantityOf = ({ amounts }: UtxoJson): string => amounts.find((amount) => amount.unit === unit)?.quantity ?? assert.fail(unit);
    const theirs = told.map((u) => [u.tx_hash, u.output_index, u.owner_addr, quantityOf(u)].join(' '));
    assert.deepEqual(rows.map((row) => Object.values(row).join(' ')).sort(), theirs.sort(), unit);
    const held = new Map<string, bigint>();
    for (const u of told) {
      const { owner_addr: owner = '' } = u;
      held.set(owner, (held.get(owner) ?? 0n) + BigInt(quantityOf(u)));
    }
    const holders = await copy.rows('SELECT address, quantity FROM holders WHERE asset = $1', [unit]);
    const ours = holders.map(({ address, quantity }) => `${address} ${quantity}`).sort();
    assert.deepEqual(ours, [...held].map(([address, quantity]) => `${address} ${quantity}`).sort(), unit);
    return rows.length;
  }

  async function output(txId: string, index: number): Promise<void> {
    const answer = await served.get(`/utxos/${txId}/${index}`);
    const [row] = await copy.rows(
      "SELECT address, value, encode(spent_by, 'hex') AS spent_by, spent_height FROM outputs WHERE tx_id = decode($1, 'hex') AND output_index = $2",
      [txId, index],
    );
    if (answer.status !== 200) return assert.equal(row, undefined);
    const told = answer.json<UtxoJson>();
    assert.deepEqual([row?.['address'], row?.['value']], [told.owner_addr, told.lovelace_amount]);
    assert.equal(row?.['spent_by'] ?? undefined, told.spent_tx_hash);
  }

  async function block(place: string): Promise<void> {
    const answer = await served.get(`/blocks/${place}`);
    const by = place.startsWith('height:') ? ['height = $1', Number(place.slice(7))] : ["hash = decode($1, 'hex')", place];
    const [row] = await copy.rows(
      `SELECT encode(hash, 'hex') AS hash, height, slot, epoch, transactions, extract(epoch FROM time) AS time FROM blocks WHERE ${by[0]}`,
      [by[1]],
    );
    if (answer.status !== 200) return assert.equal(row, undefined);
    const told = answer.json<BlockJson>();
    assert.deepEqual([row?.['hash'], Number(row?.['height']), Number(row?.['slot'])], [told.hash, told.height, told.slot]);
  }

  /** The address as the API writes it. */
  async function textOf(hex: string): Promise<string> {
    const { formatAddress } = await import('../../src/ledgers/cardano/index.ts');
    return formatAddress(Buffer.from(hex, 'hex'));
  }

  it('answer as the API does, while blocks come and go', async () => {
    let withAssets = 0;
    for (const [back, forward] of [
      [0, 0],
      [4, 7],
      [9, 3],
      [0, 5],
    ]) {
      if (back > 0) served.back(back);
      if (forward > 0) served.forward(forward);
      assert.equal(await publishOnce(publisher), false);
      await copy.check();
      for (let i = 0; i < QUESTIONS; i++) {
        await balance(random.address);
        await unspent(random.address);
        const { txId, index } = random.output;
        await output(txId, index);
        await block(random.place);
        await past(random.address);
        withAssets += await asset();
      }
    }
    assert.ok(withAssets > 10, `${withAssets} outputs with assets`);
  });

  it('know what transactions paid', async () => {
    const rows = await copy.rows("SELECT encode(tx_id, 'hex') AS id, fee FROM transactions ORDER BY tx_id LIMIT 12");
    for (const { id, fee } of rows) {
      const told = (await served.get(`/txs/${id}`)).json<{ fee?: string }>();
      assert.equal(fee ?? undefined, told.fee, String(id));
    }
  });

  it('take every query of docs/sql.md, and say what each table and column is', async () => {
    const blocks = blocksOf('docs/sql.md').filter(({ how }) => how === 'by test/publish/sql-answers.test.ts');
    assert.equal(blocks.length, 2);
    const [{ address }] = await copy.rows('SELECT address FROM asset_balances LIMIT 1');
    for (const statement of blocks[0].text.split(';\n').filter((text) => text.trim() !== ''))
      await copy.rows(statement.replaceAll('addr_test1...', String(address)));
    const uncommented = await copy.rows(
      `SELECT c.relname, a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE n.nspname = 'unspent' AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND col_description(c.oid, a.attnum) IS NULL
       AND c.relname NOT IN ('head', 'identity', 'coverage', 'layout')`,
    );
    assert.deepEqual(uncommented, []);
    const coverage = await copy.rows('SELECT subject, from_height FROM coverage ORDER BY subject');
    assert.deepEqual(
      coverage.map(({ subject }) => subject),
      ['datums', 'fees', 'scripts', 'spent', 'unspent'],
    );
    // Old history is detached, and the chain goes on.
    for (const statement of blocks[1].text.split(';\n').filter((text) => text.trim() !== '')) await copy.rows(statement);
    served.forward(2);
    await publishOnce(publisher);
    await copy.check();
    // So it does when the copy begins anew: it has those heights again, and what was detached stays beside it.
    await publisher.sendSnapshot();
    await copy.check();
    const kept = (await copy.tables()).filter((name) => name.startsWith('former'));
    assert.deepEqual(kept.map((name) => name.replace(/^former[0-9]+_/, '')).sort(), ['spent_0', 'spent_assets_0', 'transactions_0']);
  });

  it('of the Bitcoin family, now and at any earlier height, are what plain maps of its blocks say', async () => {
    const chain = new PlainChain(27);
    const rig = memoryBitcoin(chain);
    rig.forward(30);
    const url = `${await server.unusedUrl()}&partition=16`;
    const store = publishedStore(rig, 'bitcoin-regtest', rig.ledger);
    const into = await openTarget(url, 'sql', store);
    const bitcoin = await startPublisher(store, into);
    await publishOnce(bitcoin);
    const tables = await SqlCopy.open(url);
    /** Ids as people write them are those of blocks backwards. */
    const name = ({ tx_id, output_index }: Record<string, unknown>): string =>
      `${toHex(Uint8Array.from(tx_id as Buffer).reverse())}#${output_index}`;
    for (const [back, forward] of [
      [0, 1],
      [4, 9],
      [7, 2],
    ]) {
      if (back > 0) rig.back(back);
      rig.forward(forward);
      assert.equal(await publishOnce(bitcoin), false);
      for (let i = 0; i < QUESTIONS; i++) {
        const blocks = chain.blocks.slice(0, i === 0 ? undefined : 1 + random.random.int(chain.blocks.length));
        const account = new Account(blocks);
        const rows = await tables.rows(
          `SELECT tx_id, output_index, height, value, encode(script, 'hex') AS script, coinbase FROM outputs
           WHERE height <= $1 AND (spent_height IS NULL OR spent_height > $1)`,
          [account.tip?.height ?? -1],
        );
        const found = rows.map((row) => [name(row), row['height'], row['value'], row['script'], row['coinbase']].join(' ')).sort();
        const wanted = [...account.unspent.values()].map((o) =>
          [`${toHex(o.txId)}#${o.index}`, o.height, o.value, toHex(o.script), o.coinbase].join(' '),
        );
        assert.deepEqual(found, wanted.sort(), `at height ${account.tip?.height}`);
      }
      const account = new Account(chain.blocks);
      const spends = await tables.rows("SELECT tx_id, output_index, encode(spent_by, 'hex') AS by, spent_input, spent_height FROM spent");
      const told = spends.map((row) => [name(row), row['by'], row['spent_input'], row['spent_height']].join(' ')).sort();
      const known = [...account.spends.values()].map(({ output: o, by, input, height }) =>
        [`${toHex(o.txId)}#${o.index}`, toHex(Uint8Array.from(by.id).reverse()), input, height].join(' '),
      );
      assert.deepEqual(told, known.sort());
    }
    bitcoin.close();
    await Promise.all([tables.close(), into.close()]);
  });
});

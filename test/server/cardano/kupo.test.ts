/**
 * The Kupo API over a devnet: the same outputs as our own API gives, for every
 * kind of pattern and through forks; its parameters and quantities; and
 * words of our own for what it cannot answer.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bech32 } from '@scure/base';
import { blake2b224, blake2b256 } from '../../../src/crypto/hash.ts';
import { readAddress } from '../../../src/ledgers/cardano/index.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { CLIENT_KEEPS } from '../../support/client-stage.ts';
import { comparable, type KupoMatch, makeOutputs, matchesIn, matchOf, QUANTITY_MAX } from '../../support/kupo-match.ts';
import { assertProblem, Served } from '../../support/served.ts';

const KEEPS = { keeps: CLIENT_KEEPS };
const STRINGS = { accept: 'application/json;asset-quantity=string' };

const nameOf = ({ transaction_id, output_index }: KupoMatch): string => `${transaction_id}#${output_index}`;

/** Everything by which outputs of the devnet can be asked for: the pattern, and the list of our own API. */
function questions({ devnet }: Served): Map<string, string> {
  const asked = new Map<string, string>();
  for (const { addressHex, assets, key } of devnet.chain.utxos.values()) {
    const { payment, stake } = readAddress(fromHex(addressHex));
    asked.set(addressHex, `/addresses/${addressHex}/utxos?limit=all&order=desc`);
    if (payment !== null) asked.set(`${toHex(payment.hash)}/*`, `/credentials/${toHex(payment.hash)}/utxos?limit=all&order=desc`);
    if (stake !== null) asked.set(`*/${toHex(stake.hash)}`, `/stake/${toHex(stake.hash)}/utxos?limit=all&order=desc`);
    for (const unit of assets.keys()) {
      const [policy, name] = unit.split('.');
      asked.set(`${policy}.*`, `/policies/${policy}/utxos?limit=all&order=desc`);
      asked.set(`${policy}.${name}`, `/assets/${policy}${name}/utxos?limit=all&order=desc`);
    }
    asked.set(`*@${key.split('#')[0]}`, `/txs/${key.split('#')[0]}/utxos`);
  }
  return asked;
}

async function compare(served: Served, pattern: string, path: string): Promise<number> {
  const own = (await served.get(path)).json<UtxoJson[]>();
  const ofTx = pattern.startsWith('*@');
  const found = matchesIn(await served.get(`//kupo/matches/${pattern}${ofTx ? '?order=oldest_first' : '?unspent'}`));
  assert.deepEqual(found.map(comparable), own.map(matchOf), pattern);
  return found.length;
}

describe('the same answers as our own API', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    test(`for every pattern, through forks (${flavour})`, async () => {
      const served = await Served.open({ flavour, blocks: flavour === 'conway' ? 25 : 60, seed: 5, store: KEEPS });
      let rows = 0;
      for (const [back, forward] of [
        [0, 0],
        [7, 9],
        [12, 5],
      ]) {
        served.back(back);
        served.forward(forward);
        const asked = questions(served);
        assert.ok(asked.size > 40, `${asked.size} questions`);
        for (const [pattern, path] of asked) rows += await compare(served, pattern, path);
        const all = matchesIn(await served.get('//kupo/matches?unspent'));
        assert.deepEqual(new Set(all.map(nameOf)), new Set(served.devnet.chain.utxos.keys()));
        const shelley = matchesIn(await served.get('//kupo/v1/matches/*/*?unspent'));
        const byron = [...served.devnet.chain.utxos.values()].filter(({ addressHex }) => addressHex.startsWith('8'));
        assert.equal(shelley.length, all.length - byron.length);
      }
      assert.ok(rows > 300, `${rows} rows`);
      await served.close();
    });
  }
});

describe('patterns and parameters', () => {
  let served: Served;
  let all: KupoMatch[];
  before(async () => {
    served = await Served.open({ blocks: 80, seed: 3, store: KEEPS });
    all = matchesIn(await served.get('//kupo/matches?unspent'));
  });
  after(() => served.close());
  const ask = async (rest: string): Promise<string[]> => matchesIn(await served.get(`//kupo/matches${rest}`)).map(nameOf);
  const wanted = (keep: (match: KupoMatch) => boolean): Set<string> => new Set(all.filter(keep).map(nameOf));

  test('an address in every form, a stake address, keys and their hashes', async () => {
    const { address } = all.find((match) => match.address.startsWith('addr_test1q'))!;
    const bytes = bech32.fromWords(bech32.decode(address as `addr_test1${string}`, false).words);
    const own = await ask(`/${address}?unspent`);
    assert.deepEqual(
      new Set(own),
      wanted((match) => match.address === address),
    );
    assert.deepEqual(await ask(`/${toHex(bytes)}?unspent`), own);
    const [payment, stake] = [bytes.subarray(1, 29), bytes.subarray(29)];
    const word = (prefix: string, key: Uint8Array): string => bech32.encode(prefix, bech32.toWords(key), false);
    const byPayment = await ask(`/${toHex(payment)}/*?unspent`);
    assert.ok(byPayment.length >= own.length);
    for (const form of [word('vkh', payment), word('addr_vkh', payment), word('script', payment)])
      assert.deepEqual(await ask(`/${form}/*?unspent`), byPayment);
    const byStake = await ask(`/*/${toHex(stake)}?unspent`);
    for (const form of [`*/${word('stake_vkh', stake)}`, word('stake_test', Uint8Array.of(0xe0, ...stake)), `e0${toHex(stake)}`])
      assert.deepEqual(await ask(`/${form}?unspent`), byStake);
    const both = new Set(byStake);
    assert.deepEqual(
      await ask(`/${toHex(payment)}/${toHex(stake)}?unspent`),
      byPayment.filter((name) => both.has(name)),
    );
    // A key stands for its hash.
    const key = new Uint8Array(32).fill(7);
    const forms = [toHex(key), word('vk', key), word('addr_vk', key)];
    makeOutputs(served, [{ address: `60${toHex(blake2b224(key))}`, lovelace: 1n, assets: {} }]);
    for (const form of forms) assert.equal((await ask(`/${form}/*?unspent`)).length, 1, form);
    all = matchesIn(await served.get('//kupo/matches?unspent'));
  });

  test('filters narrow a pattern down, whichever of the two has an index', async () => {
    const { address, value, transaction_id: tx } = all.find((match) => Object.keys(match.value.assets).some((unit) => unit.includes('.')))!;
    const unit = Object.keys(value.assets).find((text) => text.includes('.'))!;
    const [policy, name] = unit.split('.');
    const has = (match: KupoMatch): boolean => Object.keys(match.value.assets).some((text) => text.startsWith(policy));
    const here = (match: KupoMatch): boolean => match.address === address;
    assert.deepEqual(
      new Set(await ask(`/${address}?unspent&policy_id=${policy}`)),
      wanted((match) => here(match) && has(match)),
    );
    const withAsset = await ask(`/${address}?policy_id=${policy}&asset_name=${name}&unspent`);
    assert.deepEqual(
      new Set(withAsset),
      wanted((match) => here(match) && unit in match.value.assets),
    );
    assert.deepEqual(new Set(await ask(`?unspent&policy_id=${policy}`)), wanted(has));
    assert.deepEqual(
      new Set(await ask(`/${address}?unspent&transaction_id=${tx}`)),
      wanted((match) => here(match) && match.transaction_id === tx),
    );
    assert.deepEqual(await ask(`?transaction_id=${tx}&output_index=999`), []);
  });

  test('order and bounds, of which both ends count', async () => {
    const counts = Map.groupBy(all, ({ address }) => address);
    const [[address]] = [...counts].toSorted(([, a], [, b]) => b.length - a.length);
    const newest = matchesIn(await served.get(`//kupo/matches/${address}?unspent`));
    const slots = newest.map(({ created_at: { slot_no } }) => slot_no);
    assert.ok(slots.length > 4 && new Set(slots).size > 3);
    assert.deepEqual(
      slots,
      slots.toSorted((a, b) => b - a),
    );
    assert.deepEqual(await ask(`/${address}?unspent&order=oldest_first`), newest.map(nameOf).toReversed());
    const { slot_no, header_hash } = newest[2].created_at;
    const since = newest.filter(({ created_at }) => created_at.slot_no >= slot_no).map(nameOf);
    assert.deepEqual(await ask(`/${address}?unspent&created_after=${slot_no}`), since);
    assert.deepEqual(await ask(`/${address}?unspent&created_after=${slot_no}.${header_hash}`), since);
    const until = newest.filter(({ created_at }) => created_at.slot_no <= slot_no).map(nameOf);
    assert.deepEqual(await ask(`/${address}?unspent&created_before=${slot_no}`), until);
    assert.deepEqual(await ask(`/${address}?unspent&created_before=${slot_no}&created_after=${slot_no + 1}`), []);
    assert.deepEqual(
      new Set(await ask(`?unspent&created_after=${slot_no}`)),
      wanted(({ created_at }) => created_at.slot_no >= slot_no),
    );
    assertProblem(await served.get(`//kupo/matches/${address}?unspent&created_after=${slot_no}.${'00'.repeat(32)}`), 'POINT_UNKNOWN', 404);
    assertProblem(await served.get('//kupo/matches?unspent&order=oldest_first'), 'UNSUPPORTED', 501);
  });

  test('what is no pattern and no parameter is said to be none', async () => {
    const tx = all[0].transaction_id;
    const wrong = [
      '/{42}',
      '/nothing',
      '/a/b/c',
      '/*.aa',
      '/aa.bb',
      '/x@y',
      `/-1@${tx}`,
      `/4294967296@${tx}`,
      '/%2F',
      `/${'aa'.repeat(28)}.${'bb'.repeat(33)}`,
    ];
    const queries = [
      '?unspent=1',
      '?unspent&spent',
      '?unspent&unspent',
      '?unspent&order=up',
      '?unspent&created_after=x',
      '?unspent&asset_name=aa',
      '?unspent&output_index=1',
      `?unspent&policy_id=${'aa'.repeat(28)}&transaction_id=${tx}`,
      '?unspent&policy_id=aa',
      '?unspent&spent_after=3',
    ];
    for (const rest of [...wrong, ...queries]) {
      const answer = await served.get(`//kupo/matches${rest}`);
      assertProblem(answer, 'USAGE', 400);
      assert.equal(typeof answer.json<{ hint: unknown }>().hint, 'string', 'clients of Kupo read the hint');
    }
    assert.equal((await ask('?unspent&whatever=1')).length, all.length, 'Kupo passes over what it does not know');
  });
});

describe('what was spent', () => {
  test('is known by its transaction, until it is pruned', async () => {
    const served = await Served.open({ blocks: 60, seed: 3, store: { ...KEEPS, pruneDepth: 20, rollbackWindow: 20 } });
    const { chain } = served.devnet;
    const made = new Map(chain.blocks.flatMap(({ height }) => served.devnet.blocks()[height].txs.map((tx) => [toHex(tx.id), height])));
    const spentOf = async (tx: string): Promise<KupoMatch[]> => matchesIn(await served.get(`//kupo/matches/*@${tx}?spent`));
    let spent = 0;
    for (const tx of made.keys()) {
      const found = await spentOf(tx);
      spent += found.length;
      for (const match of found) {
        assert.ok(!chain.utxos.has(nameOf(match)));
        const [one] = matchesIn(await served.get(`//kupo/matches/${match.output_index}@${tx}`));
        assert.deepEqual(one, match);
        const at = match.spent_at?.slot_no ?? 0;
        assert.equal(
          matchesIn(await served.get(`//kupo/matches/*@${tx}?spent_after=${at + 1}`)).filter((later) => nameOf(later) === nameOf(match))
            .length,
          0,
        );
      }
    }
    assert.ok(spent > 20, `${spent} spent`);
    served.prune();
    for (const [tx, height] of made) {
      const answer = await served.get(`//kupo/matches/*@${tx}`);
      if (height <= 60 - 1 - 20) assertProblem(answer, 'PRUNED', 410);
      else assert.equal(answer.status, 200);
      assert.equal((await served.get(`//kupo/matches/*@${tx}?unspent`)).status, 200);
    }
    const [unspent] = chain.utxos.values();
    const [tx, index] = unspent.key.split('#');
    assert.equal(matchesIn(await served.get(`//kupo/matches/${index}@${tx}`)).length, 1, 'what is there needs no history');
    assert.deepEqual(matchesIn(await served.get(`//kupo/matches/*@${'ab'.repeat(32)}`)), []);
    await served.close();
  });

  test('of an address it is not known, which is not an empty list', async () => {
    const served = await Served.open({ blocks: 10, store: KEEPS });
    const [{ addressHex }] = served.devnet.chain.utxos.values();
    for (const rest of [`/${addressHex}`, `/${addressHex}?spent`, '', '?spent_after=1', '/*/*'])
      assertProblem(await served.get(`//kupo/matches${rest}`), 'UNSUPPORTED', 501);
    await served.close();
  });
});

describe('quantities', () => {
  test('up to 2^53 - 1 are numbers, above it strings; all are strings for who asks', async () => {
    const served = await Served.open({ blocks: 3, store: KEEPS });
    const [p1, p2, p3] = ['11', '22', '33'].map((byte) => byte.repeat(28));
    const address = `60${'ab'.repeat(28)}`;
    const assets = { [`${p1}.`]: QUANTITY_MAX, [`${p2}.aa`]: 2n ** 53n - 1n, [`${p3}.`]: 2n ** 53n };
    makeOutputs(served, [{ address, lovelace: 45_000_000_000_000_000n, assets }]);
    const [match] = matchesIn(await served.get(`//kupo/matches/${address}?unspent`));
    const texts = {
      coins: '45000000000000000',
      assets: { [p1]: `${QUANTITY_MAX}`, [`${p2}.aa`]: '9007199254740991', [p3]: '9007199254740992' },
    };
    assert.deepEqual(match.value, { coins: texts.coins, assets: { ...texts.assets, [`${p2}.aa`]: 9_007_199_254_740_991 } });
    const answer = await served.get(`//kupo/matches/${address}?unspent`, STRINGS);
    assert.deepEqual(matchesIn(answer)[0].value, texts);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json;charset=utf-8;asset-quantity=string$/);
    for (const pattern of [`${p1}.`, `${p1}.*`, `${p3}.`])
      assert.equal(matchesIn(await served.get(`//kupo/matches/${pattern}?unspent`)).length, 1);
    assert.equal(matchesIn(await served.get(`//kupo/matches/${address}?unspent&policy_id=${p1}&asset_name=`)).length, 1);
    assert.equal(matchesIn(await served.get(`//kupo/matches/${p2}.?unspent`)).length, 0);
    await served.close();
  });
});

describe('datums and scripts', () => {
  test('by hash, with a match, and null for what was never seen', async () => {
    const served = await Served.open({ blocks: 60, store: KEEPS });
    const script = `8202${'4d01000033222220051200120011'}`;
    const tx = makeOutputs(served, [
      { address: `60${'ab'.repeat(28)}`, lovelace: 1n, assets: {}, inlineDatum: 'd87980', scriptRef: script },
    ]);
    const [match] = matchesIn(await served.get(`//kupo/matches/0@${tx}?unspent&resolve_hashes`)) as (KupoMatch & Record<string, unknown>)[];
    const resolved = { language: 'plutus:v2', script: '01000033222220051200120011' };
    assert.deepEqual([match['datum'], match['script'], match.datum_type], ['d87980', resolved, 'inline']);
    assert.equal(match.datum_hash, toHex(blake2b256(fromHex('d87980'))));
    assert.deepEqual((await served.get(`//kupo/datums/${match.datum_hash}`)).json(), { datum: 'd87980' });
    assert.deepEqual((await served.get(`//kupo/v1/scripts/${match.script_hash}`)).json(), resolved);
    assert.equal((await served.get(`//kupo/datums/${'00'.repeat(32)}`)).text, 'null');
    assert.equal((await served.get(`//kupo/scripts/${'00'.repeat(28)}`)).text, 'null');
    for (const path of ['//kupo/datums/xx', `//kupo/scripts/${'00'.repeat(32)}`]) assertProblem(await served.get(path), 'USAGE', 400);
    await served.close();
  });

  test('that the store does not keep are said to be missing, before the first row', async () => {
    const keeps = CLIENT_KEEPS.filter((name) => !['datums', 'scripts', 'index.asset', 'index.policy'].includes(name));
    const served = await Served.open({ blocks: 60, store: { keeps } });
    const unit = [...served.devnet.chain.utxos.values()].flatMap(({ assets }) => [...assets.keys()])[0];
    for (const path of [
      `/datums/${'00'.repeat(32)}`,
      `/scripts/${'00'.repeat(28)}`,
      '/matches?unspent&resolve_hashes',
      `/matches/${unit}?unspent`,
    ])
      assertProblem(await served.get(`//kupo${path}`), 'UNSUPPORTED', 501);
    const filtered = matchesIn(await served.get(`//kupo/matches?unspent&policy_id=${unit.split('.')[0]}`));
    assert.ok(filtered.length > 0, 'a filter needs no index');
    await served.close();
  });
});

/**
 * What the page makes of texts, outside of a browser: numbers and names as
 * people read them, what a search could mean, events that come in pieces, and
 * the one sentence about health.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  ago,
  bytes,
  coins,
  count,
  duration,
  fittingAmount,
  nameText,
  rate,
  shortAddress,
  shortened,
  utc,
} from '../../src/server/page/client/format.ts';
import { isolated, withGaps } from '../../src/server/page/client/gaps.ts';
import { placesOf } from '../../src/server/page/client/kinds.ts';
import type { Status } from '../../src/server/page/client/shapes.ts';
import { SseParser, type StreamEvent } from '../../src/server/page/client/sse.ts';
import { verdictOf } from '../../src/server/page/client/verdict.ts';

const hex = (text: string): string => Buffer.from(text).toString('hex');

describe('lines of a chart', () => {
  const x = null;
  const o = undefined;

  test('go over a short pause, and end at a long one', () => {
    assert.deepEqual(
      withGaps([
        [1, 2, 3, 4, 5],
        [7, x, x, 8, x],
      ]),
      [
        [1, 2, 3, 4, 5],
        [7, o, o, 8, x],
      ],
    );
    const times = Array.from({ length: 40 }, (_, i) => i);
    const values = times.map((i) => (i === 0 || i === 39 ? 1 : x));
    assert.deepEqual(withGaps([times, values]), [times, values]);
  });

  test('do not go over time without samples', () => {
    assert.deepEqual(
      withGaps([
        [1, 2, 10, 11],
        [5, 6, 7, 8],
        [x, 1, 2, x],
      ]),
      [
        [1, 2, 3, 10, 11],
        [5, 6, x, 7, 8],
        [x, 1, x, 2, x],
      ],
    );
    assert.deepEqual(withGaps([[], []]), [[], []]);
  });

  test('a value without a neighbour is a dot', () => {
    assert.deepEqual(isolated([5, x, 6, o, 7, x, 8, x]), [0, 6]);
    assert.deepEqual(isolated([1, 2]), []);
    assert.deepEqual(isolated([1]), [0]);
    assert.deepEqual(isolated([x, o, x]), []);
  });
});

describe('numbers and names', () => {
  test('ada is exact, whatever its size', () => {
    assert.equal(coins('0', 'lovelace'), '0.000000');
    assert.equal(coins('1', 'lovelace'), '0.000001');
    assert.equal(coins('45000000000000000', 'lovelace'), '45,000,000,000.000000');
    assert.equal(coins('2099999997690000', 'satoshi'), '20,999,999.97690000');
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n), (lovelace) => {
        const text = coins(lovelace.toString(), 'lovelace');
        assert.match(text, /^\d{1,3}(,\d{3})*\.\d{6}$/);
        assert.equal(BigInt(text.replace(/[,.]/g, '')), lovelace);
      }),
    );
  });

  test('amounts are made shorter where there is little room, and words are not', () => {
    assert.equal(fittingAmount('698.253332', 11), '698.253332');
    assert.equal(fittingAmount('1,189,698.253332', 11), '1,189,698');
    assert.equal(fittingAmount('24,047,938,504.346219', 11), '24.05B');
    assert.equal(fittingAmount('and 101 more', 11), 'and 101 more');
  });

  test('rates, sizes and times keep to a few digits', () => {
    assert.deepEqual([0, 0.001, 0.25, 3, 12.34, 99.96, 1234.5].map(rate), ['0', '<0.01', '0.25', '3', '12.3', '100', '1,235']);
    assert.deepEqual([0, 999, 1000, 123_456, 5e9].map(bytes), ['0 B', '999 B', '1.00 kB', '123.5 kB', '5.00 GB']);
    assert.deepEqual([0, 59, 60, 3599, 3600, 90_000, 1e9].map(duration), [
      '0 s',
      '59 s',
      '1 min',
      '59 min',
      '1 h 0 min',
      '1 d',
      '11,574 d',
    ]);
    assert.deepEqual(
      [100, 99, 40, 130].map((time) => ago(time, 100)),
      ['just now', 'just now', '1 min ago', 'in 30 s'],
    );
    assert.equal(utc(1_767_225_601), '2026-01-01 00:00:01 UTC');
    assert.equal(count(2n ** 64n), '18,446,744,073,709,551,616');
  });

  test('long values keep their ends', () => {
    assert.equal(shortened('abcdef', 3, 2), 'abcdef');
    assert.equal(shortened('abcdefg', 3, 2), 'abc…fg');
    assert.equal(shortAddress('addr_test1vz09v9yfxguvlp0zsnrpa3tdtm7el8xufp3m5lsm7qxzclgmzkket'), 'addr_test1vz09v9…mzkket');
    assert.equal(shortAddress('37btjrVyb4KDXBNC4haBVPCrro8AQPHwvCMp3RFhhSVWwfFmZ6wwzSK6JK1'), '37btjr…SK6JK1');
  });

  test('asset names are text where they are', () => {
    assert.equal(nameText(hex('HOSKY')), 'HOSKY');
    assert.equal(nameText(hex('Zażółć ₳ 🙂')), 'Zażółć ₳ 🙂');
    assert.equal(nameText(`000de140${hex('Berry1')}`), 'Berry1 (222)');
    for (const none of ['', 'ff', '00', hex('a\nb'), hex('  '), hex('x\u202ey'), 'c3']) assert.equal(nameText(none), null, none);
  });
});

describe('what a search could mean', () => {
  const tx = 'ab'.repeat(32);
  const policy = 'cd'.repeat(28);
  const kinds = (text: string): string =>
    placesOf(text)
      .map(({ kind, value }) => `${kind} ${value}`)
      .join(', ');

  test('texts that are one thing', () => {
    assert.equal(kinds(`${tx}#7`), `output ${tx}/7`);
    assert.equal(kinds(` ${tx.toUpperCase()}#007 `), `output ${tx}/7`);
    assert.equal(kinds('addr_test1vz09v9yfx'), 'address addr_test1vz09v9yfx');
    assert.equal(kinds('stake1u9ylzsgx'), 'stake stake1u9ylzsgx');
    assert.equal(kinds('height:1,234'), 'block height:1234');
    assert.equal(kinds('slot 99'), 'block slot:99');
    assert.equal(kinds(`82d818${'00'.repeat(40)}`), `address 82d818${'00'.repeat(40)}`);
    assert.equal(kinds(`${policy}${hex('HOSKY')}`), `asset ${policy}${hex('HOSKY')}`);
    assert.equal(kinds(`${policy}.${hex('HOSKY')}`), `asset ${policy}${hex('HOSKY')}`);
    const byron = '37btjrVyb4KDXBNC4haBVPCrro8AQPHwvCMp3RFhhSVWwfFmZ6wwzSK6JK1';
    assert.equal(kinds(byron), `address ${byron}`);
  });

  test('texts that could be several, likeliest first', () => {
    assert.equal(kinds('4242'), 'block height:4242, block slot:4242');
    assert.equal(kinds(tx), `tx ${tx}, block ${tx}, datum ${tx}, asset ${tx}`);
    assert.equal(kinds(policy), `policy ${policy}, credential ${policy}, stake ${policy}, script ${policy}`);
    const enterprise = `60${policy}`;
    assert.equal(kinds(enterprise), `address ${enterprise}, asset ${enterprise}`);
    assert.equal(kinds(`e0${policy}`), `stake e0${policy}, asset e0${policy}`);
    assert.equal(kinds(`01${policy}${policy}`), `address 01${policy}${policy}, asset 01${policy}${policy}`);
  });

  test('texts that are nothing', () => {
    for (const text of ['', ' ', 'hello', 'abc', `${tx}#`, `${tx}#12345678901`, '9'.repeat(20), '<script>'])
      assert.equal(kinds(text), '', text);
    fc.assert(fc.property(fc.string(), (text) => placesOf(text).length < 9));
  });
});

describe('events that come in pieces', () => {
  const text = ': hello\nid: 7\nevent: tip\ndata: {"a":1}\n\ndata: x\r\ndata:y\r\n\r\n: heartbeat\nid: 9\n\nevent: none\n\n';
  const wanted: StreamEvent[] = [
    { type: 'tip', data: '{"a":1}' },
    { type: 'message', data: 'x\ny' },
  ];

  test('are the same however the pieces fall', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        const events = places.slice(1).flatMap((end, i) => parser.push(text.slice(places[i], end)));
        assert.deepEqual(events, wanted);
        assert.equal(parser.lastId, '9');
      }),
    );
  });
});

describe('the verdict', () => {
  const well: Status = {
    ...{
      version: '0',
      network: 'devnet',
      family: 'cardano',
      unit: 'lovelace',
      coin: 'ada',
      refresh_seconds: 5,
      healthy: true,
      reason: null,
      lag_blocks: 0,
      lag_slots: 0,
      horizon: null,
      utxos: 1,
      value: '1',
      bytes: 1,
      txs: null,
      publishing: null,
    },
    tip: { height: 1200, slot: 24_000, hash: 'ab', epoch: 1, block_time: 1, era: 'conway' },
    pruned: { spent_outputs: -1, deltas: -1 },
    shapes: [],
    projections: ['utxo'],
    following: {
      state: 'following',
      source: 'n2n://node:3001',
      peer: null,
      version: null,
      source_tip: { slot: 24_000, height: 1200 },
      rollbacks: [],
      fills: [],
      connections_lost: 0,
      last_error: null,
    },
  };
  const following = (more: Partial<Status['following']>): Status => ({ ...well, following: { ...well.following, ...more } });
  const said = (status: Status, pace = 0): string => {
    const { tone, title, detail } = verdictOf(status, pace);
    return `${tone}: ${title}. ${detail}`;
  };

  test('is good when all is there, a block on its way aside', () => {
    assert.match(said(well), /^ok: In sync/);
    assert.match(said({ ...well, lag_blocks: 2 }), /^ok: In sync/);
    assert.match(said(following({ state: 'idle' })), /^idle: At rest. The chain as of block 1,200 of 1970-01-01/);
    assert.match(said({ ...well, tip: null }), /^idle: Empty/);
  });

  test('says how far behind it is, and for how long', () => {
    assert.equal(
      said({ ...well, lag_blocks: 12_000 }, 100),
      'warn: Behind by 12,000 blocks. Catching up at 100 blocks a second, about 2 min left.',
    );
    assert.match(said({ ...well, lag_blocks: 3 }), /^warn: Behind by 3 blocks\. No block has come/);
    assert.match(said({ ...well, lag_blocks: null, lag_slots: 5000 }), /^warn: Behind by 5,000 slots/);
  });

  test('names the worst first', () => {
    const worse = following({ state: 'stopped', last_error: 'the disk is full', fills: [{ projection: 'index.asset', done: 0.5 }] });
    assert.equal(said({ ...worse, lag_blocks: 100, healthy: false }), 'bad: Stopped. the disk is full');
    assert.equal(said({ ...well, healthy: false, reason: 'the store is damaged' }), 'bad: Not healthy. the store is damaged');
    assert.match(said(following({ state: 'waiting', last_error: 'refused' })), /^warn: Source lost\. refused/);
    assert.match(said(following({ state: 'connecting' })), /^warn: Connecting\. Reaching n2n:\/\/node:3001/);
  });

  test('tells of an index that is being filled', () => {
    const fills = [
      { projection: 'index.asset', done: 0.426 },
      { projection: 'datums', done: 0 },
    ];
    assert.equal(said(following({ fills })), 'info: Filling index.asset. 43 % done, and 1 more. Everything else answers as usual.');
  });
});

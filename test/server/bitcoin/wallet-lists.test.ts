/**
 * What a page shows of a wallet, over HTTP: coins and leases page by page,
 * history with who replaced whom, what a reorganisation did, and events from
 * where a reader was, also those that come while it waits.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../../src/config/load.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import { temporary } from '../../cli/run.ts';
import { SHOWN_WALLET, tellShownWallet } from '../../wallet/support/shown-wallet.ts';
import { blockAt, idOf, nameOf, type World } from '../../wallet/support/world.ts';

const TOKEN = 'of-the-wallets';

interface ShownTx {
  readonly txid: string;
  readonly status: string;
  readonly block: { readonly height: number } | null;
  readonly replaced_by: readonly string[];
  readonly group?: {
    readonly transactions: readonly ShownTx[];
    readonly replacements: readonly { readonly replaced: string; readonly replacement: string }[];
    readonly is_cut: boolean;
  } | null;
}
interface ShownReorg {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  readonly transactions: readonly {
    readonly txid: string;
    readonly lost_block: number | null;
    readonly became: string;
    readonly now: ShownTx;
  }[];
}

describe('lists of wallets over HTTP', () => {
  let [store, served, wallets, world]: [OpenStore?, Served?, WalletStore?, World?] = [];
  before(async () => {
    const data = join(temporary(), 'data');
    const { config } = loadConfig({ flags: { set: [`wallet.token=${TOKEN}`] }, env: {} });
    store = await openStore({ data, network: 'bitcoin-regtest', config });
    wallets = await openWalletStore(`sqlite:${join(data, 'wallets.sqlite')}`);
    world = await tellShownWallet(wallets, Date.now());
    served = await serve(store, { port: 0 });
  });
  after(async () => {
    await served?.close();
    await wallets?.close();
    await store?.close();
  });

  const ask = (path: string, token = TOKEN): Promise<Response> =>
    fetch(`${served!.url}api/v1/wallets${path}`, { headers: { authorization: `Bearer ${token}` } });
  const get = async <T>(path: string): Promise<{ body: T; next: string | null }> => {
    const response = await ask(`/${SHOWN_WALLET}${path}`);
    const body = (await response.json()) as T;
    assert.equal(response.status, 200, `${path}: ${JSON.stringify(body)}`);
    return { body, next: response.headers.get('x-next-after') };
  };
  /** Every row, three at a time. */
  const all = async <Row>(path: string, field: string): Promise<Row[]> => {
    const rows: Row[] = [];
    let next: string | null = null;
    do {
      const joined = `${path}${path.includes('?') ? '&' : '?'}limit=3${next === null ? '' : `&after=${encodeURIComponent(next)}`}`;
      const page: { body: Readonly<Record<string, readonly Row[]>>; next: string | null } = await get(joined);
      assert.ok(page.body[field].length <= 3);
      rows.push(...page.body[field]);
      next = page.next;
    } while (next !== null);
    return rows;
  };
  /** Names are the first bytes of ids, which are shown in reverse. */
  const named = (txid: string): string => nameOf(Buffer.from(txid, 'hex').reverse());
  const stateOf = ({ txid, status, block }: ShownTx): string => `${named(txid)} ${status}${block === null ? '' : ` ${block.height}`}`;

  it('need the token', async () => {
    for (const path of ['', '/coins', '/leases', '/transactions?grouped=true', '/reorgs', '/events']) {
      for (const token of ['', 'another']) assert.equal((await ask(path === '' ? '' : `/${SHOWN_WALLET}${path}`, token)).status, 401, path);
    }
  });

  it('coins come smallest first, page by page, with their leases', async () => {
    const coins = await all<{ outpoint: string; amount: string; lease: { id: string; expires_at: number | null } | null }>(
      '/coins',
      'coins',
    );
    assert.deepEqual(
      coins.map(({ outpoint, amount, lease }) => [named(outpoint.slice(0, 64)), amount, lease && nameOf(lease.id)]),
      [
        ['tip', '5000', null],
        ['third sale', '700000', 'the till'],
        ['order of others', '18000000', null],
        ['rent at last', '19997000', 'the owner'],
      ],
    );
    const { leases } = (await get<{ leases: typeof coins }>('/leases')).body;
    assert.deepEqual(leases.map(({ outpoint, lease }) => [named(outpoint.slice(0, 64)), lease?.expires_at === null]).sort(), [
      ['rent at last', true],
      ['third sale', false],
    ]);
  });

  it('the history leaves out what was replaced, and tells it with what replaced it', async () => {
    const entries = await all<ShownTx>('/transactions?grouped=true', 'transactions');
    assert.deepEqual(entries.map(stateOf), [
      'tip published',
      'spends coinbase failed',
      'coinbase one orphaned',
      'order of others published 104',
      'rent at last published 103',
      'gift published 101',
      'gift money published 100',
      'third sale published 100',
      'second sale published 100',
      'sale published 100',
    ]);
    const groups = entries.flatMap(({ txid, group }) => (group == null ? [] : [[named(txid), group] as const]));
    const shown = groups.map(([name, { transactions, replacements, is_cut }]) => {
      assert.equal(is_cut, false);
      const edges = replacements.map(({ replaced, replacement }) => `${named(replaced)} -> ${named(replacement)}`);
      return [name, transactions.map(stateOf), edges];
    });
    assert.deepEqual(shown, [
      ['order of others', ['order replaced', 'order of others published 104'], ['order -> order of others']],
      [
        'rent at last',
        ['rent replaced', 'rent again replaced', 'rent at last published 103'],
        ['rent -> rent again', 'rent again -> rent at last'],
      ],
      ['gift', ['gift published 101', 'gift for more replaced'], ['gift -> gift for more', 'gift for more -> gift']],
    ]);
    const rows = await all<ShownTx>('/transactions', 'transactions');
    assert.equal(rows.length, 14);
    const chains = rows
      .filter(({ status }) => status === 'replaced')
      .map(({ txid, replaced_by }) => [txid, ...replaced_by].map(named).join(' '));
    assert.deepEqual(chains.sort(), [
      'gift for more gift',
      'order order of others',
      'rent again rent at last',
      'rent rent again rent at last',
    ]);
  });

  it('a reorganisation is told with what it did, and what became of that', async () => {
    const [reorg, ...others] = await all<ShownReorg>('/reorgs', 'reorgs');
    assert.deepEqual(others, []);
    assert.deepEqual([reorg.from, reorg.to, reorg.depth], [103, 101, 2]);
    assert.deepEqual(
      reorg.transactions.map(({ txid, lost_block, became, now }) => `${named(txid)}: ${lost_block}, ${became}, ${stateOf(now)}`),
      [
        'coinbase one: 103, orphaned, coinbase one orphaned',
        'order: 102, published, order replaced',
        'rent at last: 102, published, rent at last published 103',
        'spends coinbase: null, failed, spends coinbase failed',
      ],
    );
  });

  it('events are read to the end from where a reader was, and then waited for', async () => {
    assert.equal((await ask(`/${SHOWN_WALLET}/events?since=1`)).status, 400, 'a parameter that is not known is refused');
    const { newest_event: newest } = (await get<{ newest_event: number }>('')).body;
    const told = (await get<{ events: { sequence: number; kind: string; txid?: string; by?: string | null }[] }>('/events?limit=1000')).body
      .events;
    assert.equal(told.at(-1)?.sequence, newest);
    assert.ok(told.every(({ sequence }, i) => i === 0 || sequence > told[i - 1].sequence));
    const [replaced] = told.filter(({ kind, txid }) => kind === 'tx.status' && named(txid ?? '') === 'rent');
    assert.equal(named(replaced.by ?? ''), 'rent again');
    const rest = await get<{ events: unknown[] }>(`/events?after=${told[9].sequence}&limit=2`);
    assert.deepEqual(rest.body.events, told.slice(10, 12));
    assert.deepEqual((await get<{ events: unknown[] }>(`/events?after=${newest}`)).body.events, []);

    const waiting = get<{ events: { kind: string; height: number }[] }>(`/events?after=${newest}&wait=30`);
    await world!.store.updateWallet(world!.wallet, { syncedTo: blockAt(105, 1) });
    const [tip] = (await waiting).body.events;
    assert.deepEqual([tip.kind, tip.height], ['sync.tip', 105]);
    await world!.store.leaseCoins(world!.wallet, [{ txId: idOf('tip'), index: 0 }], { id: idOf('x'), now: Date.now(), durationMs: 1 });
    const { events: later } = (await get<{ events: { kind: string; lease: string }[] }>(`/events?after=${newest + 1}&wait=30`)).body;
    assert.deepEqual(
      later.map(({ kind, lease }) => [kind, nameOf(lease)]),
      [['lease.acquired', 'x']],
    );
  });

  it('a reader whose events are forgotten is told where to go on; one who has read nothing begins with the oldest', async () => {
    const { newest } = await world!.store.eventRange();
    await world!.store.trimEvents(3);
    const response = await ask(`/${SHOWN_WALLET}/events?after=${newest - 4}`);
    const told = (await response.json()) as { code: string; detail: string };
    assert.deepEqual([response.status, told.code], [410, 'EXPIRED']);
    assert.match(told.detail, new RegExp(`go on behind ${newest}$`));
    const { events } = (await get<{ events: { sequence: number }[] }>('/events')).body;
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      [newest - 2, newest - 1, newest],
    );
    assert.deepEqual((await get<{ reorgs: unknown[] }>('/reorgs')).body.reorgs, []);
  });

  it('wallets are listed with their balances, page by page', async () => {
    for (const name of ['a', 'Zürich %41', 'z']) await world!.store.createWallet({ name, isWatchOnly: true });
    const names: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const response: Response = await ask(`?limit=1${next === '' ? '' : `&after=${next}`}`);
      const { wallets: page } = (await response.json()) as { wallets: { name: string; balance: { total: string } }[] };
      names.push(...page.map(({ name, balance }) => `${name} ${balance.total}`));
      next = response.headers.get('x-next-after');
    }
    assert.deepEqual(names.sort(), ['Zürich %41 0', 'a 0', `${SHOWN_WALLET} 38702000`, 'z 0'].sort());
  });
});

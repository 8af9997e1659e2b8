/**
 * What a running follower answers: the store's status with that of the chase,
 * its digest, and the unspent outputs of an address.
 */
import { Renderer } from '../query/render.ts';
import type { Served } from '../server/serve.ts';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import type { ControlCommand } from './control.ts';
import { fillText } from './fill-text.ts';
import type { FollowLog } from './follow-log.ts';
import { coins, counted, pairs, placeText, pointText, unspentText } from './format.ts';
import { sumOf, utxoTable } from './utxo-table.ts';

const ROWS_MAX = 100;

export function followCommands(store: OpenStore, lines: FollowLog, served: Served | null): ControlCommand[] {
  return [
    { syntax: 'status', doc: 'tip, lag, peer, last rollback', run: () => pairs(statusRows(store, lines, served)) },
    {
      syntax: 'digest',
      doc: 'count, value and digest of the unspent set',
      run() {
        const { utxos, value, digest } = store.digest();
        return `${digest}\n${counted(utxos, 'unspent output')} worth ${coins(value, store.network.dialect.currency)}, at ${pointText(store.fold.head, store.network.dialect)}`;
      },
    },
    { syntax: 'query address ADDRESS', doc: 'its unspent outputs', run: (what, text) => queryAddress(store, what, text) },
  ];
}

function statusRows(store: OpenStore, lines: FollowLog, served: Served | null): [string, string][] {
  const { head, totals, horizon, network, fills } = store.status();
  const { dialect } = store.network;
  const rows: [string, string][] = [
    ['network', network],
    ['tip', head === null ? 'no block yet' : placeText(head, dialect)],
    ...(head === null ? [] : [['block', dialect.formatId(head.hash)] as [string, string]]),
    ['horizon', horizon === null ? 'the origin' : placeText(horizon, dialect)],
    ['unspent', unspentText(totals, dialect)],
  ];
  if (fills.length > 0) rows.push(['filling', fillText(fills)]);
  return [...rows, ...lines.rows(), ['page', served?.url ?? 'not served']];
}

function queryAddress(store: OpenStore, what: string, text: string): string {
  if (what !== 'address') throw new UnspentError('USAGE', 'query address ADDRESS');
  const { dialect } = store.network;
  const key = dialect.addressKey(text);
  return store.read((query) => {
    const renderer = new Renderer(query, dialect);
    const found = [...query.byKey('address', key, { limit: ROWS_MAX + 1 })];
    const utxos = found.slice(0, ROWS_MAX).map((row) => renderer.utxo(row));
    const sum = `${counted(utxos.length, 'unspent output')} worth ${sumOf(utxos, dialect.currency)}, read at ${pointText(query.head, dialect)}`;
    const more = found.length > ROWS_MAX ? `\nthere are more than ${ROWS_MAX}; use \`unspent query address\` in another terminal` : '';
    return utxos.length === 0 ? sum : `${utxoTable(utxos, dialect)}\n${sum}${more}`;
  });
}

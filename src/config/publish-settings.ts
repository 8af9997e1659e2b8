/** The settings of publishing: where to, and in which form. */
import { PUBLISH_HISTORY } from '../projections/history/elsewhere.ts';
import type { Setting } from '../util/setting.ts';

export const PUBLISH_SETTINGS = {
  'publish.to': {
    type: 'string',
    default: '',
    secret: 'password',
    doc: 'Where `start` and `sync` publish the state to, block by block, in a thread of their own: `postgres://USER:PASSWORD@HOST/NAME?schema=SCHEMA` or `cassandra://USER:PASSWORD@HOST,HOST/KEYSPACE?dc=NAME`. Empty: nowhere.',
  },
  'publish.form': {
    type: 'oneOf',
    values: ['columns', 'sql'],
    default: 'columns',
    doc: 'What is published: `columns`, the columns of the store as they are, which `unspent serve --from` reads; `sql` (PostgreSQL only), tables for people, cut into parts of so many heights as `&partition=BLOCKS` in the URL says (250,000).',
  },
  'publish.history': PUBLISH_HISTORY,
} as const satisfies Record<string, Setting>;

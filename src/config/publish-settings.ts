/** The settings of publishing: where to, and in which form. */
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
    unavailable: { value: 'sql', why: 'this version publishes columns only' },
    doc: 'What is published: `columns`, the columns of the store as they are, which `unspent serve --from` reads.',
  },
} as const satisfies Record<string, Setting>;

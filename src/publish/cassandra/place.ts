/**
 * Where a copy in Cassandra stands: `cassandra://user:password@host[:port],host/keyspace`.
 * Several hosts are several ways in; one that answers tells the others.
 */
import { UnspentError } from '../../util/errors.ts';

export interface CassandraPlace {
  /** Without secrets: for messages and status. */
  readonly name: string;
  /** `host:port` each. */
  readonly hosts: readonly string[];
  readonly keyspace: string;
  readonly user: string | null;
  readonly password: string | null;
  /** The data centre whose nodes are asked; null: any. */
  readonly dataCentre: string | null;
  /** Copies of each row that a keyspace is made with, where it is not there yet. */
  readonly replication: number;
  /** Partitions of rows with hashed keys, for copies that begin now. */
  readonly buckets: number;
}

const PORT = 9042;
const FORM = 'cassandra://user@host,host/keyspace?dc=NAME';
const PARTS = /^cassandra:\/\/(?:([^@/]*)@)?([^/?#@]+)\/([^/?#]*)(?:\?([^#]*))?$/;
/** So that a bucket is a number of leading bits. */
const BUCKETS = [16, 64, 256, 4096, 65_536];

/** Throws USAGE. */
export function cassandraPlace(url: string): CassandraPlace {
  // Not as URL has it: that knows one host and one port.
  const parts = PARTS.exec(url);
  if (parts === null) throw new UnspentError('USAGE', `a copy in Cassandra is ${FORM}`);
  const [, credentials, hostList, keyspace, query = ''] = parts;
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(keyspace))
    throw new UnspentError('USAGE', `a keyspace is a name of lower-case letters, digits and _, not '${keyspace.slice(0, 80)}'`);
  const hosts = hostList.split(',').map(withPort);
  const values = new URLSearchParams(query);
  for (const name of values.keys())
    if (!['dc', 'replication', 'buckets'].includes(name))
      throw new UnspentError('USAGE', `a copy in Cassandra is ${FORM}: it has dc, replication and buckets, not '${name.slice(0, 40)}'`);
  const [user = null, password = null] = (credentials ?? '').split(/:(.*)/s).map((text) => (text === '' ? null : decoded(text)));
  return {
    name: `cassandra ${hosts.join(',')}/${keyspace}`,
    hosts,
    keyspace,
    user,
    password,
    dataCentre: values.get('dc'),
    replication: numberOf(values, 'replication', 3, (n) => n >= 1 && n <= 9, 'is 1 to 9'),
    buckets: numberOf(values, 'buckets', 256, (n) => BUCKETS.includes(n), `is one of ${BUCKETS.join(', ')}`),
  };
}

function withPort(host: string): string {
  const [, name, port = String(PORT)] = /^([^:]+)(?::([0-9]{1,5}))?$/.exec(host) ?? [];
  if (name === undefined) throw new UnspentError('USAGE', `'${host.slice(0, 80)}' is no host or host:port of a Cassandra node`);
  return `${name}:${port}`;
}

function numberOf(values: URLSearchParams, name: string, otherwise: number, isRight: (n: number) => boolean, rule: string): number {
  const text = values.get(name);
  if (text === null) return otherwise;
  const number = Number(text);
  if (!/^[0-9]{1,6}$/.test(text) || !isRight(number)) throw new UnspentError('USAGE', `${name} ${rule}, not '${text.slice(0, 40)}'`);
  return number;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UnspentError('USAGE', 'the user or the password of the copy is not percent-encoded as URLs are');
  }
}

/** URLs of PostgreSQL that name several servers, and which of them a connection goes to. Real servers: failover.test.ts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PostgresHosts, parsePostgresUrl } from '../../src/sql/postgres-hosts.ts';
import { isUnspentError } from '../../src/util/errors.ts';

interface FakeServer {
  isUp: boolean;
  isStandby: boolean;
}

class FakeClient {
  readonly address: string;
  isEnded = false;
  private readonly server: FakeServer;

  constructor(address: string, servers: Readonly<Record<string, FakeServer>>) {
    this.address = address;
    const found = Object.entries(servers).find(([host]) => address.includes(host));
    assert.ok(found, address);
    this.server = found[1];
  }

  on(): void {}

  async connect(): Promise<void> {
    if (!this.server.isUp) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
  }

  async query(): Promise<{ rows: unknown[] }> {
    return { rows: [{ standby: this.server.isStandby, fixed: this.server.isStandby }] };
  }

  async end(): Promise<void> {
    this.isEnded = true;
  }
}

const primary = (): FakeServer => ({ isUp: true, isStandby: false });
const standby = (): FakeServer => ({ isUp: true, isStandby: true });

/** Which server the next connection goes to; null: to none. */
async function chosen(hosts: PostgresHosts, servers: Readonly<Record<string, FakeServer>>): Promise<string | null> {
  const made: FakeClient[] = [];
  try {
    const client = await hosts.connect((address) => {
      made.push(new FakeClient(address, servers));
      return made.at(-1)!;
    });
    assert.ok(!client.isEnded);
    return Object.keys(servers).find((host) => client.address.includes(host)) ?? '';
  } catch (error) {
    assert.ok(!isUnspentError(error), `${error}`);
    return null;
  } finally {
    assert.equal(made.filter(({ isEnded }) => !isEnded).length <= 1, true, 'connections that are not wanted are closed');
  }
}

const isUsage = (error: unknown): boolean => isUnspentError(error, 'USAGE');

describe('URLs of PostgreSQL', () => {
  it('of one server go to the driver as they are', () => {
    for (const url of [
      'postgres://u:p%40ss@h/db',
      'postgresql://h:5433/db?sslmode=require',
      'postgres://localhost/db?host=%2Ftmp%2Fx',
      'postgres:///db',
      'postgres://u@[::1]:5432/db',
    ])
      assert.equal(new PostgresHosts(url, { writes: true }).current, url);
  });

  it('of several servers name each of them in turn', () => {
    const hosts = new PostgresHosts('postgres://u:p@a:5432,b:5433,[::1]/db?sslmode=require&target_session_attrs=any', { writes: true });
    const seen = Array.from({ length: 3 }, () => {
      const address = hosts.current;
      hosts.leave(address);
      return address;
    });
    assert.deepEqual(seen, [
      'postgres://u:p@a:5432/db?sslmode=require',
      'postgres://u:p@b:5433/db?sslmode=require',
      'postgres://u:p@[::1]/db?sslmode=require',
    ]);
    assert.equal(hosts.current, seen[0]);
    hosts.leave(seen[1]);
    assert.equal(hosts.current, seen[0], 'another connection has gone on already');
  });

  it('may name sockets, with their ports', () => {
    const hosts = new PostgresHosts('postgres://u@localhost/db?host=/a,/b&port=5,6', { writes: true });
    hosts.leave(hosts.current);
    const { parameters } = parsePostgresUrl(hosts.current);
    assert.deepEqual([parameters.get('host'), parameters.get('port')], ['/b', '6']);
  });

  it('that are none are refused', () => {
    for (const url of [
      'postgres://a:1,b:x/db',
      'postgres://a,,b/db',
      'mysql://a/db',
      'postgres://a b/db',
      'postgres://a,b/db?host=/x,/y',
      'postgres://a/d?host=/x,/y&port=1,2,3',
    ])
      assert.throws(() => new PostgresHosts(url, { writes: true }), isUsage, url);
    assert.throws(() => new PostgresHosts(`postgres://${Array.from({ length: 17 }, (_, n) => `h${n}`)}/db`, { writes: true }), isUsage);
    assert.throws(() => new PostgresHosts('postgres://a,b/db?target_session_attrs=best', { writes: false }), isUsage);
    assert.throws(() => new PostgresHosts('postgres://a,b/db?target_session_attrs=standby', { writes: true }), isUsage);
  });
});

describe('the server of a connection', () => {
  it('takes writes where the database is written to, whichever it is', async () => {
    const servers = { 'first.': standby(), 'second.': primary() };
    const hosts = new PostgresHosts('postgres://first.x,second.x/db', { writes: true });
    assert.equal(await chosen(hosts, servers), 'second.');
    servers['second.'].isUp = false;
    assert.equal(await chosen(hosts, servers), null, 'no server takes writes');
    servers['first.'].isStandby = false;
    assert.equal(await chosen(hosts, servers), 'first.');
  });

  it('is any that answers where it is only read, or as the URL says', async () => {
    const servers = { 'first.': primary(), 'second.': standby() };
    const of = (target: string): PostgresHosts => new PostgresHosts(`postgres://first.x,second.x/db${target}`, { writes: false });
    assert.equal(await chosen(of(''), servers), 'first.');
    assert.equal(await chosen(of('?target_session_attrs=standby'), servers), 'second.');
    const preferring = of('?target_session_attrs=prefer-standby');
    assert.equal(await chosen(preferring, servers), 'second.');
    servers['second.'].isUp = false;
    assert.equal(await chosen(preferring, servers), 'first.');
    assert.equal(await chosen(of('?target_session_attrs=read-only'), servers), null);
  });

  it('is looked for again after a statement that it refuses to write', () => {
    const readOnly = Object.assign(new Error('read-only'), { code: '25006' });
    assert.equal(new PostgresHosts('postgres://a,b/db', { writes: true }).isElsewhere(readOnly), true);
    assert.equal(new PostgresHosts('postgres://a/db', { writes: true }).isElsewhere(readOnly), false);
  });
});

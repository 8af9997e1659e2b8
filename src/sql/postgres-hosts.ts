/**
 * One database on several servers: a primary and its standbys, of which another
 * is the primary after a failover. URLs name them as those of libpq do,
 *
 *   postgres://user@a:5432,b:5433/db?target_session_attrs=read-write
 *   postgres://user@/db?host=/run/a,/run/b
 *
 * and `pg`, which takes one host, gets the one that is wanted: whoever connects
 * begins with the server that was good last, and goes on to the next where it
 * does not answer or is not of the kind. Which one is good is remembered by each
 * PostgresHosts, so that a failover costs a connection one round.
 *
 *   hosts.connect((address) => new Client({ connectionString: address, ... }))   a connection
 *   new Pool({ ...config, Client: hosts.clientOf(Client) })                      connections of a pool
 */
import type { Client, ClientConfig } from 'pg';
import { UnspentError } from '../util/errors.ts';
import { SQL_HOSTS_MAX } from '../util/limits.ts';

/** What libpq calls `target_session_attrs`. */
const TARGETS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
type Target = (typeof TARGETS)[number];
/** Those that a connection which writes may ask for. */
const TAKE_WRITES: readonly Target[] = ['any', 'read-write', 'primary'];

/** A URL of PostgreSQL in its parts. */
export interface PostgresUrl {
  /** `a:5432`; empty: where the driver looks by itself. */
  readonly hosts: readonly string[];
  /** With its slash. */
  readonly path: string;
  readonly parameters: URLSearchParams;
  /** The whole, with other parameters perhaps. */
  text(): string;
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]]*)(?::\d{1,5})?$/;

/** Throws USAGE. */
export function parsePostgresUrl(url: string): PostgresUrl {
  const [, start, authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  const hosts = authority.split(',');
  if (start === undefined || !hosts.every((host) => HOST.test(host)) || (hosts.length > 1 && hosts.includes('')))
    throw new UnspentError(
      'USAGE',
      'a database in PostgreSQL is postgres://user@host/name, or user@host:5432,host:5433/name for several servers',
    );
  const parameters = new URLSearchParams(query);
  const text = (): string => {
    const rest = parameters.toString();
    return `${start}${authority}${path}${rest === '' ? '' : `?${rest}`}`;
  };
  return { hosts, path, parameters, text };
}

/** What is asked of the server of a connection. */
interface Asked {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Where a client is connected, and where it is closed. */
interface Connecting extends Asked {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

/** As `pg` declares it. */
type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

export class PostgresHosts {
  /** URLs for the driver, one for each server. */
  private readonly addresses: readonly string[];
  private readonly target: Target;
  private at = 0;

  /** `writes`: only a server that takes writes is of use, unless the URL says `any`. Throws USAGE. */
  constructor(url: string, { writes }: { readonly writes: boolean }) {
    const parsed = parsePostgresUrl(url);
    const said = parsed.parameters.get('target_session_attrs');
    parsed.parameters.delete('target_session_attrs');
    this.addresses = addressesOf(parsed, said === null ? url : parsed.text());
    this.target = targetOf(said, writes && this.addresses.length > 1);
    if (writes && !TAKE_WRITES.includes(this.target))
      throw new UnspentError('USAGE', `target_session_attrs=${this.target} is of no use here: the database is written to`);
  }

  get several(): boolean {
    return this.addresses.length > 1;
  }

  /** The server that the next connection goes to first. */
  get current(): string {
    return this.addresses[this.at];
  }

  /** That server is not good any more: the next one is asked, unless another connection has gone on already. */
  leave(address: string): void {
    if (address === this.current) this.at = (this.at + 1) % this.addresses.length;
  }

  /** A connection to the first server that is wanted. Throws what the last one that was asked has answered. */
  async connect<C extends Connecting>(make: (address: string) => C): Promise<C> {
    const rounds: readonly Target[] = this.target === 'prefer-standby' ? ['standby', 'any'] : [this.target];
    let failure: unknown;
    for (const target of rounds) {
      for (let count = 0; count < this.addresses.length; count++) {
        const address = this.current;
        const client = make(address);
        // One that nobody listens to would end the process.
        client.on('error', () => undefined);
        try {
          await client.connect();
          await check(client, target, address);
          return client;
        } catch (error) {
          failure = error;
          this.leave(address);
          void client.end().catch(() => undefined);
        }
      }
    }
    throw failure;
  }

  /** For a pool, which makes its connections itself: each goes to the current server, and where that fails, the next one goes elsewhere. */
  clientOf(Base: typeof Client): typeof Client {
    const hosts = this;
    const target = this.target === 'prefer-standby' ? 'any' : this.target;
    return class extends Base {
      private readonly address: string;

      constructor(config: ClientConfig) {
        const address = hosts.current;
        super({ ...config, connectionString: address });
        this.address = address;
      }

      override connect(): Promise<Client>;
      override connect(callback: Connected): void;
      override connect(callback?: Connected): Promise<Client> | undefined {
        const connected = this.begin();
        if (callback === undefined) return connected;
        const done = callback as (error: Error | null, client?: Client) => void;
        connected.then((client) => done(null, client), done);
        return undefined;
      }

      private async begin(): Promise<Client> {
        try {
          await super.connect();
          await check(this, target, this.address);
          return this;
        } catch (error) {
          hosts.leave(this.address);
          void this.end().catch(() => undefined);
          throw error;
        }
      }
    };
  }

  /** Whether a statement has failed because its server takes no writes any more, while another one may. */
  isElsewhere(error: unknown): boolean {
    return this.several && (error as { readonly code?: unknown }).code === READ_ONLY;
  }
}

/** SQLSTATE: a statement that writes, where nothing may be written. */
const READ_ONLY = '25006';
/** SQLSTATE: cannot connect now. A transient failure. */
const NOT_NOW = '57P03';

function addressesOf(url: PostgresUrl, text: string): readonly string[] {
  const { hosts, parameters } = url;
  const listed = parameters.get('host')?.split(',') ?? [];
  const count = Math.max(hosts.length, listed.length);
  if (count > SQL_HOSTS_MAX) throw new UnspentError('USAGE', `a URL of PostgreSQL names at most ${SQL_HOSTS_MAX} servers, not ${count}`);
  if (count === 1) return [text];
  if (listed.length === 0)
    return hosts.map((host) =>
      text.replace(PARTS, (_all, start, _hosts, path = '', query) => `${start}${host}${path}${query === undefined ? '' : `?${query}`}`),
    );
  const ports = parameters.get('port')?.split(',') ?? [];
  if (hosts.length > 1 || (ports.length > 1 && ports.length !== listed.length))
    throw new UnspentError('USAGE', 'a URL of PostgreSQL names several servers once: before the database, or as host=A,B and port=1,2');
  return listed.map((host, n) => {
    const one = parsePostgresUrl(text);
    one.parameters.set('host', host);
    if (ports.length > 0) one.parameters.set('port', ports.length === 1 ? ports[0] : ports[n]);
    return one.text();
  });
}

function targetOf(said: string | null, writes: boolean): Target {
  if (said === null) return writes ? 'read-write' : 'any';
  const target = TARGETS.find((one) => one === said);
  if (target === undefined)
    throw new UnspentError('USAGE', `target_session_attrs is one of ${TARGETS.join(', ')}, not '${said.slice(0, 40)}'`);
  return target;
}

/** Throws a transient failure where the server is not of the kind. */
async function check(client: Asked, target: Target, address: string): Promise<void> {
  if (target === 'any') return;
  const { rows } = await client.query("SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS fixed");
  const { standby, fixed } = rows[0] as { readonly standby: boolean; readonly fixed: boolean };
  const isWanted = { 'read-write': !fixed, 'read-only': fixed, primary: !standby, standby, 'prefer-standby': true }[target];
  if (isWanted) return;
  const { hosts, parameters } = parsePostgresUrl(address);
  const what = `${parameters.get('host') ?? hosts[0]} is ${standby ? 'a standby' : fixed ? 'read-only' : 'no standby'}`;
  throw Object.assign(new Error(`the server at ${what}, and the URL asks for ${target}`), { code: NOT_NOW });
}

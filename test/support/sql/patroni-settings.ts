/** Configuration of the nodes of a Patroni cluster in tests: short times, synchronous replication, nobody asked for a password. */

export interface PatroniPlace {
  readonly name: string;
  readonly folder: string;
  readonly postgresPort: number;
  readonly restPort: number;
  /** The client ports of etcd. */
  readonly etcdPorts: readonly number[];
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
}

/** Patroni allows nothing shorter: a leader that is gone is replaced after so many seconds. */
const LEADER_SECONDS = 20;

/** As JSON, which is YAML. */
export function patroniSettings({ name, folder, postgresPort, restPort, etcdPorts, programs }: PatroniPlace): string {
  const rest = `127.0.0.1:${restPort}`;
  const postgres = `127.0.0.1:${postgresPort}`;
  return JSON.stringify({
    scope: 'unspent',
    name,
    log: { level: 'WARNING' },
    restapi: { listen: rest, connect_address: rest },
    etcd3: { hosts: etcdPorts.map((port) => `127.0.0.1:${port}`) },
    bootstrap: {
      dcs: {
        ttl: LEADER_SECONDS,
        loop_wait: 2,
        retry_timeout: 5,
        // A server that was killed is not waited for: its node gives the lead away.
        primary_start_timeout: 0,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            wal_level: 'replica',
            wal_log_hints: 'on',
            wal_keep_size: '256MB',
            max_connections: 60,
            shared_buffers: '32MB',
            autovacuum: 'off',
            jit: 'off',
            log_min_messages: 'panic',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }],
    },
    postgresql: {
      listen: postgres,
      connect_address: postgres,
      data_dir: `${folder}/data`,
      bin_dir: programs,
      pgpass: `${folder}/pgpass`,
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' }, rewind: { username: 'postgres' } },
      parameters: { unix_socket_directories: folder },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
  });
}

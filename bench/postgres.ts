/** Settings of a PostgreSQL server of a benchmark's own: it writes to the disk as a server in production does. */
export const SERVER_SETTINGS = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', autovacuum: 'on', max_wal_size: '4GB' };

/**
 * Backups over HTTP, for operators: `POST /api/v1/backups` begins one, `GET` says
 * what became of it and which there are. Only where `server.token` is set, so that
 * nobody fills a disk by accident, and `backup.directory`: a request never names a
 * folder.
 */
import type { Config } from '../../config/schema.ts';
import { listBackups } from '../../store/backup/list.ts';
import { isUnspentError } from '../../util/errors.ts';
import type { ServerState } from '../http/server-state.ts';
import type { App } from '../http/typed.ts';
import { API, describedStatus } from '../native/openapi.ts';
import { BackupRunner } from './runner.ts';
import { Backups } from './schemas.ts';

export function offersBackups({ server, backup }: Config): boolean {
  return server.token !== '' && backup.directory !== '';
}

const PATH = `${API}/backups`;

export function registerBackups(app: App, { context }: ServerState): void {
  const runner = new BackupRunner(context.config);
  const { directory } = context.config.backup;
  const answer = (): string => JSON.stringify({ ...listed(directory), ...runner.state() });
  const begin = describedStatus('Makes a backup', Backups, 'Begins one and answers at once; one runs at a time.', [202]);
  app.post(PATH, { schema: begin }, (_request, reply) => {
    runner.begin();
    reply.code(202).header('cache-control', 'no-store').type('application/json; charset=utf-8').send(answer());
  });
  const list = describedStatus(
    'The backups there are',
    Backups,
    'Those in `backup.directory`, the oldest first; and what the last request for one came to.',
  );
  app.get(PATH, { schema: list }, (_request, reply) => {
    reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(answer());
  });
}

function listed(directory: string): object {
  try {
    const { backups, unfinished } = listBackups(directory);
    return {
      backups: backups.map(({ name, manifest, failure }) =>
        manifest === null
          ? { name, failure }
          : {
              name,
              created_at: manifest.createdAt,
              point: manifest.point,
              digest: manifest.digest?.digest ?? null,
              bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
            },
      ),
      unfinished,
    };
  } catch (error) {
    // Before the first one there is no folder.
    if (!isUnspentError(error, 'BACKUP_MISSING')) throw error;
    return { backups: [], unfinished: [] };
  }
}

/** What `backup` and `restore` show of a backup, and of how far they are. */
import type { BackupManifest } from '../store/backup/manifest.ts';
import type { BackupProgress } from '../store/backup/write.ts';
import type { Context } from './context.ts';
import { bytes, count, counted } from './format.ts';
import { onAbort } from './interrupt.ts';

type OnProgress = (progress: BackupProgress) => void;

export async function showBackupProgress<T>(context: Context, command: string, body: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  const line = context.progress();
  onAbort(context.stop, () => line.note('stopping; nothing will be left of it'));
  try {
    return await body((progress) => line.update(() => `${command}: ${progressText(progress)}`));
  } finally {
    line.done();
  }
}

function progressText({ what, done, total }: BackupProgress): string {
  const part = total === 0 ? '' : ` (${Math.floor((100 * done) / total)}%)`;
  if (what === 'files') return `${bytes(done)} of ${bytes(total)}${part}`;
  if (what === 'rows') return `${count(done)} rows`;
  return what === 'verify' ? `checking, ${count(done)} rows` : `digest of ${count(done)} outputs${part}`;
}

export function backupRows({ createdAt, network, point, digest, besides, engine, files }: BackupManifest): [string, string][] {
  const size = files.reduce((sum, file) => sum + file.bytes, 0);
  const place = point === null ? 'the origin' : `height ${count(point.height)}, slot ${count(point.slot)}, block ${point.hash}`;
  const set: [string, string][] =
    digest === null
      ? []
      : [
          ['unspent', counted(digest.utxos, 'output')],
          ['digest', digest.digest],
        ];
  return [
    ['made', createdAt],
    ['network', network],
    ['at', place],
    ...set,
    ['engine', engine],
    ['size', `${counted(files.length, 'file')}, ${bytes(size)}`],
    ...(besides.length === 0 ? [] : [['with it', besides.join(', ')] as [string, string]]),
  ];
}

export function backupJson({ name, createdAt, createdBy, network, schema, engine, point, digest, besides, files }: BackupManifest): object {
  const size = files.reduce((sum, file) => sum + file.bytes, 0);
  return { name, createdAt, createdBy, network, schema, engine, point, ...digest, besides, files: files.length, bytes: size };
}

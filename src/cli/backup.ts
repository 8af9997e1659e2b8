/**
 * `backup`: a copy of a store at one block, made while it is in use or not, into a
 * folder of backups; `--list` and `--verify` look at such a folder.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type BackupList, listBackups } from '../store/backup/list.ts';
import { verifyBackup } from '../store/backup/restore.ts';
import { type BackupReport, writeBackup } from '../store/backup/write.ts';
import { UnspentError } from '../util/errors.ts';
import { backupJson, backupRows, showBackupProgress } from './backup-text.ts';
import { type Context, stoppable } from './context.ts';
import { bytes, counted, duration, table } from './format.ts';

export function registerBackup(program: Command): void {
  program
    .command('backup')
    .argument('<dir>', 'folder of backups; each is a folder in it')
    .description('copy the store at one block, also while it is in use')
    .option('--copy', 'copy the files of the store even where links to them would do')
    .option('--keep <n>', 'delete all but the newest N backups of the folder afterwards')
    .option('--list', 'show the backups of the folder')
    .option('--verify', 'check every byte of a backup')
    .option('--name <name>', 'with --verify: which one (default: the newest)')
    .addHelpText(
      'after',
      `
Files that never change are linked where a link can be made, to the store's own or to those of an earlier backup, so the
next backup costs what is new. On the disk of the store that guards against mistakes, not against that disk: use another
disk, or --copy. With the store come its wallets and the journal of a devnet, if they are in its directory.

Examples:
  $ unspent backup /mnt/backups --data ./preview
  $ unspent backup /mnt/backups --data ./preview --keep 7
  $ unspent backup /mnt/backups --list
  $ unspent backup /mnt/backups --verify
  $ unspent restore /mnt/backups --data ./again`,
    )
    .action(stoppable(backup));
}

async function backup(context: Context, folder: string): Promise<void> {
  const { list, verify, copy, keep, name } = context.options;
  if (list === true && verify === true) throw new UnspentError('USAGE', '--list and --verify are two commands');
  if (name !== undefined && verify !== true) throw new UnspentError('USAGE', '--name goes with --verify');
  if (keep !== undefined && !/^[1-9]\d{0,5}$/.test(keep)) throw new UnspentError('USAGE', `--keep takes a number from 1 on, not '${keep}'`);
  if (list === true) return showList(context, listBackups(folder));
  if (verify === true) return verifyOne(context, folder, name);
  const started = performance.now();
  await context.askStore(async (store, changes) => {
    const to = resolve(context.cwd, folder);
    const report = await showBackupProgress(context, 'backup', (onProgress) =>
      writeBackup({ data: store.data, network: store.network, pin: () => changes.pin() }, to, {
        copy: copy === true,
        keep: keep === undefined ? undefined : Number(keep),
        signal: context.stop,
        onProgress,
      }),
    );
    reportBackup(context, report, (performance.now() - started) / 1000);
  });
}

async function verifyOne(context: Context, folder: string, name: string | undefined): Promise<void> {
  const { output, stop: signal } = context;
  const manifest = await showBackupProgress(context, 'verify', (onProgress) => verifyBackup(folder, { name, signal, onProgress }));
  if (output.json) output.document({ ...backupJson(manifest), good: true });
  else if (!output.quiet) output.pairs([['good', manifest.name], ...backupRows(manifest)]);
}

function reportBackup({ output }: Context, { path, manifest, written, linked, removed }: BackupReport, seconds: number): void {
  if (output.json) {
    output.document({ path, ...backupJson(manifest), written, linked, removed, leftOut: manifest.leftOut, seconds });
    return;
  }
  if (output.quiet) return;
  output.pairs([
    ['written', path],
    ...backupRows(manifest),
    ['copied', `${counted(written.files, 'file')}, ${bytes(written.bytes)}`],
    ['linked', `${counted(linked.files, 'file')}, ${bytes(linked.bytes)}`],
    ...(manifest.leftOut.length === 0 ? [] : [['left out', manifest.leftOut.join(', ')] as const]),
    ...(removed.length === 0 ? [] : [['deleted', removed.join(', ')] as const]),
    ['took', duration(seconds)],
  ]);
}

function showList({ output }: Context, { folder, backups, unfinished }: BackupList): void {
  if (output.json) {
    const listed = backups.map(({ name, manifest, failure }) => (manifest === null ? { name, failure } : backupJson(manifest)));
    output.document({ folder, backups: listed, unfinished });
    return;
  }
  if (backups.length === 0) output.line(`there is no backup in ${folder}`);
  else {
    const rows = backups.map(({ name, manifest, failure }) => {
      if (manifest === null) return [name, failure ?? '', '', ''];
      const size = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
      return [name, manifest.network, `${manifest.point?.height ?? 'origin'}`, bytes(size)];
    });
    output.line(table(['NAME', 'NETWORK', 'HEIGHT', 'SIZE'], rows, [2, 3]));
  }
  if (unfinished.length > 0) output.remark(`not finished: ${unfinished.join(', ')}`);
}

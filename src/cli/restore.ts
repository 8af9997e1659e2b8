/** `restore`: a new store from a backup, when all of it was found to be right. */
import type { Command } from 'commander';
import { restoreBackup } from '../store/backup/restore.ts';
import { backupJson, backupRows, showBackupProgress } from './backup-text.ts';
import { type Context, stoppable } from './context.ts';
import { duration } from './format.ts';

export function registerRestore(program: Command): void {
  program
    .command('restore')
    .argument('<dir>', 'folder of backups')
    .description('make a new store from a backup, after checking all of it')
    .option('--name <name>', 'which one (default: the newest)')
    .addHelpText(
      'after',
      `
Every file must have its hash, the store must open and agree with itself, and its digest must be that of the backup,
before it can be opened by others; what fails leaves nothing behind. \`start\` and \`sync\` go on from its block.

Examples:
  $ unspent restore /mnt/backups --data ./again
  $ unspent restore /mnt/backups --name 20260501T120000Z-2160 --data ./again`,
    )
    .action(stoppable(restore));
}

async function restore(context: Context, folder: string): Promise<void> {
  const { output, options, settings, stop: signal } = context;
  const { config } = settings;
  const started = performance.now();
  const manifest = await showBackupProgress(context, 'restore', (onProgress) =>
    restoreBackup(folder, { name: options.name, config, signal, onProgress }),
  );
  const seconds = (performance.now() - started) / 1000;
  if (output.json) output.document({ ...backupJson(manifest), data: config.data, seconds });
  else if (!output.quiet)
    output.pairs([['restored', `${manifest.name} to ${config.data} in ${duration(seconds)}`], ...backupRows(manifest)]);
}

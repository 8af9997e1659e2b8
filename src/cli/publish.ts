/**
 * `publish`: brings a copy elsewhere to where the store is, and stops; with
 * --follow it stays, waits while another publisher leads, and takes over. While
 * a chain is followed, `start` and `sync` publish by themselves (`publish.to`).
 */
import type { Command } from 'commander';
import type { PublishThread } from '../publish/thread/thread.ts';
import type { PublishReport } from '../store/publishing.ts';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { type Context, longRunning } from './context.ts';
import { bytes, count, counted, duration, pairs } from './format.ts';
import type { CommandOptions } from './options.ts';

interface PublishFlags extends CommandOptions {
  readonly to?: string;
  readonly form?: string;
  readonly follow?: boolean;
}

export function registerPublish(program: Command): void {
  program
    .command('publish')
    .description('publish the state of the store to a database elsewhere, block by block')
    .option(
      '--to <url>',
      'postgres://user@host/database?schema=NAME or cassandra://user@host,host/keyspace (default: the setting publish.to)',
    )
    .option('--form <form>', 'columns: the columns of the store as they are; sql: tables for people (default: the setting publish.form)')
    .option('--follow', 'stay, and publish what comes; where another publisher leads, wait and take over')
    .addHelpText(
      'after',
      `
A copy begins with a snapshot and goes on with changes: run the same command again to go on. One publisher leads a copy at a
time; whoever comes second waits. While a chain is followed, \`start\` and \`sync\` publish by themselves: set publish.to.

Examples:
  $ unspent publish --to postgres://unspent@db.example/chain
  $ unspent publish --to 'postgres://unspent@db.example/chain?schema=preview'
  $ unspent publish --to 'postgres://unspent@db.example/chain?schema=people' --form sql
  $ unspent publish --to 'cassandra://unspent@one.example,two.example/chain?dc=dc1'
  $ unspent start --network preview --source n2n://127.0.0.1:3001 --publish-to postgres://unspent@db.example/chain`,
    )
    .action(longRunning(publish));
}

async function publish(context: Context): Promise<void> {
  const { to, form, follow } = context.options as PublishFlags;
  const settings = context.settings.config.publish;
  const url = to ?? settings.to;
  if (url === '')
    throw new UnspentError(
      'USAGE',
      'nothing says where to publish to: pass --to postgres://user@host/database or cassandra://user@host/keyspace, or set publish.to',
    );
  const wanted = formOf(form ?? settings.form);
  await context.withStore((store) => publishStore(context, store, url, wanted, follow === true));
}

function formOf(text: string): 'columns' | 'sql' {
  if (text === 'columns' || text === 'sql') return text;
  throw new UnspentError('USAGE', `--form is columns or sql, not '${text.slice(0, 40)}'`);
}

async function publishStore(context: Context, store: OpenStore, url: string, form: 'columns' | 'sql', follow: boolean): Promise<void> {
  const { output, stop } = context;
  const [{ openTarget }, { PublishRunner }, { publishedStore }] = await Promise.all([
    import('../publish/open.ts'),
    import('../publish/runner.ts'),
    import('../publish/of-store.ts'),
  ]);
  const target = await openTarget(url, form, publishedStore(store));
  const line = context.progress();
  const started = performance.now();
  const runner = new PublishRunner(publishedStore(store), target, {
    follow,
    onReport: (report) => line.update(() => progressText(report)),
  });
  try {
    await runner.run(stop);
  } finally {
    line.done();
    await target.close();
  }
  const { report } = runner;
  if (output.json) output.document({ ...report, seconds: (performance.now() - started) / 1000 });
  else if (!output.quiet) output.line(pairs(rowsOf(report, (performance.now() - started) / 1000)));
  if (stop.aborted) throw new UnspentError('INTERRUPTED', `stopped; the copy is at height ${report.height ?? 'origin'}`);
}

function progressText({ state, height, lag, rows, target, lastError }: PublishReport): string {
  if (state === 'unreachable' || state === 'waiting') return `${target}: ${state}${lastError === null ? '' : `, ${lastError}`}`;
  return `${state}: height ${height === null ? '-' : count(height)}, ${count(lag)} behind, ${count(rows)} rows`;
}

function rowsOf(
  { target, form, seq, height, blocks, undone, rows, bytes: size, snapshots }: PublishReport,
  seconds: number,
): [string, string][] {
  const what = `${counted(blocks, 'block')}, ${counted(undone, 'block')} undone${snapshots > 0 ? `, ${counted(snapshots, 'snapshot')}` : ''}`;
  return [
    ['copy', `${target} (${form})`],
    ['published', `${what}; ${counted(rows, 'row')}, ${bytes(size)}, in ${duration(seconds)}`],
    ['at', `height ${height === null ? 'origin' : count(height)}, change ${count(seq)}`],
  ];
}

/** Beside a follower, for as long as the body runs, where a setting names a copy. What ends it by itself is said, and the fold goes on. */
export async function withPublishing<T>(context: Context, store: OpenStore, body: () => Promise<T>): Promise<T> {
  const { to, form } = context.settings.config.publish;
  if (to === '') return body();
  const { startPublishing } = await import('../publish/start.ts');
  const thread: PublishThread = await startPublishing(store, to, form);
  thread.ended.catch((error: Error) => context.output.remark(`publishing has stopped: ${error.message}`));
  try {
    return await body();
  } finally {
    await thread.close();
  }
}

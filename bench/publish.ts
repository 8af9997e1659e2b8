/**
 * What publishing into PostgreSQL costs (form `columns`), on a server of its own
 * that writes to the disk as one in production does. Three measurements, on the
 * sample chains:
 *
 *   copy   the blocks of a chain as changes, against a bare COPY of the same rows, in turns
 *   tip    a Conway block of mainnet committed and published before the next comes
 *   sync   a sync with and without a thread that publishes all of it, in turns
 *
 * Of each by the clock and by processor time: on a busy machine only the second
 * says something. Not in it are PostgreSQL's processes in the background, which
 * write what the connections leave them.
 *
 * Options: --only=copy,tip,sync --rounds=3 --blocks=500 (at the tip) --chunks=280 (of preview)
 *
 * `bench cassandra` measures the other database.
 */
import { loadavg } from 'node:os';
import { PostgresServer } from '../test/support/sql/postgres-server.ts';
import { SERVER_SETTINGS } from './postgres.ts';
import { type SampleChain, unpackSamples } from './publish-chains.ts';
import { type CopyFigures, measureCopy, type Writing } from './publish-copy.ts';
import { measureSync, type SyncFigures } from './publish-sync.ts';
import { measureTip, type TipFigures } from './publish-tip.ts';
import { type BenchOptions, best, option, round, say, temporary, textOption } from './support.ts';

/** What is wanted on a machine with nothing else to do. */
const LIMITS = { rowsPerSecond: 60_000, toCopy: 2, tipP99Ms: 25, toSync: 1.15 };

export async function run(options: BenchOptions): Promise<void> {
  const { args } = options;
  const wanted = (textOption(args, 'only') ?? 'copy,tip,sync').split(',');
  const rounds = option(args, 'rounds', 3);
  const work = temporary('publish-samples');
  const load = loadavg()[0];
  const server = await PostgresServer.start(async () => undefined, SERVER_SETTINGS);
  try {
    const chains = unpackSamples(work.path, option(args, 'chunks', 280));
    const results: Record<string, unknown> = {};
    if (wanted.includes('copy')) {
      const sides: object[] = [];
      for (const chain of [chains.preview, chains.conway]) sides.push(await copies(server, chain, rounds, options));
      results['copy'] = sides;
    }
    if (wanted.includes('tip')) results['tip'] = tipResult(await measureTip(server, chains.conway, option(args, 'blocks', 500)), options);
    if (wanted.includes('sync')) results['sync'] = await syncs(server, chains.preview, rounds, options);
    const loads = [load, loadavg()[0]].map((value) => round(value, 1));
    say(options, `\nload average ${loads[0]} at the beginning, ${loads[1]} at the end`);
    if (options.json) console.log(JSON.stringify({ ...results, load: loads, limits: LIMITS }));
  } finally {
    await server.stop();
    work.remove();
  }
}

async function copies(server: PostgresServer, chain: SampleChain, rounds: number, options: BenchOptions): Promise<object> {
  const all: CopyFigures[] = [];
  for (let i = 0; i < rounds; i++) all.push(await measureCopy(server, chain));
  const bestOf = (side: 'publisher' | 'copy') => {
    const writings = all.map((figures) => figures[side]);
    const { rows } = writings[0];
    const processor = ({ clientSeconds, serverSeconds }: Writing): number => clientSeconds + serverSeconds;
    return {
      rows,
      rowsPerSecond: round(rows / best(writings.map(({ seconds }) => seconds)), 0),
      clientMicros: round((1e6 * best(writings.map(({ clientSeconds }) => clientSeconds))) / rows, 2),
      serverMicros: round((1e6 * best(writings.map(({ serverSeconds }) => serverSeconds))) / rows, 2),
      rowsPerProcessorSecond: round(rows / best(writings.map(processor)), 0),
    };
  };
  const [publisher, copy] = [bestOf('publisher'), bestOf('copy')];
  const ratio = round(copy.rowsPerSecond / publisher.rowsPerSecond, 2);
  const processorRatio = round(copy.rowsPerProcessorSecond / publisher.rowsPerProcessorSecond, 2);
  const { blocks, statements, stored } = all[0];
  say(options, `\n${chain.name}: ${blocks} blocks as changes, in ${statements} statements; best of ${rounds}`);
  for (const [name, side] of [['publisher', publisher] as const, ['bare COPY', copy] as const]) {
    const cost = `processor time of a row ${side.clientMicros} us here, ${side.serverMicros} us of the server`;
    say(
      options,
      `  ${name}  ${side.rowsPerSecond} rows/s (${side.rowsPerProcessorSecond} a second of processor time); ${side.rows} rows; ${cost}`,
    );
  }
  const holds = publisher.rowsPerSecond >= LIMITS.rowsPerSecond && ratio <= LIMITS.toCopy;
  say(options, `  COPY to publisher  ${ratio} by the clock, ${processorRatio} by processor time; wanted ${wantedText(holds)}`);
  const [rowBytes, diskBytes] = [stored.rowBytes, stored.diskBytes].map((bytes) => round(bytes / stored.rows, 0));
  say(options, `  ${stored.rows} rows in the end, of ${rowBytes} bytes, which take ${diskBytes} on the disk with the index`);
  return { chain: chain.name, blocks, statements, publisher, copy, ratio, processorRatio, stored };
}

function wantedText(holds: boolean): string {
  return `${LIMITS.rowsPerSecond} rows/s and ${LIMITS.toCopy} by the clock: ${holds ? 'holds' : 'missed'}`;
}

function tipResult(figures: TipFigures, options: BenchOptions): TipFigures {
  const { clock, client, serverMs, rowsPerBlock, statementsPerBlock, walBytesPerBlock, blocks } = figures;
  const text = ({ p50, p99 }: TipFigures['clock']): string => `p50 ${round(p50, 2)} ms, p99 ${round(p99, 2)} ms`;
  const holds = clock.p99 <= LIMITS.tipP99Ms ? 'holds' : 'missed';
  say(
    options,
    `\na block at the tip: ${blocks} Conway blocks of mainnet, ${round(rowsPerBlock, 0)} rows and ${statementsPerBlock} statements each, ${round(walBytesPerBlock, 0)} bytes of log`,
  );
  say(options, `  published   ${text(clock)} (wanted p99 ${LIMITS.tipP99Ms} ms: ${holds})`);
  say(options, `  processor   ${text(client)} here; ${round(serverMs, 2)} ms of the server`);
  return figures;
}

async function syncs(server: PostgresServer, chain: SampleChain, rounds: number, options: BenchOptions): Promise<object> {
  const [alone, publishing]: SyncFigures[][] = [[], []];
  for (let i = 0; i < rounds; i++) {
    alone.push(await measureSync(chain, null));
    publishing.push(await measureSync(chain, server));
  }
  const ratio = (of: (figures: SyncFigures) => number): number => round(best(publishing.map(of)) / best(alone.map(of)), 2);
  const ratios = {
    fold: ratio(({ foldSeconds }) => foldSeconds),
    process: ratio(({ processSeconds }) => processSeconds),
    clock: ratio(({ seconds }) => seconds),
  };
  const line = (name: string, all: readonly SyncFigures[]): string => {
    const at = (of: (figures: SyncFigures) => number): number => round(best(all.map(of)), 2);
    const processor = `processor time ${at(({ foldSeconds }) => foldSeconds)} s of the thread that folds, ${at(({ processSeconds }) => processSeconds)} s of the process`;
    return `  ${name}  ${processor}; ${at(({ seconds }) => seconds)} s by the clock`;
  };
  const [{ behind, rows, publishedSeconds, processSeconds }] = publishing;
  say(options, `\nsync of ${chain.name}, best of ${rounds}`);
  say(options, line('alone     ', alone));
  say(options, line('publishing', publishing));
  const holds = ratios.fold <= LIMITS.toSync ? 'holds' : 'missed';
  say(
    options,
    `  publishing to alone  ${ratios.fold} of the thread (wanted ${LIMITS.toSync}: ${holds}), ${ratios.process} of the process, ${ratios.clock} by the clock`,
  );
  say(
    options,
    `  when the sync ended the copy was ${behind} blocks behind; the rest took ${round(publishedSeconds - processSeconds, 2)} s more, ${rows} rows in all`,
  );
  return { alone, publishing, ratios };
}

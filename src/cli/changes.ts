/**
 * `changes`: a file with the rows of every column, or with what blocks did to
 * them behind a position: what `GET /api/v1/changes` tells, without its limits.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { PUBLISH_PLAN_BYTES_MAX } from '../util/limits.ts';
import { type Context, stoppable } from './context.ts';
import { bytes } from './format.ts';
import type { CommandOptions } from './options.ts';
import { writePieces } from './write-pieces.ts';

interface ChangesFlags extends CommandOptions {
  readonly after?: string;
}

export function registerChangesCommand(program: Command): void {
  program
    .command('changes')
    .argument('<file>', 'a file that is not there yet')
    .description('write the rows of every column, or what blocks did to them since a position, a JSON document a line')
    .option('--after <position>', 'the position of a line that was taken in, the hash of a block, or origin; without it the whole state')
    .addHelpText(
      'after',
      `
The last line is of kind \`end\`, and its position is where to go on: with --after, or over HTTP with /api/v1/changes?after=.

Examples:
  $ unspent changes state.jsonl --data ./preview
  $ unspent changes more.jsonl --after -.AAAAHlNU... --data ./preview`,
    )
    .action(stoppable(changes));
}

async function changes(context: Context, file: string): Promise<void> {
  const { after } = context.options as ChangesFlags;
  const { output } = context;
  const path = resolve(context.cwd, file);
  if (existsSync(path)) throw new UnspentError('USAGE', `${path} is there already`);
  const written = await context.askStore((store) => writeChanges(store, path, after, context.stop));
  if (output.json) output.document({ file: path, ...written });
  else if (!output.quiet)
    output.pairs([
      ['written', `${path}, ${bytes(written.bytes)}`],
      ['go on with', `--after ${written.position}`],
    ]);
}

interface WrittenChanges {
  readonly bytes: number;
  readonly position: string;
}

async function writeChanges(store: OpenStore, path: string, after: string | undefined, signal: AbortSignal): Promise<WrittenChanges> {
  const [{ publishedStore }, { changeLines, changeSource, planChanges, stateLines }, { StoreMoment }] = await Promise.all([
    import('../publish/of-store.ts'),
    import('../publish/change-lines.ts'),
    import('../publish/published-store.ts'),
  ]);
  const published = publishedStore(store);
  const { facts } = published;
  const moment = new StoreMoment(published);
  try {
    const columns = store.engine.columns.map(({ name }) => name);
    const source = changeSource(moment.query, { ...published, columns, selfContained: facts.selfContained, windows: facts.windows });
    const plan = after === undefined ? null : planChanges(source, after, PUBLISH_PLAN_BYTES_MAX);
    const lines = plan === null ? stateLines(source) : changeLines(source, plan.start, [...plan.blocks].reverse());
    let size = 0;
    let last = '';
    const texts = function* (): Generator<string, void, void> {
      for (const line of lines) {
        last = line;
        size += line.length + 1;
        yield `${line}\n`;
      }
    };
    await writePieces(path, texts(), signal);
    return { bytes: size, position: (JSON.parse(last) as { position: string }).position };
  } finally {
    moment.release();
  }
}

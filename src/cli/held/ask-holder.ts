/**
 * A command whose store another process has open: it is run by that process, and
 * this one shows what it writes.
 */
import { SETTING_KEYS, settingValue } from '../../config/schema.ts';
import { databaseDirectory } from '../../engine/directory.ts';
import { readHolderMark } from '../../engine/open.ts';
import { findHolder, type StoreHolder } from '../../store/control/ask.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import type { Context } from '../context.ts';

/** The command was run by the process that has the store open: there is nothing left to do but to end as it did. */
export class AnsweredByHolder extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('answered by the process that has the store open');
    this.exitCode = exitCode;
  }
}

/** Returns where nobody listens at the store. Throws `AnsweredByHolder`, and what keeps the holder from running the command. */
export async function askHolder(args: readonly string[], { settings, cwd, stop, terminal }: Context): Promise<void> {
  const { config } = settings;
  const holder = await findHolder(config.data);
  if (holder === null) return;
  const given = SETTING_KEYS.filter((key) => config.given.includes(key));
  const request = {
    args,
    settings: { ...Object.fromEntries(given.map((key) => [key, settingValue(config, key)])), data: config.data },
    cwd,
    columns: terminal.region?.columns ?? null,
    resultColumns: terminal.stdout.isTTY === true ? (terminal.stdout.columns ?? null) : null,
    colours: terminal.style.stdout.hasColours,
  };
  const { stdout, stderr } = terminal;
  const streams = { out: (text: string) => stdout.write(text), err: (text: string) => stderr.write(text) };
  throw new AnsweredByHolder(await holder.run(request, streams, stop));
}

/** Where a store is locked, whoever has it open is named, and where it can be asked. */
export async function withHolder(error: unknown, data: string | undefined): Promise<unknown> {
  if (!isUnspentError(error, 'STORE_LOCKED') || data === undefined || error.meta['process'] !== undefined) return error;
  const holder = await findHolder(data).catch(() => null);
  if (holder === null) return withMark(error, data);
  const named = namedLock(holder, error);
  holder.close();
  return named;
}

function namedLock(holder: StoreHolder, cause: UnspentError): UnspentError {
  const { process, since, url } = holder.greeting;
  return new UnspentError(
    'STORE_LOCKED',
    `${holder.description}; this command needs it for itself`,
    { ...cause.meta, process, since, url },
    cause,
  );
}

/** Of a process that does not listen all that is known is in the mark it made. */
function withMark(error: UnspentError, data: string): UnspentError {
  const mark = readHolderMark(databaseDirectory(data));
  if (mark === null || mark.process === null) return error;
  return new UnspentError(
    'STORE_LOCKED',
    `process ${mark.process} (since ${mark.since}) has the store open, and cannot be asked`,
    { ...error.meta, process: mark.process },
    error,
  );
}

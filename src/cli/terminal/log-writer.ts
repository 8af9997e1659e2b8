/**
 * Where the log of a command goes: to stderr, as JSON or as text. On a terminal
 * an entry has the time of the clock on the wall, and colours for what went
 * wrong; elsewhere the whole time, level and room.
 */
import type { Config } from '../../config/schema.ts';
import { Log, type LogEntry, type LogLevel } from '../../util/log.ts';
import { jsonLine, oneLine, textLine } from '../../util/log-line.ts';
import { foldLines } from './fold-lines.ts';
import type { Style } from './style.ts';
import type { Terminal } from './terminal.ts';

/** The log of a command, which knows whether programs read it. */
export class CommandLog extends Log {
  readonly isJson: boolean;

  constructor(level: LogLevel, isJson: boolean, write: (line: string) => void, line: (entry: LogEntry) => string) {
    super({ level }, (entry) => write(`${line(entry)}\n`));
    this.isJson = isJson;
  }
}

export function createLog({ level, format }: Config['log'], quiet: boolean, { stderr, style }: Terminal): CommandLog {
  const write = (line: string): void => void stderr.write(line);
  const least: LogLevel = quiet && level !== 'error' ? 'warn' : level;
  if (format === 'json') return new CommandLog(least, true, write, jsonLine);
  if (stderr.isTTY !== true) return new CommandLog(least, false, write, textLine);
  return new CommandLog(least, false, write, (entry) => foldLines(wallLine(entry, style.stderr), stderr.columns || 0));
}

/** `12:00:00  connected to ...`: two blanks, so that what is folded stands under the text. */
function wallLine({ time, level, text }: LogEntry, style: Style): string {
  const clock = style.dim(time.toTimeString().slice(0, 8));
  const paint = { debug: style.dim, info: (plain: string) => plain, warn: style.yellow, error: style.red }[level];
  return `${clock}  ${paint(oneLine(text))}`;
}

/** The log of a server that was given none: on stderr, as the settings say. */
import type { Config } from '../config/schema.ts';
import { Log } from '../util/log.ts';
import { jsonLine, textLine } from '../util/log-line.ts';

export function stderrLog({ log: { level, format } }: Config): Log {
  const line = format === 'json' ? jsonLine : textLine;
  return new Log({ level }, (entry) => process.stderr.write(`${line(entry)}\n`));
}

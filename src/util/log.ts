/**
 * The one log of a process: what happens while it runs, an entry for each event
 * that is worth knowing. Entries below the level are left out, and so are
 * repeats: if more entries of one kind come in a while than anybody reads, they
 * are counted, and the count is an entry of its own. Where a line goes is the
 * caller's; what it looks like is in `log-line.ts`.
 */
import { LOG_ENTRIES_MAX, LOG_REPEAT_MS, LOG_TROUBLES_MAX } from './limits.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Particulars for programs: the text has those that people need. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null>>;

export interface LogEntry {
  readonly time: Date;
  readonly level: LogLevel;
  /** Which room of the program says it: `sources`, `state`, `server`, ... */
  readonly room: string;
  /** What kind of event it is, in a word: entries of one kind repeat each other. */
  readonly event: string;
  readonly text: string;
  readonly facts: LogFacts;
}

/** For parts that have a line to say now and then. Without a level: it is an error. Without an event: a failure, or a remark. */
export type LogLine = (text: string, level?: LogLevel, event?: string) => void;

export interface LogOptions {
  /** Entries below it are left out. */
  readonly level: LogLevel;
  /** Unix milliseconds; tests pass their own. */
  readonly now?: () => number;
}

/** Entries of one kind since the first of them. */
interface Repeats {
  readonly since: number;
  count: number;
  last: LogEntry | null;
  timer: NodeJS.Timeout | null;
}

export class Log {
  private readonly least: number;
  private readonly write: (entry: LogEntry) => void;
  private readonly now: () => number;
  private readonly repeats = new Map<string, Repeats>();

  constructor({ level, now = Date.now }: LogOptions, write: (entry: LogEntry) => void) {
    this.least = LOG_LEVELS.indexOf(level);
    this.write = write;
    this.now = now;
  }

  debug(room: string, event: string, text: string, facts: LogFacts = {}): void {
    this.add('debug', room, event, text, facts);
  }

  info(room: string, event: string, text: string, facts: LogFacts = {}): void {
    this.add('info', room, event, text, facts);
  }

  warn(room: string, event: string, text: string, facts: LogFacts = {}): void {
    this.add('warn', room, event, text, facts);
  }

  error(room: string, event: string, text: string, facts: LogFacts = {}): void {
    this.add('error', room, event, text, facts);
  }

  /** For a part that says lines. */
  lines(room: string): LogLine {
    return (text, level = 'error', event = level === 'error' ? 'failed' : 'remark') => this.add(level, room, event, text, {});
  }

  /** Says what was only counted so far. */
  flush(): void {
    for (const kind of this.repeats.keys()) this.end(kind);
  }

  private add(level: LogLevel, room: string, event: string, text: string, facts: LogFacts): void {
    if (LOG_LEVELS.indexOf(level) < this.least) return;
    const entry: LogEntry = { time: new Date(this.now()), level, room, event, text, facts };
    const kind = `${level} ${room} ${event}`;
    const before = this.repeats.get(kind);
    if (before !== undefined && this.now() - before.since >= LOG_REPEAT_MS) this.end(kind);
    const repeats = this.repeats.get(kind) ?? { since: this.now(), count: 0, last: null, timer: null };
    this.repeats.set(kind, repeats);
    if (++repeats.count <= entriesMax(level)) {
      this.write(entry);
      return;
    }
    repeats.last = entry;
    // In case no other comes that would say so.
    repeats.timer ??= setTimeout(() => this.end(kind), Math.max(0, repeats.since + LOG_REPEAT_MS - this.now())).unref();
  }

  private end(kind: string): void {
    const repeats = this.repeats.get(kind);
    if (repeats === undefined) return;
    this.repeats.delete(kind);
    const { last, since, count, timer } = repeats;
    if (timer !== null) clearTimeout(timer);
    if (last === null) return;
    const more = count - entriesMax(last.level);
    const seconds = Math.max(1, Math.round((this.now() - since) / 1000));
    const text = `${more} more like this in ${seconds} s, the last: ${last.text}`;
    this.write({ ...last, time: new Date(this.now()), text, facts: { ...last.facts, repeats: more } });
  }
}

function entriesMax(level: LogLevel): number {
  return level === 'warn' || level === 'error' ? LOG_TROUBLES_MAX : LOG_ENTRIES_MAX;
}

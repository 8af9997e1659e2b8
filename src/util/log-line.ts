/**
 * An entry of the log as one line: text for people, JSON for programs. What a
 * peer or a client has sent may be in it, so nothing in a line can end it, or
 * speak to the terminal that shows it; and no password or token stays in it.
 */
import type { LogEntry } from './log.ts';
import { withoutSecret } from './secret.ts';

export const LOG_FORMATS = ['text', 'json'] as const;

/** Of the longest level. */
const LEVEL_WIDTH = 5;
/** Of the longest room that says something often. */
const ROOM_WIDTH = 7;

/** `2026-01-31T12:00:00.000Z info  sources connected to ...`, without the end of the line. */
export function textLine({ time, level, room, text }: LogEntry): string {
  return `${time.toISOString()} ${level.padEnd(LEVEL_WIDTH)} ${room.padEnd(ROOM_WIDTH)} ${oneLine(text)}`;
}

/** Time, level, room, event and text come first and under these names, whatever the particulars are called. */
export function jsonLine({ time, level, room, event, text, facts }: LogEntry): string {
  const first = { time: time.toISOString(), level, room, event, text: oneLine(text) };
  const clean = Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : value] as const);
  return JSON.stringify({ ...first, ...Object.fromEntries(clean.filter(([name]) => !Object.hasOwn(first, name))) });
}

/** The lines of a stack trace stand beside each other. */
export function oneLine(text: string): string {
  return (
    withoutSecret(text)
      .trim()
      .replaceAll(/\s*[\r\n]+\s*/g, ' | ')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a line.
      .replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
  );
}

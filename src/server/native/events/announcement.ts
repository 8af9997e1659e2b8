/**
 * One event, as text for the wire. What it takes to decide who gets it is at
 * hand; the text is made once, when the first reader wants it, and is the same
 * for all of them.
 */
import type { EventType, SubscribedKeys } from './subscription.ts';

export type EventName =
  | 'begin'
  | 'block'
  | 'undo'
  | 'rollback'
  | 'created'
  | 'spent'
  | 'unspent'
  | 'uncreated'
  | 'tip'
  | 'expired'
  | 'failure';

export class Announcement {
  readonly type: EventType;
  /** Of an output: what filters look at. */
  readonly output: SubscribedKeys | null;
  private readonly write: () => string;
  private written: string | null = null;

  constructor(type: EventType, output: SubscribedKeys | null, write: () => string) {
    this.type = type;
    this.output = output;
    this.write = write;
  }

  get text(): string {
    this.written ??= this.write();
    return this.written;
  }
}

/** An event of the stream; without an id the reader's place stays what it was. */
export function frame(name: EventName, id: string | null, data: object): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Nothing happened, and the reader is there now: it moves on in a quiet stream too. Readers are not told of it. */
export function heartbeat(id: string | null): string {
  return id === null ? ': heartbeat\n\n' : `: heartbeat\nid: ${id}\n\n`;
}

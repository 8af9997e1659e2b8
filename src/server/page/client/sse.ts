/**
 * Server-sent events from a text that comes in pieces (WHATWG HTML, 9.2.6).
 * The browser's own reader cannot send a token, so the page has this one. Pure.
 */

export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

export class SseParser {
  /** Where a reader of everything so far is; a heartbeat may move it too. */
  lastId = '';
  private rest = '';
  private type = '';
  private id = '';
  private data: string[] = [];

  /** The events this piece completes. */
  push(text: string): StreamEvent[] {
    // A line may end in the next piece, and so may the two characters of one end of line.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.take(line));
  }

  private take(line: string): StreamEvent[] {
    if (line === '') return this.dispatch();
    const [, field, value] = /^([^:]*):? ?([\s\S]*)$/.exec(line)!;
    if (field === 'event') this.type = value;
    else if (field === 'data') this.data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.id = value;
    return [];
  }

  private dispatch(): StreamEvent[] {
    const { type, data } = this;
    this.lastId = this.id;
    this.type = '';
    this.data = [];
    return data.length === 0 ? [] : [{ type: type === '' ? 'message' : type, data: data.join('\n') }];
  }
}

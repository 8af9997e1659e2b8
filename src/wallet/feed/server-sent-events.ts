/**
 * Server-sent events from the bytes of an answer, as WHATWG's HTML standard has
 * them: lines of fields, and an empty line behind each event.
 */
import { UnspentError } from '../../util/errors.ts';
import { EVENT_CHARS_MAX } from '../../util/limits.ts';

export interface ServerSentEvent {
  readonly name: string;
  /** Empty: it has none. */
  readonly id: string;
  readonly data: string;
}

/** One that has no data is a sign of life, and is given with an empty name. Throws PROTOCOL when an event is too long. */
export async function* readServerSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let fields = new Map<string, string>();
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    checkLength(rest);
    for (const line of lines.map((text) => text.replace(/\r$/, ''))) {
      if (line !== '') addField(fields, line);
      else {
        yield eventOf(fields);
        fields = new Map();
      }
    }
  }
}

function addField(fields: Map<string, string>, line: string): void {
  const colon = line.indexOf(':');
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  const before = fields.get(name);
  const joined = name === 'data' && before !== undefined ? `${before}\n${value}` : value;
  checkLength(joined);
  fields.set(name, joined);
}

function checkLength({ length }: string): void {
  if (length > EVENT_CHARS_MAX) throw new UnspentError('PROTOCOL', `an event of more than ${EVENT_CHARS_MAX} characters`);
}

function eventOf(fields: ReadonlyMap<string, string>): ServerSentEvent {
  const data = fields.get('data');
  return { name: data === undefined ? '' : (fields.get('event') ?? 'message'), id: fields.get('id') ?? '', data: data ?? '' };
}

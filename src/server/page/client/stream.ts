/**
 * The live line to the server: reads events for as long as the page is open,
 * notices when the line is dead, comes back by itself and goes on from the last
 * event it saw.
 */
import { open, Problem, problem } from './api.ts';
import { SseParser, type StreamEvent } from './sse.ts';

/** Two heartbeats of the server and a half: then nobody is there. */
const SILENCE_MS = 40_000;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 8000;

export interface StreamListener {
  onEvent(event: StreamEvent): void;
  onOpen(): void;
  /** Called once for each attempt that failed or broke. */
  onLost(why: Problem, retryMs: number): void;
}

export class LiveStream {
  private readonly types: string;
  private readonly listener: StreamListener;
  private lastId = '';
  private retryMs = RETRY_FIRST_MS;
  private attempt = new AbortController();
  private timer = 0;
  private wanted = false;

  constructor(types: readonly string[], listener: StreamListener) {
    this.types = types.join();
    this.listener = listener;
  }

  start(): void {
    this.wanted = true;
    clearTimeout(this.timer);
    this.attempt = new AbortController();
    void this.run(this.attempt);
  }

  stop(): void {
    this.wanted = false;
    clearTimeout(this.timer);
    this.attempt.abort();
  }

  private async run(attempt: AbortController): Promise<void> {
    let why: Problem;
    try {
      await this.read(attempt);
      why = new Problem(0, 'Connection lost', 'The server closed the stream.');
    } catch (error) {
      why = problem(error);
      // What we last saw may be gone by now; then begin with what is.
      if (why.status >= 400 && why.status < 500) this.lastId = '';
    }
    if (!this.wanted || attempt !== this.attempt) return;
    this.listener.onLost(why, this.retryMs);
    this.timer = setTimeout(() => this.start(), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, RETRY_MOST_MS);
  }

  private async read(attempt: AbortController): Promise<void> {
    const headers = { accept: 'text/event-stream', ...(this.lastId === '' ? {} : { 'last-event-id': this.lastId }) };
    let silence = setTimeout(() => attempt.abort(), SILENCE_MS);
    try {
      const response = await open('/events', { types: this.types }, { signal: attempt.signal, headers });
      this.retryMs = RETRY_FIRST_MS;
      this.listener.onOpen();
      const parser = new SseParser();
      for await (const events of eventsOf(response, parser)) {
        clearTimeout(silence);
        silence = setTimeout(() => attempt.abort(), SILENCE_MS);
        if (parser.lastId !== '') this.lastId = parser.lastId;
        for (const event of events) this.take(event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  private take(event: StreamEvent): void {
    // The blocks we knew are no more: begin with what is there now.
    if (event.type === 'expired') this.lastId = '';
    this.listener.onEvent(event);
  }
}

/** The events of each piece that comes; none of a heartbeat. */
export async function* eventsOf(response: Response, parser = new SseParser()): AsyncGenerator<StreamEvent[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield parser.push(part.value);
}

/**
 * The view that `start` and `sync` keep at the end of a terminal: the panel, and
 * a line to type commands into. What is logged and answered scrolls above it.
 */
import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { LiveMeter } from '../../store/live/meter.ts';
import type { LiveSample } from '../../store/live/sample.ts';
import type { OpenStore } from '../../store/store.ts';
import { WATCH_FRAME_MS } from '../../util/limits.ts';
import type { Context } from '../context.ts';
import { readKeys } from './keys.ts';
import { panelLines } from './panel.ts';
import { Prompt } from './prompt.ts';
import { Speeds } from './speeds.ts';

/** Below it there is room for the log or for the view, not for both. */
const ROWS_MIN = 16;

export interface LiveView {
  /** Lines that were typed. Null: standard input is read as it is. */
  readonly input: NodeJS.ReadableStream | null;
  close(): void;
}

/** Null: stderr is no terminal that can be drawn on, or nobody wants to see it. */
export function showLiveView({ terminal, output }: Context, store: OpenStore, names: readonly string[] | null): LiveView | null {
  const { region } = terminal;
  if (region === null || output.quiet || region.rows < ROWS_MIN) return null;
  const meter = new LiveMeter(store, { holder: 'this', since: new Date().toISOString() });
  const speeds = new Speeds();
  const style = terminal.style.stderr;
  const lines = new PassThrough();
  const input = process.stdin as ReadStream;
  const isTyped = names !== null && input.isTTY === true;
  const draw = (): void => {
    const { state, ...rest } = speeds.take(meter.sample());
    // Drawn before the source is asked: it will be.
    const sample: LiveSample = { ...rest, state: state === 'idle' ? 'connecting' : state };
    const { columns, rows } = region;
    const panel = panelLines(sample, { columns, rows, style, now: Date.now(), speeds: speeds.values, isShort: true });
    region.draw(isTyped ? [...panel, `${style.bold('>')} ${prompt.text}`] : panel, isTyped);
  };
  const prompt = new Prompt(names ?? [], (line) => {
    terminal.stderr.write(`${style.dim(`> ${line}`)}\n`);
    lines.write(`${line}\n`);
  });
  const stopKeys = isTyped
    ? readKeys(
        input,
        (key) => {
          prompt.press(key);
          draw();
        },
        { before: () => region.clear(), after: draw },
      )
    : () => {};
  const timer = setInterval(draw, WATCH_FRAME_MS).unref();
  process.stderr.on('resize', draw);
  draw();
  return {
    input: isTyped ? lines : null,
    close() {
      clearInterval(timer);
      process.stderr.off('resize', draw);
      stopKeys();
      meter.close();
      region.clear();
    },
  };
}

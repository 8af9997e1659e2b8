/**
 * `status --watch`: what a store does, live. Whoever has it open sends samples
 * (store/control/); while nobody has, it is shown as it lies there, and the view
 * goes on by itself when somebody opens it. A screen on a terminal, lines or
 * JSON documents elsewhere.
 */
import type { ReadStream } from 'node:tty';
import { findHolder } from '../../store/control/ask.ts';
import { LiveMeter } from '../../store/live/meter.ts';
import type { LiveSample } from '../../store/live/sample.ts';
import { isUnspentError } from '../../util/errors.ts';
import { CONTROL_LOOKS_MAX, WATCH_FRAME_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import type { Context } from '../context.ts';
import { bytes, count, rate } from '../format.ts';
import { withHolder } from '../held/ask-holder.ts';
import { onAbort } from '../interrupt.ts';
import { readKeys } from './keys.ts';
import { panelLines } from './panel.ts';
import { Screen } from './screen.ts';
import { Speeds } from './speeds.ts';

interface View {
  /** Milliseconds between two samples. */
  readonly everyMs: number;
  show(sample: LiveSample): void;
  close(): void;
}

/** Until q is pressed or a signal comes: to leave is not to fail. */
export async function watchStatus(context: Context): Promise<void> {
  const leave = new AbortController();
  onAbort(context.stop, () => leave.abort());
  const { stdout } = context.terminal;
  const isScreen = stdout.isTTY === true && context.terminal.region !== null && !context.output.json;
  // The first look comes before the screen is taken: what is wrong is said where it can be read.
  const first = await atRest(context);
  const view = isScreen ? screenView(context, () => leave.abort()) : lineView(context);
  try {
    if (first !== null) view.show(first);
    await watch(context, view, leave.signal, first !== null);
  } finally {
    view.close();
  }
}

async function watch(context: Context, view: View, signal: AbortSignal, isShown: boolean): Promise<void> {
  const { data } = context.settings.config;
  let isAtRest = isShown;
  while (!signal.aborted) {
    const holder = await findHolder(data);
    if (holder !== null) {
      await holder.watch(view.everyMs, (sample) => view.show(sample), signal);
      isAtRest = false;
    } else if (!isAtRest) {
      const sample = await atRest(context);
      if (sample !== null) {
        view.show(sample);
        isAtRest = true;
      }
    } else await pause(WATCH_FRAME_MS, { signal });
  }
}

/** As the store lies there; null: somebody has it open. Throws what keeps it from being opened. */
async function atRest(context: Context): Promise<LiveSample | null> {
  const { data } = context.settings.config;
  for (let looks = 1; ; looks++) {
    const holder = await findHolder(data);
    holder?.close();
    if (holder !== null) return null;
    try {
      return await context.withStore(
        (store) => {
          const meter = new LiveMeter(store, null);
          const sample = meter.sample();
          meter.close();
          return sample;
        },
        { control: false },
      );
    } catch (error) {
      // Somebody is just opening or closing it.
      if (!isUnspentError(error, 'STORE_LOCKED') || looks > CONTROL_LOOKS_MAX) throw await withHolder(error, data);
      await pause(WATCH_FRAME_MS / 2, {});
    }
  }
}

function screenView({ terminal }: Context, leave: () => void): View {
  const screen = new Screen(terminal.stdout);
  const style = terminal.style.stdout;
  const speeds = new Speeds();
  const input = process.stdin as ReadStream;
  let last: LiveSample | null = null;
  const draw = (): void => {
    if (last === null) return;
    const { columns, rows } = screen;
    const lines = panelLines(last, { columns, rows: rows - 2, style, now: Date.now(), speeds: speeds.values, isShort: false });
    const hint = style.dim(input.isTTY === true ? ' q leaves' : ' Ctrl-C leaves');
    const shown = lines.slice(0, rows - 1);
    screen.draw([...shown, ...Array.from({ length: Math.max(0, rows - 1 - shown.length) }, () => ''), hint]);
  };
  const press = (key: object): void => {
    if ('text' in key ? key.text === 'q' || key.text === 'Q' : 'name' in key && (key.name === 'escape' || key.name === 'end')) leave();
  };
  const stopKeys = input.isTTY === true ? readKeys(input, press, { before: () => screen.leave(), after: draw }) : () => {};
  // Ages go on between samples.
  const timer = setInterval(draw, WATCH_FRAME_MS).unref();
  process.stdout.on('resize', draw);
  return {
    everyMs: WATCH_FRAME_MS,
    show(sample) {
      last = speeds.take(sample);
      draw();
    },
    close() {
      clearInterval(timer);
      process.stdout.off('resize', draw);
      stopKeys();
      screen.leave();
    },
  };
}

function lineView({ output, settings }: Context): View {
  return {
    everyMs: 1000 * settings.config.status.refreshSeconds,
    show(sample) {
      output.raw(`${output.json ? JSON.stringify(sample) : plainLine(sample)}\n`);
    },
    close() {},
  };
}

function plainLine(sample: LiveSample): string {
  const { time, network, state, tip, lagBlocks, blocksPerSecond, utxos, process: holder, rollbacks, publishing } = sample;
  const parts = [
    `${network} ${state}`,
    tip === null ? 'no block yet' : `height ${count(tip.height)}`,
    ...(lagBlocks === null ? [] : [lagBlocks === 0 ? 'at the tip' : `${count(lagBlocks)} behind`]),
    `${rate(blocksPerSecond)} blocks/s`,
    ...(utxos === null ? [] : [`${count(utxos)} unspent`]),
    `${count(rollbacks)} rollbacks`,
    ...(publishing === null ? [] : [`copy ${publishing.state}, ${count(publishing.lag)} behind`]),
    ...(holder === null ? [] : [bytes(holder.memoryBytes), holder.url ?? 'not served']),
  ];
  return `${time} ${parts.join(', ')}`;
}

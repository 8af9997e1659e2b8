/**
 * One sample as lines of a terminal: who, the newest blocks as a chart, where
 * the store is and how far behind, and what it holds. `status --watch` fills a
 * screen with it, `start` and `sync` keep a short form of it at the end of theirs.
 */
import type { LiveSample } from '../../store/live/sample.ts';
import { bytes, count, counted, duration, rate } from '../format.ts';
import { publishingText } from '../publishing-text.ts';
import { fit, type Style, widthOf } from '../terminal/style.ts';
import { bar, chart } from './chart.ts';

export interface PanelOptions {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  /** Unix milliseconds. */
  readonly now: number;
  /** Blocks in the time of each earlier sample, newest last. */
  readonly speeds: readonly number[];
  /** Fewer lines, for a view that others are written above of. */
  readonly isShort: boolean;
}

type Row = readonly [name: string, value: string];

const NAME_COLUMNS = 11;
const BAR_COLUMNS_MAX = 40;
const CHART_ROWS_MAX = 8;

export function panelLines(sample: LiveSample, options: PanelOptions): string[] {
  const { columns, style, isShort } = options;
  const rows = isShort ? shortRows(sample, options) : longRows(sample, options);
  const pairs = rows.map(([name, value]) => ` ${style.dim(name.padEnd(NAME_COLUMNS - 2))} ${value}`);
  const head = headLine(sample, options);
  const rule = style.dim((style.hasUnicode ? '─' : '-').repeat(Math.max(0, columns - 1)));
  const free = options.rows - pairs.length - (isShort ? 14 : 7);
  const chartRows = Math.max(1, Math.min(isShort ? 2 : CHART_ROWS_MAX, free));
  const drawn = chartLines(sample, chartRows, options);
  return (isShort ? [rule, head, ...drawn, ...pairs] : [head, rule, '', ...drawn, '', ...pairs]).map((line) => fit(line, columns - 1));
}

function headLine({ network, data, state, time, peer }: LiveSample, { columns, style }: PanelOptions): string {
  const dot = style.hasUnicode ? '●' : '*';
  const isWell = state === 'following' || state === 'idle';
  const paint = isWell ? style.green : state === 'stopped' ? style.red : style.yellow;
  const word = state === 'waiting' ? (peer?.connections === 0 ? 'never connected' : 'connection lost') : state;
  const left = ` ${style.bold(network)}  ${style.dim(data)}`;
  const right = `${paint(`${dot} ${word}`)}  ${style.dim(time.slice(11, 19))}`;
  const gap = columns - 2 - widthOf(left) - widthOf(right);
  return gap >= 1 ? `${left}${' '.repeat(gap)}${right}` : ` ${style.bold(network)}  ${right}`;
}

/** While far behind, how fast it goes; at the tip, what is in the blocks. */
function chartLines(sample: LiveSample, rows: number, { columns, style, speeds }: PanelOptions): string[] {
  const { recent } = sample;
  if (recent.length === 0) return [];
  const isBehind = (sample.lagBlocks ?? 0) > recent.length && speeds.length > 1;
  const room = Math.max(0, columns - 3);
  const values = isBehind ? speeds : recent.map(({ txs }) => txs);
  const shown = values.slice(-room);
  const what = isBehind ? 'blocks a second' : `transactions in each of the last ${counted(shown.length, 'block')}`;
  const lines = chart(values, room, rows, style).map((line) => ` ${style.cyan(line)}`);
  return [...lines, ` ${style.dim(`${what}, at most ${count(Math.round(Math.max(0, ...shown)))}`)}`];
}

function longRows(sample: LiveSample, options: PanelOptions): Row[] {
  const { style } = options;
  const { process: holder } = sample;
  return [
    ['tip', tipText(sample)],
    ...(sample.tip === null || options.columns < 60 ? [] : [['block', style.dim(sample.tip.hash)] as Row]),
    ...lagRows(sample, options),
    ['speed', speedText(sample)],
    ['unspent', unspentText(sample)],
    ['horizon', horizonText(sample)],
    ['rollbacks', rollbackText(sample, options)],
    ...fillRows(sample, options),
    ...copyRows(sample),
    ...nodeRows(sample, options),
    ['memory', `${holder === null ? '-' : bytes(holder.memoryBytes)}, ${bytes(sample.diskBytes)} on disk`],
    ...(holder === null
      ? [['process', 'nobody has the store open; `unspent start` follows its chain'] as Row]
      : ([
          ['process', `${holder.id} (${holder.holder}), for ${since(holder.since, options.now)}`],
          ['page', holder.url === null ? 'not served' : style.cyan(holder.url)],
        ] as Row[])),
  ];
}

function shortRows(sample: LiveSample, options: PanelOptions): Row[] {
  const { process: holder } = sample;
  const memory = holder === null ? '' : `${bytes(holder.memoryBytes)} of memory, `;
  return [
    ['tip', `${tipText(sample)}, ${speedText(sample)}`],
    ...lagRows(sample, options),
    ['unspent', unspentText(sample)],
    ['rollbacks', `${rollbackText(sample, options)}; horizon ${horizonText(sample)}`],
    ...fillRows(sample, options),
    ...copyRows(sample),
    ...(sample.state === 'following' ? [] : nodeRows(sample, options)),
    ['uses', `${memory}${bytes(sample.diskBytes)} on disk${holder?.url == null ? '' : `; page ${options.style.cyan(holder.url)}`}`],
  ];
}

function copyRows({ publishing }: LiveSample): Row[] {
  return publishing === null ? [] : [['copy', publishingText(publishing)]];
}

function tipText({ tip, network: _, sourceTip }: LiveSample): string {
  if (tip === null) return sourceTip === null ? 'no block yet' : `no block yet, of ${count(sourceTip.height ?? sourceTip.slot)}`;
  return tip.slot === tip.height ? `height ${count(tip.height)}` : `height ${count(tip.height)}, slot ${count(tip.slot)}`;
}

/** A bar while it is behind; how old the newest block is when it is not. */
function lagRows(sample: LiveSample, { style, columns, now }: PanelOptions): Row[] {
  const { lagBlocks, lagSeconds, tip, sourceTip, blocksPerSecond, state, lastBlockAt } = sample;
  if (lagBlocks === null)
    return state === 'closed' || state === 'idle' ? ageRows(tip, now) : [['lag', 'the source has not told its tip yet']];
  if (lagBlocks <= 1) {
    const came = lastBlockAt === null ? '' : `; the last block came ${since(lastBlockAt, now)} ago`;
    return [['lag', `${lagBlocks === 0 ? style.green('at the tip') : '1 block behind'}${came}`]];
  }
  const height = sourceTip?.height ?? 0;
  const done = height <= 0 ? 0 : Math.min(1, ((tip?.height ?? -1) + 1) / (height + 1));
  const left = blocksPerSecond > 0 ? `, ${duration(lagBlocks / blocksPerSecond)} left` : '';
  const percent = `${(Math.floor(1000 * done) / 10).toFixed(1)}%`;
  const time = lagSeconds === null ? '' : ` (${duration(lagSeconds)})`;
  const text = `${percent}, ${counted(lagBlocks, 'block')}${time} behind${left}`;
  const room = Math.min(BAR_COLUMNS_MAX, columns - NAME_COLUMNS - text.length - 4);
  return room < 8 ? [['lag', text]] : [['lag', `${bar(done, room, style)} ${text}`]];
}

function ageRows(tip: LiveSample['tip'], now: number): Row[] {
  return tip?.time == null ? [] : [['age', `its newest block is ${duration(Math.max(0, (now - Date.parse(tip.time)) / 1000))} old`]];
}

function speedText({ blocksPerSecond, bytesPerSecond, secondsPerBlock, lagBlocks }: LiveSample): string {
  const isSlow = blocksPerSecond < 1 && (lagBlocks ?? 0) <= 1;
  if (isSlow && secondsPerBlock !== null) return `a block every ${duration(secondsPerBlock)}`;
  return `${rate(blocksPerSecond)} blocks/s, ${rate(bytesPerSecond / 1e6)} MB/s`;
}

function unspentText({ utxos, unspent }: LiveSample): string {
  return utxos === null ? 'not kept (utxo.enabled is off)' : `${counted(utxos, 'output')} worth ${unspent}`;
}

function horizonText({ horizon, tip }: LiveSample): string {
  if (horizon === null) return 'the origin';
  const back = tip === null ? '' : `, ${counted(tip.height - horizon.height, 'block')} back`;
  return `height ${count(horizon.height)}${back}`;
}

function rollbackText({ rollbacks, lastRollback }: LiveSample, { now }: PanelOptions): string {
  if (lastRollback === null) return 'none';
  const { undone, time } = lastRollback;
  return `${count(rollbacks)}, the last of ${counted(undone, 'block')}, ${since(time, now)} ago`;
}

function fillRows({ fills }: LiveSample, { style, columns }: PanelOptions): Row[] {
  if (fills.length === 0) return [];
  const done = Math.min(...fills.map((fill) => fill.done));
  const text = `${(Math.floor(1000 * done) / 10).toFixed(1)}% of ${fills.map(({ projection }) => projection).join(', ')}`;
  const room = Math.min(BAR_COLUMNS_MAX / 2, columns - NAME_COLUMNS - text.length - 4);
  return [['filling', room < 8 ? text : `${bar(done, room, style)} ${text}`]];
}

function nodeRows({ peer, source }: LiveSample, { style }: PanelOptions): Row[] {
  if (peer === null) return source === null ? [] : [['source', source]];
  const version = peer.version === '' ? '' : ` (${peer.version})`;
  const trouble: Row[] = peer.lastError === null ? [] : [['', style.yellow(peer.lastError)]];
  return [['node', `${peer.url}${version}`], ...trouble];
}

function since(time: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  return seconds < 10 ? `${seconds}s` : duration(seconds);
}

/**
 * The thread in which the process that has a store open runs a command for
 * another one: the same program with the same command line, whose output goes to
 * whoever asked and whose store is the open one, at the block it is at.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { loadConfig } from '../../config/load.ts';
import { isGiven, type SettingKey, settingValue } from '../../config/schema.ts';
import { readIdentity } from '../../engine/directory.ts';
import { attachStore } from '../../store/control/attached-store.ts';
import type { StoreChanges } from '../../store/control/changes.ts';
import type { CommandOrder, CommandReport, CommandThreadData } from '../../store/control/command-thread.ts';
import type { CommandOutput } from '../../store/control/protocol.ts';
import { ThreadFlow } from '../../store/control/thread-flow.ts';
import { planStore, type StoreIdentity } from '../../store/identity.ts';
import type { OpenStore } from '../../store/store.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { errorOf, failureOf } from '../../util/failure.ts';
import { CONTROL_STOP_MS, CONTROL_TEXT_CHARS_MAX } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { commandPath, remarkIgnored } from '../context.ts';
import { aborted } from '../interrupt.ts';
import type { Output, TextStream } from '../output.ts';
import { createProgram, runCommand } from '../program.ts';
import type { StoreBody } from './surroundings.ts';

/** Commands that read a store, or change it by what `StoreChanges` has. */
const ANSWERED: readonly string[] = [
  'status',
  'query',
  'digest',
  'root',
  'prove',
  'cage',
  'verify',
  'prune',
  'rollback',
  'snapshot export',
];

const WINDOWS: readonly SettingKey[] = ['utxo.pruneDepth', 'utxo.rollbackWindow'];

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { store: parcel, request, flow: memory } = workerData as CommandThreadData;
const flow = new ThreadFlow(memory);
const stop = new AbortController();
let open: OpenStore | null = null;
let isCut = false;
let onChanged: (order: CommandOrder) => void = () => {};

function report(message: CommandReport): void {
  port.postMessage(message);
}

function write(output: CommandOutput): void {
  flow.begin(output);
  report({ kind: 'output', output });
}

/** A result that nobody waits for any more is cut short, once; how the command ended may still be written. */
function writeResult(output: CommandOutput): void {
  if (flow.isStopped && !isCut) {
    isCut = true;
    throw new UnspentError('INTERRUPTED', 'stopped before the answer was complete');
  }
  write(output);
}

/** In pieces that fit into a line of the control socket; two halves of one character stay together. */
function* pieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let end = Math.min(text.length, from + CONTROL_TEXT_CHARS_MAX);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end--;
    yield text.slice(from, end);
    from = end;
  }
}

function stream(send: (text: string) => void): TextStream {
  return {
    isTTY: request.columns !== null,
    columns: request.columns ?? 0,
    write(text: string | Uint8Array) {
      for (const piece of pieces(String(text))) send(piece);
      return true;
    },
  };
}

/** One at a time, by the thread of the fold. */
async function askFold<T>(question: CommandReport): Promise<T> {
  const answered = new Promise<CommandOrder>((resolve) => {
    onChanged = resolve;
  });
  report(question);
  const order = await answered;
  if (order.kind === 'changed') return order.result as T;
  throw order.kind === 'refused' ? errorOf(order.failure) : new UnspentError('INTERRUPTED', 'nobody waits for the command any more');
}

const changes: StoreChanges = {
  rollback: (to) => askFold({ kind: 'rollback', to }),
  prune: () => askFold({ kind: 'prune' }),
};

async function useStore<T>(body: StoreBody<T>, output: Output, windows: boolean): Promise<T> {
  checkSettings(output, windows);
  // Named as whoever asked names it.
  open = await attachStore({ ...parcel, data: settings.config.data });
  return body(open, changes);
}

/** Says what is left aside of the settings that were given, as an opening does; those of the window would not take hold. */
function checkSettings(output: Output, windows: boolean): void {
  const { config } = settings;
  const identity = readIdentity(parcel.data) as StoreIdentity;
  const isOther = (key: SettingKey): boolean => isGiven(config, key) && settingValue(config, key) !== settingValue(parcel.config, key);
  if (windows && WINDOWS.some(isOther))
    throw new UnspentError('UNSUPPORTED', `the window of a store is changed when it is opened: stop process ${process.pid} first`);
  remarkIgnored(output, planStore(identity, { data: parcel.data, config }, { shape: false, windows: false }).ignored);
}

function checkAnswered(path: string): void {
  if (ANSWERED.some((name) => path === name || path.startsWith(`${name} `))) return;
  throw new UnspentError('UNSUPPORTED', `'${path}' needs the store for itself`);
}

function loadSettings() {
  const set = Object.entries(request.settings).map(([key, value]) => `${key}=${value}`);
  return loadConfig({ flags: { set }, file: null });
}

/** The exit code. */
async function run(): Promise<number> {
  const held = {
    settings,
    cwd: request.cwd,
    stop: stop.signal,
    get isStopped() {
      return flow.isStopped;
    },
    useStore,
  };
  const program = createProgram({
    env: request.debug ? { UNSPENT_LOG: 'debug' } : {},
    stdout: stream((out) => writeResult({ out })),
    stderr: stream((err) => write({ err })),
    held,
  });
  program.hook('preAction', (_, command) => checkAnswered(commandPath(command)));
  return Promise.race([runCommand(program, request.args), stoppedLate()]);
}

/** A command that waits for something else, such as a node, does not hold up whoever closes the store. */
async function stoppedLate(): Promise<number> {
  await aborted(stop.signal);
  await pause(CONTROL_STOP_MS, {});
  return INTERRUPTED;
}

const INTERRUPTED = 130;
port.on('message', (order: CommandOrder) => {
  if (order.kind === 'stop') stop.abort();
  onChanged(order);
});
let end: CommandOutput;
let settings: ReturnType<typeof loadConfig>;
try {
  settings = loadSettings();
  end = { exit: await run() };
} catch (error) {
  end = { failure: failureOf(error) };
}
await (open as OpenStore | null)?.close();
report({ kind: 'output', output: end });
// Whatever the command may still wait for must not keep the thread.
port.close();
process.exit();

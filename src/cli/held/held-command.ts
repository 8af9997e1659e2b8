/**
 * A command that is run for another process, by the one that has the store open
 * and in a thread of it: the same program with the same command line, whose
 * output goes to whoever asked and whose store is the open one, at the block it
 * is at.
 */
import type { MessagePort } from 'node:worker_threads';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { type SettingKey, settingValue } from '../../config/schema.ts';
import { readIdentity } from '../../engine/directory.ts';
import { releaseFiles } from '../../engine/pinned-files.ts';
import type { PinnedStore } from '../../store/backup/pinned-store.ts';
import { attachStore } from '../../store/control/attached-store.ts';
import type { PinnedBlock, StoreChanges } from '../../store/control/changes.ts';
import type { CommandOrder, CommandReport, CommandThreadData } from '../../store/control/command-thread.ts';
import type { CommandOutput } from '../../store/control/protocol.ts';
import { ThreadFlow } from '../../store/control/thread-flow.ts';
import { planStore, type StoreIdentity } from '../../store/identity.ts';
import type { OpenStore } from '../../store/store.ts';
import { equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { errorOf, failureOf } from '../../util/failure.ts';
import { CONTROL_STOP_MS, CONTROL_TEXT_CHARS_MAX } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { commandPath, remarkIgnored } from '../context.ts';
import { aborted } from '../interrupt.ts';
import type { Output, TextStream } from '../output.ts';
import { createProgram, runCommand } from '../program.ts';
import { isAnswered } from './answered.ts';
import type { HeldSurroundings, StoreBody } from './surroundings.ts';

const WINDOWS: readonly SettingKey[] = ['utxo.pruneDepth', 'utxo.rollbackWindow'];
const INTERRUPTED = 130;

export class HeldCommand implements HeldSurroundings {
  readonly settings: LoadedConfig;
  readonly cwd: string;
  private readonly port: MessagePort;
  private readonly data: CommandThreadData;
  private readonly flow: ThreadFlow;
  private readonly stopping = new AbortController();
  private store: OpenStore | null = null;
  private isCut = false;
  private onOrder: (order: CommandOrder) => void = () => {};

  /** Throws CONFIG. */
  constructor(port: MessagePort, data: CommandThreadData) {
    this.port = port;
    this.data = data;
    this.flow = new ThreadFlow(data.flow);
    const { settings, cwd } = data.request;
    this.cwd = cwd;
    const set = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    this.settings = loadConfig({ flags: { set }, file: null });
    port.on('message', (order: CommandOrder) => {
      if (order.kind === 'stop') this.stopping.abort();
      this.onOrder(order);
    });
  }

  get stop(): AbortSignal {
    return this.stopping.signal;
  }

  get isStopped(): boolean {
    return this.flow.isStopped;
  }

  /** How it ended. When it resolves, nothing here reads the store any more. */
  async run(): Promise<CommandOutput> {
    const { request } = this.data;
    const program = createProgram({
      env: request.colours ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' },
      stdout: this.stream(request.resultColumns, (out) => this.writeResult({ out })),
      stderr: this.stream(request.columns, (err) => this.write({ err })),
      held: this,
    });
    program.hook('preAction', (_, command) => this.checkAnswered(commandPath(command)));
    try {
      return { exit: await Promise.race([runCommand(program, request.args), this.stoppedLate()]) };
    } catch (error) {
      return { failure: failureOf(error) };
    } finally {
      await this.store?.close();
    }
  }

  async useStore<T>(body: StoreBody<T>, output: Output, windows: boolean): Promise<T> {
    this.checkSettings(output, windows);
    // Named as whoever asked names it.
    this.store = await attachStore({ ...this.data.store, data: this.settings.config.data });
    const changes: StoreChanges = {
      rollback: (to) => this.askFold({ kind: 'rollback', to }),
      prune: () => this.askFold({ kind: 'prune' }),
      pin: () => this.pin(),
    };
    return body(this.store, changes);
  }

  /** The fold waits until this thread reads the block whose files it holds. Throws BUSY where it has waited too long. */
  private async pin(): Promise<PinnedStore> {
    const hold = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const { files, head } = await this.askFold<PinnedBlock>({ kind: 'pin', hold });
    let attached: OpenStore;
    try {
      attached = await attachStore(this.data.store);
    } finally {
      Atomics.store(new Int32Array(hold), 0, 1);
      Atomics.notify(new Int32Array(hold), 0);
    }
    const release = async (): Promise<void> => {
      await attached.close();
      if (files !== null) releaseFiles(files);
    };
    const { hash } = attached.fold.head ?? {};
    if (hash === undefined ? head === null : head !== null && equalBytes(hash, head.hash))
      return { columns: attached.engine.columns, reader: attached.engine, files, release };
    await release();
    throw new UnspentError('BUSY', 'the store has moved on before it could be read at the block of its files; try again');
  }

  /** Whoever asks by our own command line asks nothing else; a request may come from elsewhere. */
  private checkAnswered(path: string): void {
    if (isAnswered(path)) return;
    const { url } = this.data;
    throw new UnspentError(
      'STORE_LOCKED',
      `process ${process.pid} has the store open${url === null ? '' : ` and serves it at ${url}`}; '${path}' needs it for itself`,
      { process: process.pid, url },
    );
  }

  /** Says what is left aside of the settings that were given, as an opening does; those of the window would not take hold. */
  private checkSettings(output: Output, windows: boolean): void {
    const { config } = this.settings;
    const { data, config: own } = this.data.store;
    // 0 means: as the store has it.
    const isOther = (key: SettingKey): boolean => ![0, settingValue(own, key)].includes(settingValue(config, key) as number);
    if (windows && WINDOWS.some(isOther))
      throw new UnspentError('UNSUPPORTED', `the window of a store is changed when it is opened: stop process ${process.pid} first`);
    const identity = readIdentity(data) as StoreIdentity;
    remarkIgnored(output, planStore(identity, { data, config }, { shape: false, windows: false }).ignored);
  }

  /** One change at a time, by the thread of the fold. */
  private async askFold<T>(question: CommandReport): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<CommandOrder>();
    this.onOrder = resolve;
    this.port.postMessage(question);
    const order = await promise;
    if (order.kind === 'changed') return order.result as T;
    throw order.kind === 'refused' ? errorOf(order.failure) : new UnspentError('INTERRUPTED', 'nobody waits for the command any more');
  }

  private stream(columns: number | null, send: (text: string) => void): TextStream {
    return {
      isTTY: columns !== null,
      columns: columns ?? 0,
      write(text: string | Uint8Array) {
        for (const piece of pieces(String(text))) send(piece);
        return true;
      },
    };
  }

  private write(output: CommandOutput): void {
    this.flow.begin(output);
    this.port.postMessage({ kind: 'output', output } satisfies CommandReport);
  }

  /** A result that nobody waits for any more is cut short, once; how the command ended may still be written. */
  private writeResult(output: CommandOutput): void {
    if (this.isStopped && !this.isCut) {
      this.isCut = true;
      throw new UnspentError('INTERRUPTED', 'stopped before the answer was complete');
    }
    this.write(output);
  }

  /** A command that waits for something else, such as a node, does not hold up whoever closes the store. */
  private async stoppedLate(): Promise<number> {
    await aborted(this.stop);
    await pause(CONTROL_STOP_MS, {});
    return INTERRUPTED;
  }
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

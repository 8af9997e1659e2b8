/**
 * A server that a test runs, as nobody where root runs the test, and that ends
 * with the test however that ends: its standard input is a pipe from us, and
 * what holds the other end tells the server when it closes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export const NOBODY = 65_534;
/** Whom servers run as that refuse to run as root. */
export const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const SAID_CHARACTERS_MAX = 4000;

/** Standard input is copied, because what runs in the background has none of its own. USR1: it is killed. */
const WHILE_WE_LIVE = `exec 3<&0
"$@" & server=$!
(read -r _ <&3; kill -TERM $server) & reader=$!
trap 'kill -KILL $server' USR1
wait $server; wait $server; code=$?
kill $reader
exit $code`;

export class KeptProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('exit', resolve));
    for (const output of [child.stdout, child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => {
        this.said = (this.said + text).slice(-SAID_CHARACTERS_MAX);
      });
  }

  static run(program: string, args: readonly string[], folder = '/'): KeptProcess {
    return new KeptProcess(spawn('/bin/sh', ['-c', WHILE_WE_LIVE, 'sh', program, ...args], { ...identity, stdio: 'pipe', cwd: folder }));
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** It is asked to end. */
  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGUSR1');
    await this.#ended;
  }
}

/** A process that is not a child of ours, and its children, all at once. */
export function killTree(main: number): void {
  for (const pid of [main, ...childrenOf(main)]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Processes that it has started and that are there. */
function childrenOf(parent: number): number[] {
  const numbers = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return numbers.map(Number).filter((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1]) === parent;
    } catch {
      return false;
    }
  });
}

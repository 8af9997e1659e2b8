/**
 * What a command has where it is run for another process, by the one that has
 * the store open: the settings and the directory of whoever asked, and the store
 * as it is open here.
 */
import type { LoadedConfig } from '../../config/load.ts';
import type { StoreChanges } from '../../store/control/changes.ts';
import type { OpenStore } from '../../store/store.ts';
import { UnspentError } from '../../util/errors.ts';
import type { Output } from '../output.ts';
import type { ProgressLine } from '../progress.ts';

/** What a command does with a store that it reads, and changes by `changes` alone. */
export type StoreBody<T> = (store: OpenStore, changes: StoreChanges) => T | Promise<T>;

export interface HeldSurroundings {
  readonly settings: LoadedConfig;
  readonly cwd: string;
  readonly stop: AbortSignal;
  /** True at once when nobody wants the command any more, even while it computes and no signal gets through. */
  readonly isStopped: boolean;
  /** `windows`: the command takes settings of the store's window. */
  useStore<T>(body: StoreBody<T>, output: Output, windows: boolean): Promise<T>;
}

/** Commands that take long report progress: there they are stopped, too. */
export function heedStop(line: ProgressLine, held: HeldSurroundings | undefined): ProgressLine {
  if (held === undefined) return line;
  return {
    ...line,
    // A getter, which spreading would read once.
    get columns() {
      return line.columns;
    },
    update(text) {
      if (held.isStopped) throw new UnspentError('INTERRUPTED', 'nobody waits for the command any more');
      line.update(text);
    },
  };
}

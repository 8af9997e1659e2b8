/**
 * What a method is: its parameters, the versions it is in, and what it does for
 * the session that asks.
 */
import type { Task } from '../../http/work/task.ts';
import type { ParamNames } from './params.ts';
import type { Version } from './version.ts';

/** A session as methods and notifications see it. */
export interface MethodCaller {
  readonly version: Version;
  /** The work of what it asks. */
  readonly task: Task;
  /** Hex of the keys of the scripts it is subscribed to. */
  readonly scripts: Set<string>;
  /** Settles the version. Throws an RpcError when that was done before, or there is none in common. */
  negotiate(asked: unknown): Version;
  notify(method: string, params: readonly unknown[]): void;
}

export interface Method extends ParamNames {
  readonly since?: Version;
  readonly until?: Version;
  run(args: readonly unknown[], asker: MethodCaller): unknown;
}

export type Methods = Readonly<Record<string, Method>>;

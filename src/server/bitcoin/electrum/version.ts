/**
 * Which version of the protocol a session speaks. The client names a range, the
 * newest that both know is taken. A client that has asked something before it
 * named one speaks 1.4, where that was allowed; 1.6 begins with the version.
 */
import { RPC, RpcError } from './rpc.ts';

/** Oldest first. There is no 1.5; 1.4.3 adds names, which these chains do not have. */
const VERSIONS = ['1.4', '1.4.1', '1.4.2', '1.4.3', '1.6'] as const;
export type Version = (typeof VERSIONS)[number];

export const OLDEST: Version = '1.4';
export const NEWEST: Version = '1.6';
/** The newest in which the version need not come first. */
const NEWEST_LATE: Version = '1.4.3';

const NUMBER = /^\d{1,4}(\.\d{1,4}){0,3}$/;

/** `asked`: one version, or the oldest and the newest. `late`: something was asked before. Throws an RpcError that ends the session. */
export function negotiate(asked: unknown, late: boolean): Version {
  const [oldest, newest] = Array.isArray(asked) && asked.length === 2 ? asked : [asked, asked];
  if (!isVersion(oldest) || !isVersion(newest)) throw new RpcError(RPC.badRequest, 'a protocol version is a text such as "1.4"', true);
  const ours = late ? VERSIONS.slice(0, VERSIONS.indexOf(NEWEST_LATE) + 1) : VERSIONS;
  const found = ours.findLast((version) => compare(oldest, version) <= 0 && compare(version, newest) <= 0);
  if (found !== undefined) return found;
  const why = late ? ', and server.version was not the first message' : '';
  throw new RpcError(RPC.badRequest, `unsupported protocol version: ${oldest} to ${newest}; there are ${ours.join(', ')}${why}`, true);
}

export function isAtLeast(version: Version, other: Version): boolean {
  return VERSIONS.indexOf(version) >= VERSIONS.indexOf(other);
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && NUMBER.test(value);
}

/** 1.4 is 1.4.0. */
function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 4; i++) if ((left[i] ?? 0) !== (right[i] ?? 0)) return (left[i] ?? 0) - (right[i] ?? 0);
  return 0;
}

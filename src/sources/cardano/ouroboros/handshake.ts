/**
 * The handshake (0): which version both sides speak, and that they mean the
 * same network. Nothing else may be sent before it is accepted.
 *
 * CDDL: cardano-diffusion specs/handshake-node-to-{node-v14,client}.cddl.
 */

import { Cursor, INDEFINITE, TEXT } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { HANDSHAKE_BYTES_MAX, HANDSHAKE_STEP_MS } from '../../../util/limits.ts';
import { ENDED, has, type Protocol, rawItem, readBool, readMessage, readText } from './protocol.ts';

/** Who talks: nodes among themselves, or a client to its local node. */
export type Wire = 'n2n' | 'n2c';

export interface VersionEntry {
  /** As on the wire: N2C versions have bit 15 set. */
  readonly version: number;
  /** Encoded; `readVersionData` reads those of the versions we speak. */
  readonly data: Uint8Array;
}

export interface VersionData {
  readonly magic: number;
  readonly query: boolean;
  /** N2N only: the sender runs no responders on this connection. */
  readonly initiatorOnly: boolean;
  readonly peerSharing: boolean;
}

export type RefuseReason =
  | { readonly why: 'versionMismatch'; readonly versions: readonly number[] }
  | { readonly why: 'decodeError'; readonly version: number; readonly text: string }
  | { readonly why: 'refused'; readonly version: number; readonly text: string };

export type HandshakeMessage =
  | { readonly kind: 'propose'; readonly versions: readonly VersionEntry[] }
  | { readonly kind: 'accept'; readonly version: number; readonly data: Uint8Array }
  | { readonly kind: 'refuse'; readonly reason: RefuseReason }
  | { readonly kind: 'queryReply'; readonly versions: readonly VersionEntry[] };

export type HandshakeState = 'propose' | 'confirm' | 'done';

const NAME = 'handshake';
const N2C_BIT = 0x8000;

/** The versions we speak, as on the wire, oldest first. */
export const VERSIONS: Readonly<Record<Wire, readonly number[]>> = {
  n2n: [14, 15],
  n2c: [16, 17, 18, 19, 20, 21, 22, 23].map((version) => version | N2C_BIT),
};

export const HANDSHAKE: Protocol<HandshakeMessage, HandshakeState> = {
  name: NAME,
  number: 0,
  initial: 'propose',
  pipelined: null,
  states: {
    propose: { agency: 'initiator', sends: { propose: 'confirm' }, bytesMax: HANDSHAKE_BYTES_MAX, timeoutMs: HANDSHAKE_STEP_MS },
    confirm: {
      agency: 'responder',
      sends: { accept: 'done', refuse: 'done', queryReply: 'done' },
      bytesMax: HANDSHAKE_BYTES_MAX,
      timeoutMs: HANDSHAKE_STEP_MS,
    },
    done: ENDED,
  },
  encode: encodeHandshake,
  decode: decodeHandshake,
};

/** 23 for N2C version 23: without the bit that tells the two kinds apart. */
export function versionName(version: number): string {
  return version & N2C_BIT ? `N2C ${version & ~N2C_BIT}` : `N2N ${version}`;
}

export function encodeVersionData(version: number, { magic, query, initiatorOnly, peerSharing }: VersionData): Uint8Array {
  const w = new CborWriter(16);
  if (version & N2C_BIT) return w.array(2).uint(magic).bool(query).take();
  return w
    .array(4)
    .uint(magic)
    .bool(initiatorOnly)
    .uint(peerSharing ? 1 : 0)
    .bool(query)
    .take();
}

export function readVersionData(version: number, data: Uint8Array): VersionData {
  const c = new Cursor(data);
  const isLocal = (version & N2C_BIT) !== 0;
  const count = c.tuple(isLocal ? 2 : 4, 'version data');
  const magic = c.uint();
  if (isLocal) {
    const query = readBool(c);
    c.close(count);
    return { magic, query, initiatorOnly: true, peerSharing: false };
  }
  const initiatorOnly = readBool(c);
  const at = c.at;
  const sharing = c.uint();
  if (sharing > 1) c.fail('peer sharing is 0 or 1', at);
  const query = readBool(c);
  c.close(count);
  return { magic, query, initiatorOnly, peerSharing: sharing === 1 };
}

export function encodeHandshake(message: HandshakeMessage): Uint8Array {
  const w = new CborWriter();
  switch (message.kind) {
    case 'propose':
      return writeTable(w.array(2).uint(0), message.versions).take();
    case 'accept':
      return w.array(3).uint(1).uint(message.version).raw(message.data).take();
    case 'refuse':
      return writeReason(w.array(2).uint(2), message.reason).take();
    case 'queryReply':
      return writeTable(w.array(2).uint(3), message.versions).take();
  }
}

export function decodeHandshake(bytes: Uint8Array): HandshakeMessage {
  return readMessage<HandshakeMessage>(NAME, bytes, (c, key, fields) => {
    if (key === 0 && has(fields, 1)) return { kind: 'propose', versions: readTable(c) };
    if (key === 1 && has(fields, 2)) return { kind: 'accept', version: c.uint(), data: rawItem(c) };
    if (key === 2 && has(fields, 1)) return { kind: 'refuse', reason: readReason(c) };
    return key === 3 && has(fields, 1) ? { kind: 'queryReply', versions: readTable(c) } : undefined;
  });
}

function writeTable(w: CborWriter, versions: readonly VersionEntry[]): CborWriter {
  w.map(versions.length);
  for (const { version, data } of versions) w.uint(version).raw(data);
  return w;
}

/** Keys must ascend: the reference refuses a table that is out of order. */
function readTable(c: Cursor): VersionEntry[] {
  const versions: VersionEntry[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const at = c.at;
    const version = c.uint();
    if (i > 0 && version <= versions[i - 1].version) c.fail('version table out of order', at);
    versions.push({ version, data: rawItem(c) });
  }
  return versions;
}

function writeReason(w: CborWriter, reason: RefuseReason): CborWriter {
  if (reason.why === 'versionMismatch') {
    w.array(2).uint(0).array(reason.versions.length);
    for (const version of reason.versions) w.uint(version);
    return w;
  }
  return w
    .array(3)
    .uint(reason.why === 'decodeError' ? 1 : 2)
    .uint(reason.version)
    .text(reason.text);
}

function readReason(c: Cursor): RefuseReason {
  const at = c.at;
  const count = c.array();
  const key = c.uint();
  if (key > 2) c.fail('unknown reason of refusal', at);
  let reason: RefuseReason;
  if (key === 0) {
    const versions: number[] = [];
    for (let i = 0, n = c.array(); c.more(n, i); i++) versions.push(c.uint());
    reason = { why: 'versionMismatch', versions };
  } else {
    reason = { why: key === 1 ? 'decodeError' : 'refused', version: c.uint(), text: c.peek() === TEXT ? readText(c) : '' };
  }
  const wanted = key === 0 ? 2 : 3;
  if (count !== INDEFINITE && count !== wanted) c.fail(`reason of refusal has ${count} fields, expected ${wanted}`, at);
  c.close(count);
  return reason;
}

/**
 * Both sides of the handshake. The initiator offers every version we speak
 * and gets the one that is taken; the responder takes the newest that both
 * know. If the peer is of another network, the error names both magics.
 */
import { UnspentError } from '../../../util/errors.ts';
import { encodeVersionData, HANDSHAKE, type RefuseReason, readVersionData, VERSIONS, versionName, type Wire } from './handshake.ts';
import type { Mux } from './mux.ts';
import { violation } from './protocol.ts';
import { Session } from './session.ts';

export interface NegotiatedVersion {
  /** As on the wire. */
  readonly version: number;
  readonly magic: number;
}

/** Offers our versions and waits for the answer. Throws NETWORK_WRONG, PROTOCOL or SOURCE_UNREACHABLE. */
export async function proposeVersions(mux: Mux, wire: Wire, magic: number): Promise<NegotiatedVersion> {
  const session = new Session(mux, HANDSHAKE, 'initiator');
  const data = { magic, query: false, initiatorOnly: true, peerSharing: false };
  session.send({ kind: 'propose', versions: VERSIONS[wire].map((version) => ({ version, data: encodeVersionData(version, data) })) });
  const answer = await session.receive();
  if (answer.kind === 'refuse') throw refusal(mux.peer, answer.reason, magic);
  if (answer.kind !== 'accept') throw violation('an answer to a query that was not made');
  if (!VERSIONS[wire].includes(answer.version)) throw violation(`version ${versionName(answer.version)} was not offered`);
  const theirs = malformed(() => readVersionData(answer.version, answer.data));
  if (theirs.magic !== magic) throw wrongNetwork(mux.peer, magic, theirs.magic);
  return { version: answer.version, magic };
}

/**
 * Answers a proposal. Open the channels of the other protocols before: the peer may use them as soon as it reads that
 * it was accepted. Null: it was refused, or only asked which versions there are; the connection is then to be closed.
 */
export async function answerVersions(mux: Mux, wire: Wire, magic: number): Promise<NegotiatedVersion | null> {
  const session = new Session(mux, HANDSHAKE, 'responder');
  const proposal = await session.receive();
  if (proposal.kind !== 'propose') throw violation('a handshake that begins with an answer');
  const common = proposal.versions.findLast(({ version }) => VERSIONS[wire].includes(version));
  if (common === undefined) {
    session.send({ kind: 'refuse', reason: { why: 'versionMismatch', versions: VERSIONS[wire] } });
    return null;
  }
  const { version } = common;
  const refuse = (why: 'decodeError' | 'refused', text: string): null => {
    session.send({ kind: 'refuse', reason: { why, version, text } });
    return null;
  };
  let theirs: ReturnType<typeof readVersionData>;
  try {
    theirs = readVersionData(version, common.data);
  } catch (error) {
    return refuse('decodeError', error instanceof Error ? error.message : 'not version data');
  }
  const ours = { magic, query: theirs.query, initiatorOnly: false, peerSharing: false };
  if (theirs.query) {
    session.send({ kind: 'queryReply', versions: VERSIONS[wire].map((each) => ({ version: each, data: encodeVersionData(each, ours) })) });
    return null;
  }
  if (theirs.magic !== magic) return refuse('refused', `version data mismatch: networkMagic = ${magic} /= networkMagic = ${theirs.magic}`);
  session.send({ kind: 'accept', version, data: encodeVersionData(version, ours) });
  return { version, magic };
}

function refusal(peer: string, reason: RefuseReason, magic: number): UnspentError {
  if (reason.why === 'versionMismatch') {
    const theirs = reason.versions.map(versionName).join(', ');
    return new UnspentError('PROTOCOL', `${peer} speaks ${theirs || 'no version'}, none of which we do`, { versions: reason.versions });
  }
  // A node tells the two sides' data in prose: the number that is not ours is its own.
  const told = [...reason.text.matchAll(/magic\D{0,40}?(\d+)/gi)].map((match) => Number(match[1]));
  const other = told.find((each) => each !== magic);
  if (reason.why === 'refused' && other !== undefined) return wrongNetwork(peer, magic, other);
  return new UnspentError('PROTOCOL', `${peer} refused the connection: ${reason.text.slice(0, 300)}`, { reason: reason.why });
}

function wrongNetwork(peer: string, ours: number, theirs: number): UnspentError {
  const message = `${peer} is of another network: its magic is ${theirs}, the store's is ${ours}`;
  return new UnspentError('NETWORK_WRONG', message, { ours, theirs });
}

function malformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw violation(`malformed version data: ${error instanceof Error ? error.message : error}`, {}, error);
  }
}

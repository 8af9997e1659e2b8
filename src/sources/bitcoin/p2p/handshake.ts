/**
 * The beginning of a connection that we open: each side says its version and
 * nods at the other's. What a node adds between the two is passed over.
 */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { HANDSHAKE_STEP_MS } from '../../../util/limits.ts';
import { violation } from './frame.ts';
import { type Link, ownVersion, PROTOCOL_VERSION_MIN } from './link.ts';
import { type Message, SERVICE, type Version } from './messages.ts';

/** Throws UNSUPPORTED when the node cannot give what we need. `messages` is used up to its nod. */
export async function greet(
  link: Link,
  messages: AsyncIterator<Message>,
  network: BitcoinNetwork,
  height: number,
  timeScale: number,
): Promise<Version> {
  const { peer } = link;
  const late = new UnspentError('SOURCE_UNREACHABLE', `${peer} did not say its version; is it of another network?`, { peer });
  const timer = setTimeout(() => link.fail(late), HANDSHAKE_STEP_MS * timeScale);
  try {
    // We serve nothing, but read and write witnesses: btcd decodes what comes from a peer without this flag as if there were none.
    link.send(ownVersion(SERVICE.witness, height));
    return await theirVersion(link, messages, network);
  } finally {
    clearTimeout(timer);
  }
}

async function theirVersion(link: Link, messages: AsyncIterator<Message>, network: BitcoinNetwork): Promise<Version> {
  for (let theirs: Version | null = null; ; ) {
    const { value: message } = (await messages.next()) as IteratorYieldResult<Message>;
    if (message.kind === 'version') {
      if (theirs !== null) throw violation('a second version');
      theirs = accepted(message, link.peer, network);
      link.send({ kind: 'verack' });
    } else if (message.kind === 'verack') {
      if (theirs === null) throw violation('a nod before the version');
      return theirs;
    } else if (message.kind === 'headers' || message.kind === 'block') throw violation(`'${message.kind}' before the handshake`);
  }
}

const NONCE = Uint8Array.of(0x75, 0x6e, 0x73, 0x70, 0x65, 0x6e, 0x74, 0x21);

/**
 * Resolves when the node has taken note of our nod: it passes transactions on to
 * those it has greeted, and its own nod does not say that it has read ours.
 */
export async function settled(link: Link, messages: AsyncIterator<Message>, timeScale: number): Promise<void> {
  const { peer } = link;
  const late = new UnspentError('SOURCE_UNREACHABLE', `${peer} greets and does not answer`, { peer });
  const timer = setTimeout(() => link.fail(late), HANDSHAKE_STEP_MS * timeScale);
  try {
    link.send({ kind: 'ping', nonce: NONCE });
    for (;;) {
      const { value: message } = (await messages.next()) as IteratorYieldResult<Message>;
      if (message.kind === 'ping') link.send({ kind: 'pong', nonce: message.nonce });
      else if (message.kind === 'pong' && equalBytes(message.nonce, NONCE)) return;
    }
  } finally {
    clearTimeout(timer);
  }
}

function accepted(theirs: Version, peer: string, network: BitcoinNetwork): Version {
  const { version, services } = theirs;
  const lacks = (what: string): UnspentError =>
    new UnspentError('UNSUPPORTED', `${peer} ${what}`, { peer, version, services: services.toString(16) });
  if (version < PROTOCOL_VERSION_MIN)
    throw lacks(`speaks version ${version} of the protocol; ${PROTOCOL_VERSION_MIN} is the oldest we understand`);
  if ((services & SERVICE.network) === 0n) throw lacks('does not serve whole chains: it is pruned, or not a full node');
  if ((services & SERVICE.witness) === 0n && Number.isFinite(network.segwitHeight)) throw lacks('does not serve witnesses');
  return theirs;
}

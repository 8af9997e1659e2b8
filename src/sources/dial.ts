/**
 * From an address to an open stream: TCP for other nodes, a socket file (or a
 * named pipe) for a local one. What the system says becomes a sentence.
 */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { UnspentError } from '../util/errors.ts';

/** What it takes to open a stream; `url` is for messages. */
export interface Target {
  readonly url: string;
  readonly connect: { readonly host: string; readonly port: number } | { readonly path: string };
}

/** Opens the stream. Throws SOURCE_UNREACHABLE; rejects promptly when the signal says so. */
export function dial(address: Target, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address.connect as NetConnectOpts);
    const timer = setTimeout(() => leave(unreachable(address, `no answer in ${timeoutMs / 1000} s`)), timeoutMs);
    const leave = (error: UnspentError | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('connect', onConnect);
      socket.off('error', onError);
      if (error === null) resolve(socket);
      else {
        // Errors after the one that was reported are ignored.
        socket.on('error', () => {});
        socket.destroy();
        reject(error);
      }
    };
    const onConnect = (): void => {
      socket.setNoDelay(true);
      leave(null);
    };
    const onError = (error: NodeJS.ErrnoException): void => leave(unreachable(address, reasonOf(error), error));
    const onAbort = (): void => leave(new UnspentError('INTERRUPTED', `stopped while connecting to ${address.url}`));
    socket.once('connect', onConnect);
    socket.once('error', onError);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function unreachable({ url }: Target, why: string, cause?: unknown): UnspentError {
  return new UnspentError('SOURCE_UNREACHABLE', `${url}: ${why}`, { url }, cause);
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'nobody listens there';
  if (code === 'ENOENT') return 'there is no such socket';
  if (code === 'EACCES' || code === 'EPERM') return 'we may not open that socket';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'no host of that name';
  return message || (code ?? 'cannot be reached');
}

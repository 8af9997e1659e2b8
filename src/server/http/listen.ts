/** Listening on a port that a setting names, with an error that says which. */
import type { Server } from 'node:net';
import { UnspentError } from '../../util/errors.ts';

/** Throws IO. */
export function listenOn(server: Server, host: string, port: number, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // It stays: a connection that could not be accepted later is nothing to fall over.
    server.on('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
      reject(new UnspentError('IO', `cannot listen on ${host}:${port} (${setting}): ${why}`, { host, port }, error));
    });
    server.listen({ host, port }, () => resolve());
  });
}

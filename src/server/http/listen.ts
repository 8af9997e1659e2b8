/** Listening on a port that a setting names, with an error that says which. */
import type { Server } from 'node:net';
import { UnspentError } from '../../util/errors.ts';
import { bindingOf } from './shared-port.ts';

/** `what`: with which a message begins that it cannot. Throws IO. */
export async function listenOn(server: Server, host: string, port: number, setting: string, what = ''): Promise<void> {
  const fault = (error: NodeJS.ErrnoException): UnspentError => {
    const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
    return new UnspentError('IO', `${what}cannot listen on ${host}:${port} (${setting}): ${why}`, { host, port }, error);
  };
  const binding = await bindingOf(host, port).catch((error: NodeJS.ErrnoException) => {
    throw fault(error);
  });
  await new Promise<void>((resolve, reject) => {
    // It stays: a connection that could not be accepted later is nothing to fall over.
    server.on('error', (error) => reject(fault(error)));
    server.listen(binding, () => resolve());
  });
}

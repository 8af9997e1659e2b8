/**
 * How a listener binds its port where several threads of this process share it:
 * each has a socket of its own (SO_REUSEPORT), and the system hands every new
 * connection to one of them. Another process of the same user could join in the
 * same way, so the first thread makes sure that nobody is there before.
 */
import { createServer } from 'node:net';
import { isMainThread, workerData } from 'node:worker_threads';

/** Which thread of how many. */
export interface ThreadPlace {
  readonly number: number;
  readonly count: number;
}

const { place } = (isMainThread ? {} : ((workerData ?? {}) as object)) as { readonly place?: ThreadPlace };
const isShared = place !== undefined && place.count > 1;

export interface Binding {
  readonly host: string;
  readonly port: number;
  readonly reusePort?: true;
}

/** What to listen with. Throws what the system says where somebody else has the port. */
export async function bindingOf(host: string, port: number): Promise<Binding> {
  if (!isShared) return { host, port };
  if (place.number === 0 && port !== 0) await checkFree(host, port);
  return { host, port, reusePort: true };
}

/** Whether this system can share a port between threads and spread connections over them. */
export function canSharePorts(platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'linux';
}

function checkFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    // Without the option the system refuses where anybody listens, with it or not.
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}

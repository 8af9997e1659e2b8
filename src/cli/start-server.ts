/**
 * The server beside a follower: on the port that was given or, without one,
 * on the next that is free.
 */
import { createServer } from 'node:net';
import { isGiven } from '../config/schema.ts';
import type { Served, ServeOptions } from '../server/serve.ts';
import { cannotListen } from '../server/thread/listen-error.ts';
import type { OpenStore } from '../store/store.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import type { Context } from './context.ts';
import type { CommandOptions } from './options.ts';

/** Ports looked at behind the usual one: as many as one person runs at a time. */
const PORTS_TRIED = 20;
const PORT_MAX = 65_535;

interface ServerFlags extends CommandOptions {
  readonly port?: string;
  readonly host?: string;
  /** False: `--no-server`. */
  readonly server?: boolean;
}

export function isServed({ options, settings }: Context): boolean {
  return (options as ServerFlags).server !== false && settings.config.server.enabled;
}

/** Before a store is made or changed: throws IO when the port is taken and was asked for. */
export async function checkPort(context: Context): Promise<void> {
  const port = givenPort(context);
  if (!isServed(context) || port === undefined || port === 0) return;
  const host = (context.options as ServerFlags).host ?? context.settings.config.server.host;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(cannotListen(error, host, port)));
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/** Undefined: none was given. */
function givenPort({ options, settings }: Context): number | undefined {
  return portOf((options as ServerFlags).port) ?? (isGiven(settings.config, 'server.port') ? settings.config.server.port : undefined);
}

/** Throws IO when the port is taken and was asked for. */
export async function startServer(context: Context, store: OpenStore, more: Pick<ServeOptions, 'ports' | 'follows'> = {}): Promise<Served> {
  // Loaded when it is first needed: with the server, any other command would take twice as long to start.
  const { serve } = await import('../server/serve.ts');
  return listenSomewhere(context, (place) => serve(store, { ...more, log: context.log, ...place }));
}

/** On the port that was given, else on the next that is free. Throws IO when the port is taken and was asked for. */
export async function listenSomewhere<S>(
  context: Context,
  serveAt: (place: Required<Pick<ServeOptions, 'port'>> & Pick<ServeOptions, 'host'>) => Promise<S>,
): Promise<S> {
  const { options, settings, log } = context;
  const flags: ServerFlags = options;
  const given = givenPort(context);
  const host = flags.host === undefined ? {} : { host: flags.host };
  if (given !== undefined) return serveAt({ ...host, port: given });
  const usual = settings.config.server.port;
  for (let port = usual; ; port++) {
    try {
      const served = await serveAt({ ...host, port });
      if (port !== usual)
        log.info('server', 'port taken', `port ${usual} is taken, perhaps by another unspent; serving on ${port}`, { port });
      return served;
    } catch (error) {
      if (!isUnspentError(error, 'IO') || error.meta['taken'] !== true || port === usual + PORTS_TRIED) throw error;
    }
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > PORT_MAX)
    throw new UnspentError('USAGE', `--port is a whole number from 0 to ${PORT_MAX}, not '${text.slice(0, 40)}'`);
  return Number(text);
}

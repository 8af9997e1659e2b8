/**
 * The server beside a follower: on the port that was given or, without one,
 * on the next that is free.
 */
import { createServer, type Server } from 'node:net';
import { type Config, isGiven } from '../config/schema.ts';
import type { Family } from '../families/family.ts';
import { listenOn } from '../server/http/listen.ts';
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

/** Before a store is made or changed: throws IO when a port is taken that was asked for. `family` null: it is not known yet. */
export async function checkPorts(context: Context, family: Pick<Family, 'wireShapes'> | null): Promise<void> {
  if (!isServed(context)) return;
  const { config } = context.settings;
  const host = (context.options as ServerFlags).host ?? config.server.host;
  const port = givenPort(context) ?? 0;
  if (port !== 0) {
    await probe((server) => {
      return new Promise<void>((resolve, reject) => {
        server.once('error', (error) => reject(cannotListen(error, host, port)));
        server.listen(port, host, resolve);
      });
    });
  }
  for (const [setting, place] of Object.entries(shapePorts(config, family?.wireShapes ?? [], host))) {
    await probe((server) => listenOn(server, place.host, place.port, setting));
  }
}

async function probe(listen: (server: Server) => Promise<void>): Promise<void> {
  const server = createServer();
  await listen(server);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}

/** Ports of the wire shapes, by their settings: those in the section of each whose name ends with `port`. */
function shapePorts(config: Config, shapes: readonly string[], serverHost: string): Record<string, { host: string; port: number }> {
  const sections = config as unknown as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  const found: Record<string, { host: string; port: number }> = {};
  for (const shape of shapes) {
    const section = sections[shape] ?? {};
    const host = typeof section['host'] === 'string' ? section['host'] : serverHost;
    for (const [name, port] of Object.entries(section)) {
      if (/port$/i.test(name) && typeof port === 'number' && port !== 0) found[`${shape}.${name}`] = { host, port };
    }
  }
  return found;
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

/**
 * The wire shapes: what a server answers besides our own API, so that wallets
 * and libraries find what they already speak. A new one is a folder of its own,
 * a line in `wire-shapes.ts`, and its name in the descriptor of each family
 * whose stores answer in it (`families/`).
 */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/schema.ts';
import type { Network } from '../families/family.ts';
import type { ServerContext } from './context.ts';
import type { ServerState } from './http/server-state.ts';
import * as wireShapes from './wire-shapes.ts';

/** Ports of one wire shape, by what is spoken on each. Undefined: nobody listens; asked for 0: any port that is free. */
export type ShapePorts = Readonly<Record<string, number | undefined>>;

/** A wire shape that listens, on the ports it says. */
export interface ShapeServer {
  readonly ports: ShapePorts;
  /** When it resolves, nothing of it reads any more. */
  close(): Promise<void>;
}

/** For wire shapes that are not HTTP, or want to be at the root of a server: they listen on ports of their own. */
export interface ShapeListener {
  /** The ports that the settings ask for. */
  ports(config: Config): ShapePorts;
  /** Throws CONFIG for settings that are not safe or not enough, IO where the system does not let it listen. */
  open(context: ServerContext, ports: ShapePorts, app: FastifyInstance, log: (line: string) => void): Promise<ShapeServer>;
}

export interface WireShape {
  /** As the descriptors of families name it. */
  readonly name: string;
  /** Adds its routes to the HTTP server. */
  routes?(app: FastifyInstance, state: ServerState): void;
  readonly listener?: ShapeListener;
}

const WIRE_SHAPES: readonly WireShape[] = Object.values(wireShapes);

/** Those that stores of a network answer in. */
export function shapesOf({ family }: Pick<Network, 'family'>): readonly WireShape[] {
  return WIRE_SHAPES.filter(({ name }) => family.wireShapes.includes(name));
}

/** By the name of the shape. */
export type PortsByShape = Readonly<Record<string, ShapePorts>>;

/** The ports to listen on: those that were given, and otherwise those of the settings. */
export function portsOf(network: Network, config: Config, given: PortsByShape = {}): PortsByShape {
  const wanted: Record<string, ShapePorts> = {};
  for (const { name, listener } of shapesOf(network)) {
    if (listener === undefined) continue;
    const asked = Object.entries(given[name] ?? {}).filter(([, port]) => port !== undefined);
    wanted[name] = { ...listener.ports(config), ...Object.fromEntries(asked) };
  }
  return wanted;
}

/** Opens every shape that has a port to listen on; each is in `opened` as soon as it listens, for whoever closes them if the next one fails. */
export async function openShapes(
  context: ServerContext,
  app: FastifyInstance,
  ports: PortsByShape,
  opened: Map<string, ShapeServer>,
  log: (line: string) => void,
): Promise<void> {
  for (const { name, listener } of shapesOf(context.network)) {
    const wanted = ports[name] ?? {};
    if (listener === undefined || Object.values(wanted).every((port) => port === undefined)) continue;
    opened.set(name, await listener.open(context, wanted, app, log));
  }
}

/**
 * For wire shapes whose clients expect to find them at the root of a server: a
 * port of its own, on which the HTTP server answers as it does below a prefix.
 * It is the same server, with the same guards, limits and metrics; only the
 * paths are shorter.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/schema.ts';
import type { ShapeListener } from '../shapes.ts';
import { listenOn } from './listen.ts';

const { createServer } = process.getBuiltinModule('node:http');

export interface RootPort {
  /** Where the shape is on the HTTP server, such as `/kupo`. */
  readonly prefix: string;
  /** The setting that has the port, for whoever cannot have it. */
  readonly setting: string;
  /** 0: none. */
  port(config: Config): number;
}

/** Its one port is named `http`. */
export function rootListener({ prefix, setting, port: portOf }: RootPort): ShapeListener {
  return {
    ports: (config) => ({ http: portOf(config) || undefined }),
    async open({ config }, { http = 0 }, app) {
      const server = createServer((request, response) => forward(app, prefix, request, response));
      server.on('upgrade', (request, socket, head) => {
        request.url = `${prefix}${request.url}`;
        if (!app.server.emit('upgrade', request, socket, head)) socket.destroy();
      });
      copyBounds(app, server);
      const { host } = config.server;
      await listenOn(server, host, http, setting);
      return { ports: { http: (server.address() as AddressInfo).port }, close: () => close(server) };
    },
  };
}

function forward(app: FastifyInstance, prefix: string, request: IncomingMessage, response: ServerResponse): void {
  // A target that names a host is taken as it is, and refused unless it is ours.
  if (request.url?.startsWith('/')) request.url = `${prefix}${request.url}`;
  app.routing(request, response);
}

/** The bounds on connections, time and bytes are those of the HTTP server, and its connections count among them. */
function copyBounds(app: FastifyInstance, server: Server): void {
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = app.server;
  Object.assign(server, { headersTimeout, requestTimeout, keepAliveTimeout, timeout });
  server.on('clientError', (error, socket) => app.server.emit('clientError', error, socket));
  app.connections.watch(server);
}

function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  return closed;
}

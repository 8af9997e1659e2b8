/**
 * JSON-RPC over WebSocket: each message is handed to the HTTP server as a `POST`
 * of its own, with the headers that the connection was opened with. So the same
 * guards, limits and metrics hold for both. Messages of a connection are answered
 * one after the other, in their order.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { OGMIOS_MESSAGES_MAX } from '../../../util/limits.ts';

/** Asks for what everybody may know: whether this client may ask at all is what the guards say. */
const PROBE = JSON.stringify({ jsonrpc: '2.0', method: 'queryNetwork/startTime' });

export function serveWebSockets(app: FastifyInstance, path: string, messageBytesMax: number): void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax, perMessageDeflate: false });
  app.server.on('upgrade', async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // The connection may break at any moment; then there is nobody to tell.
    socket.on('error', () => socket.destroy());
    const asked = (request.url ?? '').split('?')[0].replace(/\/+$/, '');
    if (asked !== path) return refuse(socket, 404);
    const { statusCode } = await post(app, path, request, PROBE);
    if (statusCode !== 200) return refuse(socket, statusCode);
    sockets.handleUpgrade(request, socket, head, (client) => serve(client, (text) => post(app, path, request, text)));
  });
  app.addHook('preClose', async () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
}

function post(app: FastifyInstance, url: string, { headers }: IncomingMessage, payload: string) {
  const { host, origin, authorization } = headers;
  const given = Object.fromEntries(Object.entries({ host, origin, authorization }).filter(([, value]) => value !== undefined));
  return app.inject({ method: 'POST', url, headers: { ...given, 'content-type': 'application/json' }, payload });
}

function serve(client: WebSocket, ask: (text: string) => Promise<{ readonly payload: string }>): void {
  const waiting: string[] = [];
  let isAsking = false;
  const next = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      const { payload } = await ask(text);
      if (client.readyState === client.OPEN) client.send(payload);
      if (waiting.length < OGMIOS_MESSAGES_MAX) client.resume();
    }
    isAsking = false;
  };
  client.on('message', (data) => {
    waiting.push(data.toString());
    if (waiting.length >= OGMIOS_MESSAGES_MAX) client.pause();
    void next();
  });
  client.on('error', () => client.terminate());
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

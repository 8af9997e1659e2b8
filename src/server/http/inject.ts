/**
 * Requests that the server makes of itself for a client that speaks something
 * else, such as messages of a WebSocket. Such a request has no connection of its
 * own that could break, so that whoever makes it says whether its client is gone.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';

const clients = new AsyncLocalStorage<() => boolean>();

/** The request has every guard and limit of one that came over a connection; what it does ends when `isGone`. */
export function injectFor(isGone: () => boolean, app: FastifyInstance, options: InjectOptions): Promise<LightMyRequestResponse> {
  return clients.run(isGone, () => app.inject(options));
}

/** Undefined: nobody was named. For requests without a connection; any other knows of its own. */
export function clientOfInjected(): (() => boolean) | undefined {
  return clients.getStore();
}

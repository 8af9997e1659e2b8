/**
 * The floor of `bench http`: a bare fastify route that gives the same bytes for
 * every request, in a worker thread like the real server.
 */
import { parentPort, workerData } from 'node:worker_threads';
import fastify from 'fastify';

const { body } = workerData as { readonly body: string };
const app = fastify({ logger: false });
app.get('/api/v1/utxos/:tx/:index', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(body));
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
parentPort?.postMessage(typeof address === 'object' ? address?.port : null);

/**
 * UTxO RPC (v1alpha), as far as a store and the node behind it can answer: gRPC
 * over HTTP/2, on the port `utxorpc.port` alone. What speaks it is in `grpc/`,
 * which is loaded when there is a port: docs/reference/utxorpc.md says what is
 * answered.
 */
import type { WireShape } from '../../shapes.ts';
import { evaluationOf } from '../evaluation/tx-evaluation.ts';
import { loadGrpc } from './load-grpc.ts';

/** Its one port is named `grpc`. */
export const utxorpc: WireShape = {
  name: 'utxorpc',
  listener: {
    ports: ({ utxorpc: { port } }) => ({ grpc: port || undefined }),
    async open(context, { grpc = 0 }, app, log) {
      const { openGrpc } = await loadGrpc();
      return openGrpc({ context, evaluation: evaluationOf(app, context), log }, grpc);
    },
  },
};

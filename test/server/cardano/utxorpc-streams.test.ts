/** Streams of UTxO RPC: what they hold is given back when they are over, whoever ends them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { UtxoRpcBackend } from '../../../src/server/cardano/utxorpc/grpc/backend.ts';
import { until } from '../../support/patience.ts';
import { Served } from '../../support/served.ts';

/** Numbers, and whether whoever gives them has ended. */
function numbers(): { readonly source: AsyncGenerator<number, void, void>; readonly state: { isEnded: boolean } } {
  const state = { isEnded: false };
  async function* count(): AsyncGenerator<number, void, void> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      state.isEnded = true;
    }
  }
  return { source: count(), state };
}

describe('a stream', () => {
  let served: Served;
  before(async () => {
    served = await Served.open({ blocks: 1, server: { streamsMax: 1 } });
  });
  after(() => served.close());
  const backendOf = (stalledMs?: number): UtxoRpcBackend =>
    new UtxoRpcBackend({ context: served.context, evaluation: served.app.txEvaluation! }, stalledMs);

  test('ends its source when its client takes nothing for long', async () => {
    const backend = backendOf(1);
    const { source, state } = numbers();
    const stream = backend.stream(source, new AbortController().signal);
    assert.equal((await stream.next()).value, 0);
    // The timer alone does not keep the process.
    await until(() => state.isEnded, 'the source ended');
    await backend.settled();
    await assert.rejects(stream.next(), { code: 'EXPIRED' });
  });

  test('ends its source when its client is gone, though nobody asks for more', async () => {
    const backend = backendOf();
    const gone = new AbortController();
    const { source, state } = numbers();
    const stream = backend.stream(source, gone.signal);
    assert.equal((await stream.next()).value, 0);
    await assert.rejects(backend.stream(numbers().source, gone.signal).next(), { code: 'BUSY' });
    gone.abort();
    await backend.settled();
    assert.ok(state.isEnded);
    const another = backend.stream(numbers().source, new AbortController().signal);
    assert.equal((await another.next()).value, 0, 'there is room again');
    await another.return();
  });
});

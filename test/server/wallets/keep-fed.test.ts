/** A feed of wallets that fails is begun again, unless waiting does not mend it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepFed } from '../../../src/server/wallets/keep-fed.ts';
import { type ErrorCode, UnspentError } from '../../../src/util/errors.ts';

async function run(codes: readonly (ErrorCode | null)[]): Promise<{ told: string[]; begun: number }> {
  const stop = new AbortController();
  const told: string[] = [];
  let begun = 0;
  await keepFed(
    async () => {
      const code = codes[begun++];
      if (code === undefined) return stop.abort();
      if (code !== null) throw new UnspentError(code, `it is ${code}`);
    },
    { signal: stop.signal, onFailure: ({ code }, again) => told.push(`${code} ${again}`), pauseMs: [1, 4] },
  );
  return { told, begun };
}

describe('a feed of wallets', () => {
  it('comes back when the database does, and whatever else failed', async () => {
    const { told, begun } = await run(['DATABASE_BUSY', 'DATABASE_BUSY', 'DATABASE_FAILED', 'CHAIN_INCONSISTENT', 'EXPIRED']);
    assert.equal(begun, 6);
    assert.deepEqual([...new Set(told)].sort(), ['CHAIN_INCONSISTENT true', 'DATABASE_BUSY true', 'DATABASE_FAILED true', 'EXPIRED true']);
  });

  it('ends with what is set wrongly, and with the signal', async () => {
    assert.deepEqual(await run(['DATABASE_BUSY', 'NETWORK_WRONG', 'DATABASE_BUSY']), {
      told: ['DATABASE_BUSY true', 'NETWORK_WRONG false'],
      begun: 2,
    });
    assert.deepEqual(await run([]), { told: [], begun: 1 });
  });

  it('does not hide a fault of the program', async () => {
    const stop = new AbortController();
    const broken = keepFed(() => Promise.reject(new TypeError('oops')), { signal: stop.signal, onFailure: () => {} });
    await assert.rejects(broken, TypeError);
  });
});

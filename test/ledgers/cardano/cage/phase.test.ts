/** What may be done with a request at each moment, at the edges of its phases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CageRequest, requestPhase } from '../../../../src/ledgers/cardano/cage/index.ts';
import { utf8 } from '../../../../src/util/bytes.ts';

const request: CageRequest = {
  ...{ token: new Uint8Array(32), owner: new Uint8Array(28), key: utf8('k'), operation: { type: 'insert', value: utf8('v') } },
  terms: { tip: 1n, submittedAt: 1000n },
};
const terms = { tip: 1n, processTime: 60n, retractTime: 30n };

test('the phase of a request changes at the millisecond that the state says', () => {
  const phases = [999n, 1000n, 1059n, 1060n, 1089n, 1090n].map((now) => requestPhase(request, terms, now));
  assert.deepEqual(phases, ['dishonest', 'process', 'process', 'retract', 'retract', 'reject']);
  assert.equal(requestPhase({ ...request, terms: null }, null, 5n), null);
});

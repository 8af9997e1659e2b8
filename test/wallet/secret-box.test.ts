/** Secrets under a passphrase: what opens a box, what does not, and what it costs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toHex, utf8 } from '../../src/util/bytes.ts';
import { SECRET_BYTES_MAX, SECRET_COST_LOG2_MAX } from '../../src/util/limits.ts';
import { openSecret, resealSecret, sealSecret } from '../../src/wallet/secret-box.ts';

const binding = { walletId: 'w1', purpose: 'seed' };
/** 1 MB and some milliseconds: what is tested is the box, not its cost. */
const cheap = { costLog2: 10 };

describe('a box', () => {
  const secret = utf8('a secret');

  test('opens with its passphrase, for its wallet and purpose', async () => {
    const box = await sealSecret(secret, 'correct horse', binding, cheap);
    assert.deepEqual(new Uint8Array(await openSecret(box, 'correct horse', binding)), secret);
    assert.ok(!toHex(box).includes(toHex(secret)));
    const wrong = { code: 'PASSPHRASE_WRONG' };
    await assert.rejects(openSecret(box, 'correct horsf', binding), wrong);
    await assert.rejects(openSecret(box, '', binding), wrong);
    await assert.rejects(openSecret(box, 'correct horse', { ...binding, walletId: 'w2' }), wrong);
    await assert.rejects(openSecret(box, 'correct horse', { ...binding, purpose: 'script' }), wrong);
    await assert.rejects(openSecret(box, 'correct horse', { walletId: 'w1s', purpose: 'eed' }), wrong, 'what is bound has lengths');
  });

  test('is another one each time', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => sealSecret(secret, 'p', binding, cheap)));
    assert.notDeepEqual(a.subarray(4), b.subarray(4));
  });

  test('opens with a passphrase that was typed in other code points', async () => {
    const box = await sealSecret(secret, 'Zu\u0308rich \ufb01', binding, cheap);
    assert.deepEqual(new Uint8Array(await openSecret(box, 'Z\u00fcrich fi', binding)), secret);
  });

  test('whose bytes were changed does not open, wherever', async () => {
    const box = await sealSecret(secret, 'p', binding, cheap);
    for (let at = 0; at < box.length; at++) {
      const changed = box.slice();
      changed[at] ^= 1;
      const code = at < 4 && at !== 1 ? 'SECRET_INVALID' : 'PASSPHRASE_WRONG';
      await assert.rejects(openSecret(changed, 'p', binding), { code }, `byte ${at}`);
    }
    for (const length of [0, 3, 47]) await assert.rejects(openSecret(box.subarray(0, length), 'p', binding), { code: 'SECRET_INVALID' });
    await assert.rejects(openSecret(box.subarray(0, -1), 'p', binding), { code: 'PASSPHRASE_WRONG' });
  });

  test('that asks for all memory is refused before it gets any', async () => {
    const box = await sealSecret(secret, 'p', binding, cheap);
    for (const [at, value] of [
      [1, SECRET_COST_LOG2_MAX + 1],
      [1, 255],
      [1, 0],
      [2, 255],
      [3, 255],
    ]) {
      const changed = box.slice();
      changed[at] = value;
      await assert.rejects(openSecret(changed, 'p', binding), { code: 'SECRET_INVALID' });
    }
  });

  test('gets another passphrase and another cost', async () => {
    const box = await sealSecret(secret, 'old', binding, cheap);
    const next = await resealSecret(box, 'old', 'new', binding, { costLog2: 11 });
    assert.equal(next[1], 11);
    assert.deepEqual(new Uint8Array(await openSecret(next, 'new', binding)), secret);
    await assert.rejects(openSecret(next, 'old', binding), { code: 'PASSPHRASE_WRONG' });
    await assert.rejects(resealSecret(box, 'no', 'new', binding, cheap), { code: 'PASSPHRASE_WRONG' });
  });

  test('is not made of nothing', async () => {
    await assert.rejects(sealSecret(secret, '', binding, cheap), { code: 'SECRET_INVALID' });
    await assert.rejects(sealSecret(new Uint8Array(SECRET_BYTES_MAX + 1), 'p', binding, cheap), { code: 'SECRET_INVALID' });
    await assert.rejects(sealSecret(secret, 'p', binding, { costLog2: 9 }), { code: 'SECRET_INVALID' });
  });

  test('costs 128 MB unless it is asked otherwise', async () => {
    assert.deepEqual([...(await sealSecret(secret, 'p', binding)).subarray(0, 4)], [1, 17, 8, 1]);
  });
});

/** The token of the wallets: made once, for its owner alone, and never empty. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../src/config/load.ts';
import { walletPageUrl, walletToken } from '../../../src/server/wallets/wallet-token.ts';
import { temporary } from '../../cli/run.ts';

const { wallet } = loadConfig({ env: {} }).config;
const config = (data: string, token = '') => ({ data, wallet: { ...wallet, token } });

describe('the token of the wallets', () => {
  it('is that of the settings, or of a file that only its owner reads', () => {
    const data = temporary();
    mkdirSync(data, { recursive: true });
    assert.equal(walletToken(config(data, 'set')), 'set');
    assert.deepEqual(readdirSync(data), []);
    const token = walletToken(config(data));
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.equal(walletToken(config(data)), token);
    assert.deepEqual(readdirSync(data), ['wallets.token']);
    assert.equal(statSync(join(data, 'wallets.token')).mode & 0o777, 0o600);
    assert.equal(walletPageUrl('http://127.0.0.1:1/', config(data, 'a b')), 'http://127.0.0.1:1/#wallet-token=a%20b');
  });

  it('is refused where the file has none, because everybody would have it', () => {
    const data = temporary();
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'wallets.token'), '\n');
    assert.throws(() => walletToken(config(data)), { code: 'IO', message: /is empty/ });
  });
});

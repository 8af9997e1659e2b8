/**
 * `devnet`, `relay` and `start` as a user runs them: they say how to connect,
 * answer what they are told, follow each other, and stop when asked to.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { document, failure, temporary } from '../../../cli/run.ts';
import { Running } from '../../../cli/running.ts';
import { fixtures, needsFixtures } from '../../../support/fixtures.ts';

describe('unspent devnet', () => {
  it('answers its control, and a follower ends up with its digest', async (t) => {
    const cwd = temporary();
    const devnet = new Running(t, ['devnet', '--port', '0', '--interval', '0', '--socket', 'node.socket', '--blocks', '30'], cwd);
    const [, url] = await devnet.says(/(n2n:\/\/127\.0\.0\.1:\d+)/);
    const [, address] = await devnet.says(/funded\s+(addr_test1\S+)/);
    for (const name of ['byron-genesis.json', 'shelley-genesis.json', 'payment.skey', 'payment.vkey', 'payment.addr']) {
      assert.ok(existsSync(join(cwd, 'devnet-genesis', name)), name);
    }
    assert.equal(readFileSync(join(cwd, 'devnet-genesis', 'payment.addr'), 'utf8').trim(), address);

    await devnet.ask('mine 20', /mined; the tip is height 49/);
    await devnet.ask('fork 5', /5 blocks dropped, back to slot \d+; the tip is height 50/);
    await devnet.ask('rollback 3', /3 blocks dropped.*the tip is height 47/);
    await devnet.ask(`fund ${address} 12.5`, /12\.500000 ada to addr_test1/);
    await devnet.ask('status', /1 transaction waiting, 0 clients/);
    await devnet.ask('pause', /paused/);
    await devnet.ask('resume', /blocks come by `mine N`/);
    await devnet.ask('mine 1', /height 48/);
    await devnet.ask('mine nothing', /cannot: the number of blocks/);
    await devnet.ask('dance', /no command 'dance'/);
    await devnet.ask('fund', /usage: fund ADDRESS AMOUNT/);
    await devnet.ask('help', /fork N.*\n/);
    const [, digest] = await devnet.ask('status', /digest ([0-9a-f]{64})/);

    const cages = ['--cage-enabled', 'true', '--cage-deployments', 'devnet'];
    const common = ['--network', 'devnet', '--genesis', 'devnet-genesis', ...cages];
    for (const [i, source] of [url, 'n2c:node.socket'].entries()) {
      await document(['sync', '--source', source, '--data', `store${i}`, ...common], { cwd });
      const found = await document<{ digest: string }>(['digest', '--data', `store${i}`], { cwd });
      assert.equal(found.digest, digest);
      await document(['verify', '--data', `store${i}`], { cwd });
    }
    const { utxos } = await document<{ utxos: { lovelace_amount: string }[] }>(['query', 'address', address, '--data', 'store0'], { cwd });
    assert.deepEqual(utxos.map((utxo) => utxo.lovelace_amount).sort(), ['1000000000000', '12500000']);
    devnet.tell('quit');
    assert.equal((await devnet.end).code, 0);
  });

  it('runs without anybody at its input, in JSON, and remembers itself in a journal', async (t) => {
    const cwd = temporary();
    const args = ['devnet', '--port', '0', '--interval', '0.05', '--forks', '4', '--journal', 'journal', '--json', '--quiet'];
    const first = new Running(t, args, cwd);
    await first.says(/\n}\n/);
    const told = JSON.parse(first.out) as { magic: number; n2n: string; address: string; tip: { height: number } };
    assert.equal(told.magic, 42);
    await document(['sync', '--source', told.n2n, '--network', 'devnet', '--genesis', 'devnet-genesis', '--until', 'height:0'], { cwd });
    const { code, stderr } = await first.interrupt();
    assert.equal(code, 130);
    assert.match(stderr, /^unspent: stopped; the tip is height/);
    const again = new Running(t, ['devnet', '--port', '0', '--interval', '0', '--journal', 'journal', '--json', '--quiet'], cwd);
    await again.says(/\n}\n/);
    assert.ok((JSON.parse(again.out) as typeof told).tip.height > 0);
    await again.interrupt();
  });

  it('refuses what it does not understand', async () => {
    for (const flags of [
      ['--port', '70000'],
      ['--interval', 'x'],
      ['--k', '0'],
      ['--seed', '-1'],
      ['--blocks', '1.5'],
    ]) {
      await failure(['devnet', ...flags], 'USAGE', 2, { cwd: temporary() });
    }
  });
});

describe('unspent start', () => {
  it('without arguments shows blocks, a rollback, and an address; stops on Ctrl-C and goes on', async (t) => {
    const cwd = temporary();
    const first = new Running(t, ['start'], cwd);
    const [, address] = await first.says(/try\s+query address (addr_test1\S+)/);
    // The devnet begins with 20 blocks; a follower that was slow to start finds more of them.
    await first.remarks(/\d+ blocks up to \d+, slot/);
    await first.remarks(/block \d+, slot/);
    // The devnet pays others now and then, and this address, too.
    await first.ask(`query address ${address}`, /10,000\.000000 .*\d unspent outputs? worth/s);
    await first.ask('fork 4', /4 blocks dropped/);
    await first.remarks(/rollback: \d+ blocks? undone, back at height/);
    await first.ask('status', /last rollback\s+\d+ blocks? to height/);
    await first.ask('status', /peer\s+n2n:\/\/127\.0\.0\.1:\d+, following \(N2N 15\)/);
    await first.ask('digest', /^[0-9a-f]{64}\n\d+ unspent outputs/m);
    await first.ask('query address nonsense', /cannot: /);
    const { code, stderr } = await first.interrupt();
    assert.equal(code, 130);
    const [, height] = /stopped at height (\d+)/.exec(stderr)!;

    const second = new Running(t, ['start'], cwd);
    const [, grown] = await second.remarks(/(?:block|blocks up to) (\d+), slot/);
    assert.ok(Number(grown) > Number(height), `${grown} after ${height}`);
    second.tell('quit');
    assert.equal((await second.end).code, 0);
    await document(['verify'], { cwd });
    const { projections } = await document<{ projections: string[] }>(['status'], { cwd });
    assert.ok(projections.includes('cage'), 'the cages of the devnet are followed');
  });

  it('says what is missing', async () => {
    const cwd = temporary();
    await failure(['start', '--network', 'preview'], 'USAGE', 2, { cwd });
    await failure(['start', '--network', 'preview', '--source', 'gopher:x'], 'SOURCE_UNKNOWN', 2, { cwd });
    await document(['sync', '--source', 'devnet:?blocks=5', '--data', 'other'], { cwd });
    await failure(['start', '--data', 'other'], 'SOURCE_FORK', 1, { cwd });
  });
});

describe('unspent relay', () => {
  it('feeds a follower from a folder', needsFixtures, async (t) => {
    const cwd = temporary();
    const folder = fixtures('cardano', 'immutable', 'devnet-conway');
    const genesis = fixtures('cardano', 'genesis');
    const preview = fixtures('cardano', 'immutable', 'preview-from-genesis');
    const relay = new Running(t, ['relay', '--network', 'preview', '--source', `immutable:${preview}`, '--port', '0'], cwd);
    const [, url] = await relay.says(/(n2n:\/\/\S+)/);
    const follower = new Running(t, ['start', '--network', 'preview', '--source', url], cwd);
    await follower.remarks(/height [\d,]+, slot [\d,]+: [\d,]+ blocks and \S+.* behind the tip|blocks up to/);
    follower.tell('quit');
    assert.equal((await follower.end).code, 0);
    assert.equal((await relay.interrupt()).code, 130);
    await failure(['relay', '--source', `immutable:${folder}`, '--genesis', genesis], 'NETWORK_NEEDED', 3, { cwd });
    await failure(['relay', '--source', 'devnet:', '--network', 'preview'], 'USAGE', 2, { cwd });
    await failure(['relay', '--source', `immutable:${cwd}`, '--network', 'preview'], 'SOURCE_UNREACHABLE', 4, { cwd });
  });
});

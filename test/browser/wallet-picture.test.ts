/**
 * The picture of a wallet in the docs: what a newcomer sees who runs `unspent
 * start --network bitcoin-regtest` and opens the link that it prints. Only when
 * asked to (UNSPENT_TEST_UPDATE=1) or when it is missing, as the other pictures.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { temporary } from '../cli/run.ts';
import { Running } from '../cli/running.ts';
import { launch, openTab, reads, withoutChromium } from './browser.ts';

const file = resolve(import.meta.dirname, '../../docs/images/page-wallet.png');
const wanted = process.env['UNSPENT_TEST_UPDATE'] !== undefined || !existsSync(file);
const why = withoutChromium || (wanted ? false : 'the picture is there; UNSPENT_TEST_UPDATE=1 takes it again');

describe('picture of a wallet for the docs', () => {
  test('page-wallet', { skip: why }, async (t) => {
    const start = new Running(t, ['start', '--network', 'bitcoin-regtest', '--port', '0'], temporary());
    const [, link] = await start.says(/wallet\s+open (\S+)\n/);
    const browser = await launch();
    t.after(() => browser.close());
    const { page, close } = await openTab(browser, link);
    await reads(page, 'table', 'demo');
    await page.click('text=demo');
    await reads(page, '.reorgs', /rent, with a higher fee.*came back/);
    await page.screenshot({ path: file, fullPage: true });
    await close();
    await start.interrupt();
  });
});

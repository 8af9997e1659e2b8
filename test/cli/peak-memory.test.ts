/** The peak of a process is its own, however large the process was that started it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { peakMemoryBytes } from '../../src/cli/peak-memory.ts';

const MIB = 1024 * 1024;

describe('peak memory', () => {
  test('of a process that a large one started', { skip: process.platform === 'linux' ? false : 'other systems have no such count' }, () => {
    const module = new URL('../../src/cli/peak-memory.ts', import.meta.url).href;
    const tell = `import(${JSON.stringify(module)}).then(({ peakMemoryBytes }) => console.log(peakMemoryBytes()))`;
    const large = `Buffer.alloc(${400 * MIB}, 1); const { spawnSync } = require('node:child_process');
      process.stdout.write(spawnSync(process.execPath, ['-e', ${JSON.stringify(tell)}], { encoding: 'utf8' }).stdout);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', large], { encoding: 'utf8' });
    const peak = Number(stdout);
    assert.ok(peak > 10 * MIB && peak < 300 * MIB, `${peak} bytes: ${stderr}`);
  });

  test('is not below what the process has', () => {
    assert.ok(peakMemoryBytes() >= 0.5 * process.memoryUsage.rss());
  });
});

/** Which engine a store gets, and that it keeps it. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ColumnSpec } from '../../src/engine/engine.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { thisMachine, whyRocksCannotLoad } from '../../src/engine/rocks/support.ts';

const COLUMNS: readonly ColumnSpec[] = [{ name: 'a', access: 'point', weight: 1 }];
const FACTORY = new URL('../../src/engine/open.ts', import.meta.url).href;

/** Of a processor that has what RocksDB's build uses, and of one from before 2013. */
const NEW = 'processor\t: 0\nflags\t\t: fpu sse2 avx avx2 bmi1 bmi2 fma f16c movbe abm aes\n';
const OLD = 'processor\t: 0\nflags\t\t: fpu sse2 avx f16c aes\n';

let root: string;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'unspent-kinds-'));
});
after(() => rmSync(root, { recursive: true }));

/** What `openEngineIn` does on another machine: the kind it opens, or its error. */
function elsewhere(directory: string, kind: string, change: string): string {
  const script = `${change}
    const { openEngineIn } = await import(${JSON.stringify(FACTORY)});
    try {
      const engine = await openEngineIn(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS)}, { kind: '${kind}', createIfMissing: true });
      console.log(engine.stats().kind);
      await engine.close();
    } catch (error) {
      console.log(error.code, error.message);
    }`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  equal(status, 0, stderr);
  return stdout.trim();
}

const ON_ARM = "Object.defineProperty(process, 'arch', { value: 'arm64' });";

describe('the engine of a store', () => {
  it('is RocksDB where its binding runs', () => {
    equal(whyRocksCannotLoad({ platform: 'linux', arch: 'x64', cpuInfo: NEW }), null);
    equal(whyRocksCannotLoad({ platform: 'darwin', arch: 'arm64', cpuInfo: null }), null);
    // A container without /proc: only loading it can tell.
    equal(whyRocksCannotLoad({ platform: 'linux', arch: 'x64', cpuInfo: null }), null);
  });

  it('is not RocksDB where there is no build of it, or its build would kill the process', () => {
    for (const [platform, arch] of [
      ['linux', 'arm64'],
      ['darwin', 'x64'],
      ['win32', 'x64'],
    ])
      match(whyRocksCannotLoad({ platform, arch, cpuInfo: null }) ?? '', new RegExp(`${platform}-${arch}`));
    match(whyRocksCannotLoad({ platform: 'linux', arch: 'x64', cpuInfo: OLD }) ?? '', /lacks avx2, bmi1, bmi2, fma, movbe, abm/);
  });

  it('is asked of the real processor', () => {
    const { platform, arch, cpuInfo } = thisMachine();
    deepEqual([platform, arch], [process.platform, process.arch]);
    if (platform === 'linux' && arch === 'x64') match(cpuInfo ?? '', /^flags/m);
  });

  it('is SQLite by itself on a machine without RocksDB, and RocksDB cannot be asked for there', () => {
    const directory = join(root, 'arm');
    equal(elsewhere(directory, 'auto', ON_ARM), 'sqlite');
    equal(elsewhere(directory, 'auto', ''), 'sqlite', 'and stays so where RocksDB runs');
    match(elsewhere(join(root, 'arm-rocks'), 'rocks', ON_ARM), /^STORE_ENGINE .*no build for/);
  });

  it('is SQLite by itself where the binding is there and cannot be loaded', () => {
    const hidden = join(root, 'not-a-binding.cjs');
    writeFileSync(hidden, "throw new Error('no native build was found');");
    const hide = `const { registerHooks } = await import('node:module');
      registerHooks({ resolve: (name, context, next) => name.startsWith('@nxtedition/rocksdb')
        ? { url: ${JSON.stringify(new URL(`file://${hidden}`).href)}, format: 'commonjs', shortCircuit: true } : next(name, context) });`;
    equal(elsewhere(join(root, 'unloadable'), 'auto', hide), 'sqlite');
    match(elsewhere(join(root, 'unloadable-rocks'), 'rocks', hide), /^STORE_ENGINE .*no native build was found/);
  });

  it('stays what it was made with, and another is STORE_ENGINE', async () => {
    const others = { rocks: 'sqlite', sqlite: 'rocks' } as const;
    for (const kind of ['rocks', 'sqlite'] as const) {
      const directory = join(root, kind);
      const made = await openEngineIn(directory, COLUMNS, { kind, createIfMissing: true });
      equal(made.handle.kind, kind);
      await made.close();
      await rejects(openEngineIn(directory, COLUMNS, { kind: others[kind], createIfMissing: true }), {
        code: 'STORE_ENGINE',
        message: new RegExp(`made with the engine '${kind}', and engine.kind says '${others[kind]}'`),
      });
      const again = await openEngineIn(directory, COLUMNS, { kind: 'auto', createIfMissing: true });
      equal(again.handle.kind, kind);
      await again.close();
    }
    match(elsewhere(join(root, 'rocks'), 'auto', ON_ARM), /^STORE_ENGINE the engine 'rocks' does not run here/);
  });

  it('is damaged where files of both are there', async () => {
    writeFileSync(join(root, 'sqlite', 'CURRENT'), 'MANIFEST-000001\n');
    await rejects(openEngineIn(join(root, 'sqlite'), COLUMNS, { createIfMissing: true }), {
      code: 'STORE_DAMAGED',
      message: /files of rocks and sqlite/,
    });
  });
});

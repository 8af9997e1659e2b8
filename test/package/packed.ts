/**
 * The package as strangers get it: `npm pack`, unpacked into the `node_modules` of
 * an empty project. Its run-time dependencies are linked from ours, and no others,
 * so it works without a network and still misses whatever the package forgets to
 * declare, to export or to ship.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** What a strict project of our time has; `skipLibCheck` is off, so that our declarations are checked, too. */
const COMPILER_OPTIONS = {
  target: 'es2024',
  module: 'nodenext',
  lib: ['es2024', 'esnext.disposable'],
  types: ['node'],
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
};

/** What a project installs that uses wallets, of the optional peer dependencies. */
const WALLET_PACKAGES = ['kysely', '@scure/bip32', '@scure/bip39', '@scure/btc-signer'];

/** As `npm pack` builds, without checking types once more, which takes three quarters of the time: that is what `npm run types` is for. */
function build(): void {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  assert.equal(scripts['prepack'], 'npm run build');
  const script = (scripts['build'] ?? '').replaceAll('tsc ', 'tsc --noCheck ');
  const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH']}` };
  const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: root, env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An empty project in a directory of its own, with the packed package installed. */
export class PackedProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'unspent-packed-'));
  readonly installed = join(this.folder, 'node_modules', 'unspent');
  /** What `npm pack` made. */
  readonly archive: string;

  constructor() {
    build();
    const packed = this.run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', this.folder], root);
    assert.equal(packed.status, 0, packed.stderr);
    const archive = packed.stdout.trim().split('\n').at(-1) ?? '';
    this.archive = join(this.folder, archive);
    mkdirSync(this.installed, { recursive: true });
    const unpacked = this.run('tar', ['-xzf', archive, '-C', this.installed, '--strip-components=1']);
    assert.equal(unpacked.status, 0, unpacked.stderr);
    const { dependencies } = JSON.parse(readFileSync(join(this.installed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const name of [...Object.keys(dependencies), '@types/node', ...WALLET_PACKAGES]) this.link(name);
    this.write('package.json', JSON.stringify({ private: true, type: 'module' }));
    this.write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }));
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  typeCheck(): Finished {
    return this.run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', this.folder]);
  }

  /** Runs one of its programs, in a directory of its own. */
  runProgram(name: string): Finished {
    const cwd = join(this.folder, `run-${name}`);
    mkdirSync(cwd);
    return this.run(process.execPath, ['--disable-warning=ExperimentalWarning', join(this.folder, name)], cwd);
  }

  run(command: string, args: readonly string[], cwd = this.folder, more: NodeJS.ProcessEnv = {}): Finished {
    // Settings in the environment of the tests are not those of a stranger.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('UNSPENT_') && !name.startsWith('NODE_')),
    );
    // Its programs load the same modules one after the other.
    env['NODE_COMPILE_CACHE'] = join(this.folder, 'compiled');
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: { ...env, ...more }, encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private link(name: string): void {
    const path = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), path);
  }
}

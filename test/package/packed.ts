/**
 * The package as strangers get it: `npm pack`, unpacked into the `node_modules` of
 * an empty project. Its run-time dependencies are linked from ours, and no others,
 * so it works without a network and still misses whatever the package forgets to
 * declare, to export or to ship.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { ended, type Result } from '../cli/run.ts';

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

/** Settings in the environment of the tests are not those of a stranger. */
function strangersEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('UNSPENT_') && !name.startsWith('NODE_')));
}

/** While it works, this process can answer it. */
export function npm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn('npm', args, { cwd, env: { ...strangersEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
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
    // Its programs load the same modules one after the other.
    const env = { ...strangersEnvironment(), NODE_COMPILE_CACHE: join(this.folder, 'compiled'), ...more };
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  /** `npm install --global` of the archive, under a prefix of its own. */
  installGlobally(prefix: string, registry: string, options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
    // A registry that does not answer is asked again, and not for ever.
    const patience = ['--fetch-timeout=20000', '--fetch-retries=5', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
    const usual = ['--registry', registry, '--no-audit', '--no-fund', '--prefer-offline', ...patience];
    return ended(npm(['install', '--global', '--prefix', prefix, ...usual, ...options, this.archive], this.folder, env));
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

/**
 * What operators take from packaging/: alert rules that fire when they should and
 * ask for metrics there are, units that systemd reads, an image whose every source
 * is there; and what a process says to Prometheus and to its service manager.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { SETTINGS } from '../../src/config/schema.ts';
import { ended, start, temporary, unspentHere } from '../cli/run.ts';
import { blockRunBy } from '../docs/page-blocks.ts';
import { until } from '../support/patience.ts';

const root = resolve(import.meta.dirname, '../..');
const packaging = join(root, 'packaging');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** False: it is here. */
function missing(tool: string): string | false {
  return spawnSync(tool, ['--version']).status === 0 ? false : `${tool} is not installed`;
}

function run(tool: string, args: readonly string[], input = ''): void {
  const { status, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8', input });
  assert.equal(status, 0, `${tool} ${args.join(' ')}\n${stdout}${stderr}`);
}

describe('Prometheus', () => {
  const rules = join(packaging, 'prometheus');

  test('reads the rules, and each fires when it should and not otherwise', { skip: missing('promtool') }, () => {
    run('promtool', ['check', 'rules', join(rules, 'alerts.yaml')]);
    run('promtool', ['test', 'rules', join(rules, 'alerts.test.yaml')]);
    run('promtool', ['check', 'config', '--syntax-only', join(rules, 'prometheus.yaml')]);
    const shown = join(temporary(), 'prometheus.yaml');
    writeFileSync(shown, blockRunBy('test/packaging/packaging.test.ts', 'docs/operating.md'));
    run('promtool', ['check', 'config', '--syntax-only', shown]);
    const names = Array.from(read('packaging/prometheus/alerts.yaml').matchAll(/alert: (\w+)/g), ([, name]) => name);
    const tested = read('packaging/prometheus/alerts.test.yaml');
    for (const name of names) assert.ok(tested.split(name).length >= 3, `${name} is tested both ways`);
  });

  test('and the service manager are told what they expect', async (t) => {
    const folder = temporary();
    const [data, bin, told] = [join(folder, 'data'), join(folder, 'bin'), join(folder, 'told')];
    assert.equal((await unspentHere(['sync', '--source', 'devnet:?blocks=5', '--data', data, '--quiet'])).code, 0);
    mkdirSync(bin);
    writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${told}\n`, { mode: 0o755 });
    const env = { PATH: `${bin}${delimiter}${process.env['PATH']}`, NOTIFY_SOCKET: '/run/here', WATCHDOG_USEC: '200000' };
    const child = start(['serve', '--port', '0', '--data', data], { env });
    t.after(() => child.kill('SIGKILL'));
    let out = '';
    child.stdout!.on('data', (text: Buffer) => {
      out += text.toString();
    });
    const end = ended(child);
    const said = (pattern: RegExp): Promise<void> =>
      until(
        () => existsSync(told) && pattern.test(readFileSync(told, 'utf8')),
        () => `${pattern} in ${existsSync(told) ? readFileSync(told, 'utf8') : 'nothing'}`,
      );
    await said(/^\/run\/here READY=1 MAINPID=\d+\n[\s\S]*WATCHDOG=1/);
    await until(() => /http:\S+/.test(out), 'the address');
    const url = /http:\/\/[\d.]+:\d+\//.exec(out)![0];
    let metrics = '';
    await until(async () => {
      metrics = await (await fetch(new URL('/metrics', url))).text();
      return metrics.includes('unspent_engine_property{');
    }, 'a sample of the engine');
    const served = new Set(Array.from(metrics.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name));
    const asked = Array.from(read('packaging/prometheus/alerts.yaml').matchAll(/\b(unspent_\w+|process_\w+)\b/g), ([, name]) => name);
    assert.ok(asked.length > 10);
    for (const name of asked) assert.ok(served.has(name) || name === 'unspent_lag_blocks', `${name} is a metric`);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_open_fds', 'nodejs_version_info'])
      assert.ok(served.has(name), name);
    if (missing('promtool') === false) run('promtool', ['check', 'metrics'], metrics);
    child.kill('SIGTERM');
    await said(/STOPPING=1\n/);
    assert.equal((await end).code, 0);
  });
});

test('systemd reads the units', { skip: missing('systemd-analyze') }, () => {
  const folder = temporary();
  const units = ['unspent.service', 'unspent-backup.service', 'unspent-backup.timer'];
  for (const name of units) {
    // It looks whether the program is there.
    const text = read(`packaging/systemd/${name}`).replaceAll('/usr/local/bin/unspent', join(root, 'bin/unspent'));
    writeFileSync(join(folder, name), text);
  }
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units.map((name) => join(folder, name))], {
    encoding: 'utf8',
  });
  // Of units of this machine it may say something, too.
  const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(folder) || /^unspent/.test(line));
  assert.deepEqual(about, []);
  const service = read('packaging/systemd/unspent.service');
  for (const line of ['Type=notify', 'Restart=on-failure', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'DynamicUser=yes'])
    assert.ok(service.includes(`\n${line}\n`), line);
  // A store of which some files are root's does not open for the service any more.
  const backup = read('packaging/systemd/unspent-backup.service');
  const lineOf = (text: string, name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1];
  for (const name of ['User', 'DynamicUser', 'StateDirectory', 'StateDirectoryMode', 'UMask']) {
    assert.ok(lineOf(service, name) !== undefined, name);
    assert.equal(lineOf(backup, name), lineOf(service, name), `${name} of both units`);
  }
});

test('and finds little that the units leave open', { skip: missing('systemd-analyze') }, () => {
  const exposure = (name: string): number => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=yes', join(packaging, 'systemd', name)], { encoding: 'utf8' });
    return Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1] ?? assert.fail(stdout));
  };
  // It counts from 0 to 10. What the service needs it cannot leave out: the network, folders of nodes, a child that notifies.
  assert.ok(exposure('unspent.service') <= 2, `${exposure('unspent.service')}`);
  assert.ok(exposure('unspent-backup.service') <= 1, `${exposure('unspent-backup.service')}`);
});

describe('the image', () => {
  const dockerfile = read('packaging/docker/Dockerfile');
  /** Instructions, with what they go on with on later lines. */
  const instructions = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1).trim()] as const);
  const of = (name: string): string[] => instructions.filter(([each]) => each === name).map(([, rest]) => rest);

  test('is of a pinned base, not root, checked, and stopped by the signal that closes a store', () => {
    const bases = of('FROM');
    assert.equal(bases.length, 2, 'what builds is not in it');
    for (const base of bases) assert.match(base, /^node:24\.\d+\.\d+-bookworm-slim/);
    assert.equal(new Set(bases.map((base) => base.split(' ')[0])).size, 1);
    const names = instructions.map(([name]) => name);
    assert.deepEqual(of('USER'), ['unspent']);
    assert.ok(names.indexOf('USER') < names.indexOf('ENTRYPOINT') && names.lastIndexOf('RUN') < names.indexOf('USER'));
    assert.deepEqual(of('STOPSIGNAL'), ['SIGTERM']);
    assert.deepEqual(of('VOLUME'), ['["/data", "/backups"]']);
    assert.match(of('HEALTHCHECK')[0], /\/health/);
    for (const step of of('RUN').filter((line) => /npm (ci|install)/.test(line))) assert.match(step, /--ignore-scripts/);
  });

  test('is made of files there are and that its ignore file lets in', () => {
    const allowed = read('packaging/docker/Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = of('COPY').filter((line) => !line.startsWith('--from'));
    const sources = copied.flatMap((line) => line.split(' ').slice(0, -1));
    assert.ok(sources.includes('src') && sources.includes('package-lock.json'));
    for (const source of sources) {
      assert.ok(existsSync(join(root, source)), `${source} is there`);
      assert.ok(
        allowed.some((name) => source === name || source.startsWith(`${name}/`)),
        `${source} is let in`,
      );
    }
    const { files, devDependencies, peerDependencies } = JSON.parse(read('package.json')) as {
      readonly files: readonly string[];
      readonly devDependencies: Readonly<Record<string, string>>;
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    for (const name of files.filter((each) => each !== 'dist')) assert.ok(sources.includes(name), `${name} is part of the package`);
    const added = /^PACKAGES="(.*)"$/.exec(of('ARG')[0])?.[1].split(' ') ?? [];
    const wanted = Object.keys(peerDependencies).map((name) => `${name}@${devDependencies[name]}`);
    assert.deepEqual(added.sort(), wanted.sort(), 'every optional package, in the tested version');
  });

  test('is found healthy at the port that it listens on', async (t) => {
    const [program, ...args] = JSON.parse(/CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0])![1]) as string[];
    let status = 200;
    const server = createServer((_, answer) => answer.writeHead(status).end()).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const check = async (env: NodeJS.ProcessEnv): Promise<number | null> => (await ended(spawn(program, args, { env }))).code;
    const { PATH } = process.env;
    assert.equal(await check({ PATH, UNSPENT_SERVER_PORT: `${port}` }), 0);
    status = 503;
    assert.equal(await check({ PATH, UNSPENT_SERVER_PORT: `${port}` }), 1);
    assert.match(args[1], /UNSPENT_SERVER_PORT \|\| 8437/);
    assert.deepEqual(of('EXPOSE'), [`${SETTINGS['server.port'].default}`]);
  });

  test('and what compose runs beside it find their files, on this machine alone', () => {
    const compose = read('packaging/docker/compose.yaml');
    const mounts = Array.from(compose.matchAll(/- (\.\.\/[^:\s]+):/g), ([, path]) => path);
    assert.equal(mounts.length, 5);
    for (const path of mounts) assert.ok(existsSync(join(packaging, 'docker', path)), path);
    const ports = Array.from(compose.matchAll(/- (\S+):\d+:\d+$/gm), ([, address]) => address);
    assert.deepEqual(ports, ['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    for (const [, image] of compose.matchAll(/image: (\S+)/g)) assert.match(image, /:(local|v?\d+\.\d+\.\d+)$/);
    const { templating } = JSON.parse(read('dashboards/unspent.json')) as { templating: { list: { name: string; query: string }[] } };
    assert.ok(
      templating.list.some(({ query }) => query === 'prometheus'),
      'the dashboard takes the source that is provisioned',
    );
    assert.match(read('packaging/grafana/datasources.yaml'), /type: prometheus/);
  });
});

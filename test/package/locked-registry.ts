/**
 * A registry on this machine that knows what package-lock.json says and nothing
 * else: packages in the versions and with the digests that `npm ci` took. npm then
 * finds their contents by digest in its own cache and asks no network; what is
 * not there it is sent on for, to the registry that it is configured with.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join, resolve } from 'node:path';
import { ended } from '../cli/run.ts';
import { npm } from './packed.ts';

const { createServer } = process.getBuiltinModule('node:http');
const root = resolve(import.meta.dirname, '../..');
const FOLDER = 'node_modules/';

interface LockedPackage {
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
}

/** Of each package the versions that the lock file has, by number. */
function lockedVersions(): Map<string, Map<string, LockedPackage>> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> };
  const versions = new Map<string, Map<string, LockedPackage>>();
  for (const [path, locked] of Object.entries(packages)) {
    if (!path.includes(FOLDER) || locked.integrity === undefined) continue;
    const name = locked.name ?? path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
    versions.set(name, (versions.get(name) ?? new Map()).set(locked.version, locked));
  }
  return versions;
}

export class LockedRegistry {
  private readonly versions = lockedVersions();
  private readonly server = createServer((request, response) => void this.answer(request, response));
  private elsewhere: Promise<string> | undefined;

  static async start(): Promise<LockedRegistry> {
    const registry = new LockedRegistry();
    await once(registry.server.listen(0, '127.0.0.1'), 'listening');
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer({ url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(url.slice(1));
    const versions = this.versions.get(path);
    if (versions !== undefined) response.setHeader('cache-control', 'no-store').end(JSON.stringify(this.document(path, versions)));
    else if (path.includes('/-/')) response.writeHead(302, { location: new URL(path, await this.configured()).href }).end();
    else response.writeHead(404).end('{}');
  }

  private document(name: string, locked: ReadonlyMap<string, LockedPackage>): unknown {
    const versions = [...locked.values()].map((each) => {
      const tarball = `${this.url}${name}/-/${basename(name)}-${each.version}.tgz`;
      return [each.version, { ...each, name, dist: { tarball, integrity: each.integrity } }] as const;
    });
    return { name, 'dist-tags': { latest: versions.at(-1)?.[0] }, versions: Object.fromEntries(versions) };
  }

  private configured(): Promise<string> {
    this.elsewhere ??= ended(npm(['config', 'get', 'registry'], root)).then(({ stdout }) => stdout.trim());
    return this.elsewhere;
  }
}

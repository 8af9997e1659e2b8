/** SQLite files of a directory that goes with the test process. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MakeSchema, TestDatabases } from './databases.ts';

export class SqliteFiles implements TestDatabases, Disposable {
  readonly name = 'SQLite';
  readonly #directory = mkdtempSync(join(tmpdir(), 'unspent-sqlite-'));
  readonly #makeSchema: MakeSchema;
  #count = 0;
  #template: Promise<string> | undefined;

  /** Its databases have that schema. */
  constructor(makeSchema: MakeSchema) {
    this.#makeSchema = makeSchema;
  }

  /** The URL of a database that does not exist yet. */
  async unusedUrl(): Promise<string> {
    return `sqlite:${join(this.#directory, `${++this.#count}.sqlite`)}`;
  }

  /** The URL of an empty database. Its schema is made once and copied. */
  async freshUrl(): Promise<string> {
    this.#template ??= this.#makeTemplate();
    const url = await this.unusedUrl();
    copyFileSync(fileOf(await this.#template), fileOf(url));
    return url;
  }

  async #makeTemplate(): Promise<string> {
    const url = await this.unusedUrl();
    await this.#makeSchema(url);
    return url;
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export function fileOf(url: string): string {
  return url.slice('sqlite:'.length);
}

let copies = 0;

/** The URL of a copy of a database that is open, beside it, as a process that is killed now would leave it. */
export async function copyAsKilled(url: string): Promise<string> {
  const copy = `${url}.${++copies}`;
  for (const suffix of ['', '-wal']) {
    if (existsSync(fileOf(url) + suffix)) copyFileSync(fileOf(url) + suffix, fileOf(copy) + suffix);
  }
  return copy;
}

/**
 * The types that Ogmios publishes, and the compiler to hold values against them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { type JsonValue, jsonText } from '../../src/server/cardano/ogmios/json-text.ts';
import { temporary } from '../cli/run.ts';

/** What the compiler says of these values as `type` of Ogmios; amounts are numbers in JSON, whatever TypeScript has for them. */
export function compiled(type: string, values: readonly JsonValue[]): string {
  const folder = temporary();
  const schema = createRequire(import.meta.url)
    .resolve('@cardano-ogmios/schema')
    .replace(/\.js$/, '.d.ts');
  writeFileSync(join(folder, 'schema.d.ts'), readFileSync(schema, 'utf8').replace(/\bbigint\b/g, 'number'));
  const lines = `import type { ${type} } from './schema.d.ts';\nexport const values: ${type}[] = [\n${values.map(jsonText).join(',\n')}];\n`;
  writeFileSync(join(folder, 'values.ts'), lines);
  const tsc = resolve(import.meta.dirname, '../../node_modules/.bin/tsc');
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--allowImportingTsExtensions'];
  return spawnSync(tsc, [...options, 'values.ts'], { cwd: folder, encoding: 'utf8' }).stdout;
}

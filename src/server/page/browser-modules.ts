/**
 * Modules of ours, and what they import from packages, as a browser can load
 * them: all in one folder, under names that tell where they come from, with
 * imports of those names. From the sources their types are stripped.
 */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nextTurn } from '../../util/time-slice.ts';

/** Where our modules are: the sources, or what was compiled from them. */
const ROOT = join(import.meta.dirname, '../..');
/** The last line of an import, or of an export of what another module has. */
const IMPORT = /^((?:import|export|\})[^'"\n]*\bfrom\s+)(['"])([^'"\n]+)\2/gm;

/** The module of that path below the root, without its ending, and all it imports, by name. Others get their turn between two of them. */
export async function browserModules(path: string): Promise<Map<string, string>> {
  const sources = join(ROOT, `${path}.ts`);
  const files = new Set([existsSync(sources) ? sources : join(ROOT, `${path}.js`)]);
  const modules = new Map<string, string>();
  // What a module imports is put behind those that wait, so the loop comes to it.
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const script = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
    const named = script.replace(IMPORT, (_, before: string, quote: string, from: string) => {
      const imported = pathOf(from, file);
      files.add(imported);
      return `${before}${quote}./${nameOf(imported)}${quote}`;
    });
    modules.set(nameOf(file), named);
    await nextTurn();
  }
  return modules;
}

function pathOf(from: string, importer: string): string {
  return from.startsWith('.') ? resolve(dirname(importer), from) : fileURLToPath(import.meta.resolve(from));
}

/** `src/proofs/csmt/hash.ts` is `proofs_csmt_hash.js`, `@noble/hashes/sha3.js` of a package `noble_hashes_sha3.js`. */
function nameOf(file: string): string {
  const ours = relative(ROOT, file);
  const path = ours.startsWith('..') ? file.replace(/^.*[\\/]node_modules[\\/]@?/, '') : ours;
  return path.replaceAll(/[\\/]/g, '_').replace(/\.[jt]s$/, '.js');
}

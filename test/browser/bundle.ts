/**
 * One script for a page of a module and all that it needs, as whoever writes a
 * dApp makes it: packages for browsers, stand-ins for the parts of Node that
 * client libraries still ask for, and WebAssembly as a module.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { type InputOptions, type Plugin, rolldown } from 'rolldown';

const require = createRequire(import.meta.url);

/** What Node has, and its types do not. */
interface WasmModules {
  new (bytes: Uint8Array): object;
  imports(module: object): { readonly module: string }[];
  exports(module: object): { readonly name: string }[];
}
const { Module } = (globalThis as unknown as { readonly WebAssembly: { readonly Module: WasmModules } }).WebAssembly;

/** A module of WebAssembly exports what the file does, and imports from the modules that the file names. */
const webAssembly: Plugin = {
  name: 'webassembly',
  load: {
    filter: { id: /\.wasm$/ },
    handler(path) {
      const bytes = readFileSync(path);
      const module = new Module(bytes);
      const from = [...new Set(Module.imports(module).map((each) => each.module))];
      const names = Module.exports(module).map((each) => each.name);
      return `// ${basename(path)}
${from.map((each, i) => `import * as from${i} from ${JSON.stringify(each)};`).join('\n')}
const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (letter) => letter.charCodeAt(0));
const { instance } = await WebAssembly.instantiate(bytes, { ${from.map((each, i) => `${JSON.stringify(each)}: from${i}`).join()} });
export const { ${names.join()} } = instance.exports;`;
    },
  },
};

const options: InputOptions = {
  platform: 'browser',
  logLevel: 'silent',
  plugins: [webAssembly],
  moduleTypes: { '.wasm': 'js' },
  transform: { define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' }, inject: { Buffer: ['buffer', 'Buffer'] } },
};
/** The last is a file that `libsodium-wrappers-sumo` names and does not have. */
const alias = { events: require.resolve('events/'), buffer: require.resolve('buffer/'), './libsodium-sumo.mjs': 'libsodium-sumo' };

/** `modules`: a folder of packages that are used; default: ours. */
export async function bundleForPage(input: string, modules?: string): Promise<string> {
  const bundle = await rolldown({ ...options, input, resolve: { alias, ...(modules === undefined ? {} : { modules: [modules] }) } });
  try {
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}

/**
 * One script for a page of a module and all that it needs, as whoever writes a
 * dApp makes it: packages for browsers, and stand-ins for the parts of Node that
 * client libraries still ask for.
 */
import { createRequire } from 'node:module';
import { type InputOptions, rolldown } from 'rolldown';

const require = createRequire(import.meta.url);

const options: InputOptions = {
  platform: 'browser',
  logLevel: 'silent',
  resolve: { alias: { events: require.resolve('events/'), buffer: require.resolve('buffer/') } },
  transform: { define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' }, inject: { Buffer: ['buffer', 'Buffer'] } },
};

/** `from`: a folder whose packages are used; default: ours. */
export async function bundleForPage(input: string, from?: string): Promise<string> {
  const bundle = await rolldown({ ...options, input, ...(from === undefined ? {} : { cwd: from }) });
  try {
    const { output } = await bundle.generate({ format: 'iife', codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}

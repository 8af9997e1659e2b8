/**
 * The streams of a command, and what is drawn on the terminal they may be: while
 * a region is drawn, everything else that is written goes above it.
 */
import type { OutputStreams, TextStream } from '../output.ts';
import { Region } from './region.ts';
import { type Style, styleOf } from './style.ts';

export class Terminal implements OutputStreams {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly style: { readonly stdout: Style; readonly stderr: Style };
  /** Null: what is not the result does not go to a terminal that can be drawn on. */
  readonly region: Region | null;

  constructor({ stdout, stderr, env }: OutputStreams & { readonly env: NodeJS.ProcessEnv }) {
    const { TERM: kind } = env;
    this.region = stderr.isTTY === true && kind !== 'dumb' ? new Region(stderr) : null;
    this.style = { stdout: styleOf(stdout, env), stderr: styleOf(stderr, env) };
    this.stdout = this.region === null ? stdout : aboveRegion(stdout, this.region);
    this.stderr = this.region === null ? stderr : aboveRegion(stderr, this.region);
  }
}

function aboveRegion(stream: TextStream, region: Region): TextStream {
  if (stream.isTTY !== true) return stream;
  return {
    isTTY: true,
    get columns() {
      return stream.columns ?? 0;
    },
    get rows() {
      return stream.rows ?? 0;
    },
    write(text: string | Uint8Array) {
      if (!region.isDrawn) return stream.write(text);
      region.above(String(text));
      return true;
    },
  };
}

/** Tokens and requests of cages, as programs ask for them. */
import type { PointJson } from '../../../query/render.ts';
import { type RequestDocument, requestDocument, type TokenDocument, tokenDocument } from './documents.ts';
import type { CageReading } from './pinned.ts';

/** Which requests, and at what time. */
export interface RequestsOptions {
  /** POSIX milliseconds at which their phase is told. Default: now. */
  readonly at?: number | bigint | undefined;
  /**
   * Also those that sit at other scripts than the token's own, which anybody can make and no script will let through.
   * Default: false. Where nobody knows the token's script, all of them are listed.
   */
  readonly others?: boolean | undefined;
}

/** Tokens and requests. Each answer is of one block: the newest, or that of the view it was asked of. */
export class CageStateReads {
  readonly #reading: CageReading;
  readonly #clock: () => number;

  /** @internal */
  constructor(reading: CageReading, clock: () => number) {
    this.#reading = reading;
    this.#clock = clock;
  }

  /** The block that answers are of; null before the first one. */
  checkpoint(): PointJson | null {
    return this.#reading.read(({ checkpoint }) => checkpoint);
  }

  /** All tokens there are, by policy and name. */
  tokens(): readonly TokenDocument[] {
    return this.#reading.read(({ cages }) => Array.from(cages.tokens(), tokenDocument));
  }

  /** A token. Null: there is none, or it has ended. Throws USAGE. */
  token(id: string): TokenDocument | null {
    return this.#reading.read(({ find }) => {
      const token = find(id);
      return token === null ? null : tokenDocument(token);
    });
  }

  /** The requests that wait for a token, oldest first. Throws USAGE, NOT_FOUND. */
  requests(token: string, options: RequestsOptions = {}): readonly RequestDocument[] {
    const { at = this.#clock(), others = false } = options;
    return this.#reading.read(({ cages, need }) => {
      const found = Array.from(cages.requests(need(token), BigInt(at)), requestDocument);
      return others ? found : found.filter(({ canonical }) => canonical !== false);
    });
  }
}

/**
 * The embedded devnet as a source: `devnet:?blocks=2000&seed=1&rollbacks=4`,
 * with `cages=1` also with transactions of cages (`DEVNET_CAGE`), with
 * `scripts=1` also with such that run scripts.
 * The whole story, reorganisations included, follows from the seed, so it is
 * made run by run as it is read, and a reader that comes back with points has
 * it told again in silence up to there. The story does not depend on `blocks`:
 * asking for more continues it.
 *
 * Followed at its tip it mines on, one block every `interval` seconds (0: never).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAddress } from '../../../ledgers/cardano/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import type { ChainEvent, FollowOptions, Run, Source, SourceTip } from '../../../sources/source.ts';
import { equalBytes, fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { Random } from '../../random.ts';
import { DevnetChain, slotOf } from './producer.ts';

export { type DevnetBlock, DevnetChain, type DevnetOptions } from './producer.ts';

const SCHEME = 'devnet:';
const RUN_EVENTS = 100;
const ROLLBACK_DEPTH_MAX = 20;
/** Blocks between two reorganisations: from half of this to one and a half. */
const ROLLBACK_EVERY = 400;

interface Settings {
  /** Length of the chain offered before its tip is reached. */
  readonly blocks: number;
  readonly seed: number;
  /** Reorganisations on the way. */
  readonly rollbacks: number;
  /** Seconds between blocks mined at the tip, when followed. */
  readonly interval: number;
  /** 1: there are cages on this chain. */
  readonly cages: number;
  /** 1: scripts are run on this chain. */
  readonly scripts: number;
}

const DEFAULTS: Settings = { blocks: 2000, seed: 1, rollbacks: 4, interval: 5, cages: 0, scripts: 0 };
const MAXIMA: Settings = { blocks: 10_000_000, seed: Number.MAX_SAFE_INTEGER, rollbacks: 10_000, interval: 86_400, cages: 1, scripts: 1 };

/** When the chain first has `at` blocks, the last `depth` of them are dropped. */
interface Reorganisation {
  readonly at: number;
  readonly depth: number;
}

/** The embedded devnet as a source, with what a program needs to begin with it. */
export interface DevnetSource extends Source {
  /** Addresses of those who pay each other on this chain, in bech32 or base58: the ones its genesis grants coins to. */
  readonly addresses: readonly string[];
  /** Texts of the genesis files this chain starts from. */
  readonly genesis: { readonly byron: string; readonly shelley: string };
}

/** Opens `devnet:?blocks=N&seed=N&rollbacks=N&interval=SECONDS&cages=0|1&scripts=0|1`. The same URL gives the same chain on every machine. Throws USAGE. */
export function openDevnet(url: string): DevnetSource {
  const settings = parseSettings(url);
  const { genesisByron, genesisShelley, utxos } = chainOf(settings);
  const owners = new Set(Array.from(utxos.values(), ({ addressHex }) => addressHex));
  return {
    name: url,
    addresses: Array.from(owners, (hex) => formatAddress(fromHex(hex))),
    genesis: { byron: genesisByron, shelley: genesisShelley },
    runs: (options) => runs(settings, options),
  };
}

function chainOf({ seed, cages, scripts }: Settings): DevnetChain {
  return new DevnetChain({ seed, cages: cages === 1, scripts: scripts === 1 });
}

async function* runs(settings: Settings, { from, follow, signal }: FollowOptions): AsyncGenerator<Run> {
  const teller = new Teller(settings);
  const found = from.length === 0 ? undefined : resume(settings, from);
  if (found !== undefined) teller.skip(found.events);
  let events: ChainEvent[] = found === undefined || found.rank === 0 ? [] : [{ kind: 'back', point: from[found.rank] }];

  for (let first = true; first || !teller.done; first = false) {
    while (events.length < RUN_EVENTS && !teller.done) events.push(teller.next());
    if (signal.aborted) return;
    yield { events, tip: teller.tip, atTip: teller.done };
    events = [];
  }
  while (follow && (await waited(settings.interval, signal))) {
    // A reorganisation comes with the longer chain that caused it.
    const grown: ChainEvent[] = [];
    for (const height = teller.height; teller.height <= height; ) grown.push(teller.next());
    yield { events: grown, tip: teller.tip, atTip: true };
  }
}

/** Tells the story event by event. */
class Teller {
  private readonly settings: Settings;
  private readonly chain: DevnetChain;
  private readonly ahead: Reorganisation[];
  private forks = 0;

  constructor(settings: Settings) {
    this.settings = settings;
    this.chain = chainOf(settings);
    this.ahead = schedule(settings);
  }

  get done(): boolean {
    return this.chain.blocks.length >= this.settings.blocks;
  }

  get height(): number {
    return this.chain.blocks.length - 1;
  }

  /** Of the whole chain, known before it is made because slots have a closed form. */
  get tip(): SourceTip {
    const { blocks, seed } = this.settings;
    const made = this.chain.tip;
    if (made !== undefined && this.chain.blocks.length >= blocks) return { slot: made.slot, height: made.height };
    const forks = this.forks + this.ahead.filter(({ at }) => at < blocks).length;
    return { slot: slotOf(seed, forks, blocks - 1), height: blocks - 1 };
  }

  next(): ChainEvent {
    if (!this.turning) return { kind: 'forward', raw: this.chain.mine(), intact: true };
    this.chain.rollback(this.ahead.shift()!.depth);
    this.forks++;
    const { tip } = this.chain;
    return { kind: 'back', point: tip === undefined ? null : { height: tip.height, slot: tip.slot, hash: tip.hash } };
  }

  /** Whether the block told last is that of the point. */
  standsAt(point: Point): boolean {
    const { tip } = this.chain;
    return tip !== undefined && equalBytes(tip.hash, point.hash);
  }

  skip(events: number): void {
    for (let i = 0; i < events; i++) this.next();
  }

  private get turning(): boolean {
    return this.ahead.length > 0 && this.chain.blocks.length === this.ahead[0].at;
  }
}

/** How many events lead up to the newest of the points that occurs in the story, abandoned forks included. */
function resume(settings: Settings, from: readonly Point[]): { readonly events: number; readonly rank: number } {
  const teller = new Teller(settings);
  // Above a height by more than the deepest turn, that height is final.
  const newest = Math.max(...from.map((point) => point.height)) + ROLLBACK_DEPTH_MAX;
  const oldest = Math.min(...from.map((point) => point.height)) + ROLLBACK_DEPTH_MAX;
  let best = { events: 0, rank: from.length };
  for (let events = 1; best.rank > 0 && teller.height <= newest; events++) {
    if (teller.next().kind === 'forward') {
      const rank = from.findIndex((point) => teller.standsAt(point));
      if (rank >= 0 && rank < best.rank) best = { events, rank };
    }
    // Our points are of one chain: without the oldest the story has none of them.
    if (best.rank === from.length && teller.height > oldest) break;
  }
  if (best.rank < from.length) return best;
  throw new UnspentError('SOURCE_FORK', `the devnet of seed ${settings.seed} has none of our points`, { newest: toHex(from[0].hash) });
}

function schedule({ seed, rollbacks }: Settings): Reorganisation[] {
  const random = new Random(seed, 1);
  const turns: Reorganisation[] = [];
  for (let i = 0, at = 0; i < rollbacks; i++) {
    at += ROLLBACK_EVERY / 2 + random.int(ROLLBACK_EVERY);
    turns.push({ at, depth: 1 + random.int(ROLLBACK_DEPTH_MAX) });
  }
  return turns;
}

/** False when the reader has gone. */
async function waited(seconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    // Without an interval there is nothing to wait for but the reader's leave.
    do await sleep(seconds > 0 ? 1000 * seconds : 60_000, undefined, { signal });
    while (seconds === 0);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

function parseSettings(url: string): Settings {
  if (!url.startsWith(SCHEME)) throw new UnspentError('SOURCE_UNKNOWN', `expected ${SCHEME}?..., got '${url.slice(0, 80)}'`);
  const rest = url.slice(SCHEME.length);
  if (rest !== '' && !rest.startsWith('?'))
    throw new UnspentError('USAGE', `expected options after '${SCHEME}?', got '${url.slice(0, 80)}'`);
  const settings: { -readonly [K in keyof Settings]: number } = { ...DEFAULTS };
  for (const [key, text] of new URLSearchParams(rest.slice(1))) {
    if (!isSetting(key)) throw new UnspentError('USAGE', `unknown devnet option '${key}'; known: ${Object.keys(DEFAULTS).join(', ')}`);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > MAXIMA[key]) {
      throw new UnspentError('USAGE', `devnet option '${key}' is a whole number up to ${MAXIMA[key]}, not '${text.slice(0, 40)}'`);
    }
    settings[key] = value;
  }
  if (settings.blocks === 0) throw new UnspentError('USAGE', "devnet option 'blocks' must be at least 1");
  return settings;
}

function isSetting(key: string): key is keyof Settings {
  return Object.hasOwn(DEFAULTS, key);
}

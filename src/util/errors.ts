/**
 * Every failure the world can cause has a code here: what it means, how a
 * process exits with it, and what the reader can do next. The table is the one
 * list behind exit codes, the HTTP problem documents and docs/reference/errors.md.
 *
 * A programmer's mistake is not here: that is an `assert` and a crash.
 */

type CodeEntry = {
  readonly exit: number;
  /** Status of an HTTP answer with this problem. */
  readonly status: number;
  readonly meaning: string;
  readonly advice: string;
};

/** Every code, with what it means, what to do next, the exit code of a command and the status of an HTTP answer. */
export const ERROR_CODES = {
  USAGE: {
    exit: 2,
    status: 400,
    meaning: 'The command line, or the request, is wrong.',
    advice: 'Run the command with --help; the reference of the HTTP API is at /docs.',
  },
  CONFIG: {
    exit: 3,
    status: 500,
    meaning: 'A setting is unknown or has a bad value.',
    advice: 'See `unspent config show` and docs/reference/config.md.',
  },
  NETWORK_UNKNOWN: { exit: 3, status: 400, meaning: 'No network of that name.', advice: 'Use one of the names the message lists.' },
  NETWORK_NEEDED: { exit: 3, status: 500, meaning: 'A new store needs to know its network.', advice: 'Pass --network NAME.' },
  GENESIS_NEEDED: {
    exit: 3,
    status: 500,
    meaning: 'This network starts from genesis files that are not built in.',
    advice: 'Pass --genesis DIR with the byron and shelley genesis files that come with a node.',
  },
  GENESIS_WRONG: {
    exit: 3,
    status: 500,
    meaning: 'The genesis files do not belong to this chain.',
    advice: 'Use the files of the network you are following.',
  },
  NETWORK_WRONG: {
    exit: 1,
    status: 500,
    meaning: 'The blocks are of another network.',
    advice: 'Point the source at the network of this store; nothing of them was written.',
  },
  SOURCE_UNREACHABLE: {
    exit: 4,
    status: 502,
    meaning: 'The source of blocks cannot be reached or read.',
    advice: 'The message says what happened. Check the path or address, that the node runs, and that this user may read it.',
  },
  TX_REFUSED: {
    exit: 1,
    status: 400,
    meaning: 'The node did not take the transaction.',
    advice: 'The message has its own words; nothing was sent on.',
  },
  PROTOCOL: {
    exit: 4,
    status: 500,
    meaning: 'The peer broke the protocol.',
    advice: 'Nothing of that message was used. Try another peer; if all do it, the peers may speak a newer version.',
  },
  SOURCE_UNKNOWN: {
    exit: 2,
    status: 500,
    meaning: 'No source of that kind.',
    advice: 'Sources are URLs such as immutable:PATH or devnet:.',
  },
  SOURCE_DAMAGED: {
    exit: 5,
    status: 500,
    meaning: 'The source holds bytes that are not what they claim to be.',
    advice: 'Repair or fetch that file again; what was applied before it is kept.',
  },
  SOURCE_FORK: {
    exit: 1,
    status: 500,
    meaning: "The source's chain does not contain any point we can roll back to.",
    advice: 'Follow the right network, or start a new store.',
  },
  BLOCK_INVALID: {
    exit: 5,
    status: 500,
    meaning: 'Bytes that should be a block do not decode.',
    advice: 'The message says where; fetch the block again.',
  },
  BLOCK_UNLINKED: {
    exit: 1,
    status: 500,
    meaning: 'A block does not follow our tip.',
    advice: 'The source must roll back first, or is of another chain.',
  },
  NOT_FROM_GENESIS: {
    exit: 1,
    status: 500,
    meaning: "The first block offered is not the chain's first.",
    advice: 'Give the whole chain, or pass --partial to start in the middle (missing inputs are then counted).',
  },
  INPUT_MISSING: {
    exit: 5,
    status: 500,
    meaning: 'A transaction spends an output that is not unspent.',
    advice: 'Nothing of that block was written. The source or the store is not of this chain: run `unspent verify`.',
  },
  OUTPUT_DUPLICATE: {
    exit: 5,
    status: 500,
    meaning: 'A block creates an output that exists already.',
    advice: 'Nothing of that block was written.',
  },
  HORIZON: {
    exit: 1,
    status: 410,
    meaning: 'The point is below the horizon: what is needed to undo the blocks above it was pruned.',
    advice: 'Roll back to the horizon at most (`unspent status`), or start a new store.',
  },
  POINT_UNKNOWN: {
    exit: 1,
    status: 404,
    meaning: 'That point is not on our chain.',
    advice: '`unspent status` shows the tip and the horizon.',
  },
  NOT_FOUND: {
    exit: 1,
    status: 404,
    meaning: 'There is no such thing in the store.',
    advice: 'Check the id; `unspent status` shows how far the store is.',
  },
  STORE_MISSING: {
    exit: 1,
    status: 500,
    meaning: 'There is no store in that directory.',
    advice: 'Run `unspent sync` first, or pass --data DIR.',
  },
  STORE_EXISTS: {
    exit: 1,
    status: 500,
    meaning: 'There is a store in that directory already.',
    advice: 'Nothing of it was changed. Pass --data DIR with a directory that is new or empty.',
  },
  STORE_UNFINISHED: {
    exit: 1,
    status: 500,
    meaning: 'The import of a snapshot into this store was not finished.',
    advice: 'Run `unspent snapshot import` again with the same --data DIR: it begins anew.',
  },
  SNAPSHOT_INVALID: {
    exit: 5,
    status: 500,
    meaning: 'The snapshot is damaged, or is not what it claims to be.',
    advice: 'Nothing was kept of it. Get it again, or from somebody else.',
  },
  STORE_LOCKED: {
    exit: 1,
    status: 500,
    meaning: 'Another process has the store open.',
    advice: 'Stop that process, or use another --data DIR.',
  },
  STORE_NETWORK: {
    exit: 3,
    status: 500,
    meaning: 'The store belongs to another network.',
    advice: 'Use another --data DIR or leave --network out.',
  },
  STORE_SCHEMA: {
    exit: 3,
    status: 500,
    meaning: 'The store was written by another version, in a form that this one does not read.',
    advice: 'Use the version that wrote it, or sync into another --data DIR.',
  },
  STORE_SHAPE: {
    exit: 3,
    status: 500,
    meaning: 'The store was built with other projections switched on.',
    advice: 'Use the settings the message names, or build a new store.',
  },
  STORE_ENGINE: {
    exit: 3,
    status: 500,
    meaning: 'The store was made with another engine than the settings name, or an engine does not run on this machine.',
    advice: 'Leave `engine.kind` at auto. A store cannot change its engine: make a new one from the chain or from a snapshot.',
  },
  STORE_FOREIGN: {
    exit: 1,
    status: 500,
    meaning: 'The directory holds something that is not a store.',
    advice: 'Choose an empty directory.',
  },
  STORE_DAMAGED: {
    exit: 5,
    status: 500,
    meaning: 'The store is damaged.',
    advice: 'It was left untouched. Restore a copy or sync a new store.',
  },
  DISK_FULL: {
    exit: 1,
    status: 503,
    meaning: 'No space is left on the disk.',
    advice: 'Free some space and run the same command again: it resumes.',
  },
  IO: {
    exit: 1,
    status: 500,
    meaning: 'The system refused to read or write.',
    advice: 'The message says what; check permissions and the disk.',
  },
  VERIFY_FAILED: {
    exit: 5,
    status: 500,
    meaning: 'What the store keeps disagrees with its own unspent set.',
    advice: 'Sync a new store; keep this one to find out why.',
  },
  PROOF_UNVERIFIED: {
    exit: 1,
    status: 400,
    meaning: 'Nothing was verified: no root was given that the proof could be checked against, or not of which network it is.',
    advice: 'Pass --root and --network, from somebody you trust more than whoever gave you the proof.',
  },
  PROOF_WRONG: {
    exit: 1,
    status: 400,
    meaning: 'The proof does not show what it claims.',
    advice: 'Do not rely on the claim. Check that the root is of the point the proof was made at.',
  },
  PRUNED: {
    exit: 1,
    status: 410,
    meaning: 'The store no longer knows what the chain looked like there.',
    advice: 'Ask for a newer point; utxo.pruneDepth says how much of the past is kept.',
  },
  EXPIRED: {
    exit: 1,
    status: 410,
    meaning: 'The events after that position cannot be told any more.',
    advice: 'Read the state anew, and begin with the events after its block.',
  },
  TRIE_DIVERGED: {
    exit: 1,
    status: 409,
    meaning: 'The trie of this token is not, or not known to be, the one whose root is on chain.',
    advice: 'The message says why. The token is still followed; other tokens are not touched.',
  },
  INDEX_NOT_READY: {
    exit: 1,
    status: 503,
    meaning: 'An index that was switched on is still being filled.',
    advice: 'Try again in a while; the status shows how far it is.',
  },
  CURSOR_STALE: {
    exit: 1,
    status: 409,
    meaning: 'The page cursor is of a block that was rolled back.',
    advice: 'Begin again with the first page.',
  },
  NOT_YET: {
    exit: 1,
    status: 504,
    meaning: 'The store did not reach that slot, block or transaction in the time it may wait.',
    advice: 'Try again; the headers of the answer, or the message, say how far it is.',
  },
  TX_NOT_SEEN: {
    exit: 1,
    status: 408,
    meaning: 'The transaction is in no block that the store has, and did not get into one in the time it may wait.',
    advice: 'Ask again; if it never comes, submit it again.',
  },
  CAGE_CONFLICT: {
    exit: 1,
    status: 409,
    meaning: 'The cage does not allow that as it is now.',
    advice: 'The message says what stands in the way, and until when.',
  },
  UNAUTHORIZED: { exit: 1, status: 401, meaning: 'The request has no valid token.', advice: 'Send Authorization: Bearer TOKEN.' },
  FORBIDDEN: {
    exit: 1,
    status: 403,
    meaning: 'The request is not for this server.',
    advice: 'Use the address the server listens on, or name the host in server.hosts.',
  },
  NO_ROUTE: { exit: 1, status: 404, meaning: 'There is no such route.', advice: 'The reference is at /docs.' },
  LIMIT: {
    exit: 1,
    status: 413,
    meaning: 'The request asks for more than the server gives at once.',
    advice: 'Ask for less, page by page.',
  },
  BUSY: { exit: 1, status: 503, meaning: 'The server has as many requests or streams as it may have.', advice: 'Try again in a moment.' },
  UNSUPPORTED: { exit: 1, status: 501, meaning: 'That cannot be done here.', advice: 'The message says what is missing.' },
  CLOSED: { exit: 1, status: 503, meaning: 'The store is closed.', advice: 'Open it again.' },
  INTERRUPTED: { exit: 130, status: 503, meaning: 'Stopped by a signal.', advice: 'Run the same command again: it resumes.' },
} as const satisfies Record<string, CodeEntry>;

/** The code of an error, which programs decide by. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Everything that can go wrong outside of a program, with a code. */
export class UnspentError extends Error {
  /** What went wrong: a key of `ERROR_CODES`. */
  readonly code: ErrorCode;
  /** Particulars, such as the height or the file that is meant. */
  readonly meta: Readonly<Record<string, unknown>>;

  /** `meta`: particulars; `cause`: the error behind it. */
  constructor(code: ErrorCode, message: string, meta: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UnspentError';
    this.code = code;
    this.meta = meta;
  }

  /** What a command exits with because of it. */
  get exitCode(): number {
    return ERROR_CODES[this.code].exit;
  }

  /** The status of an HTTP answer that tells of it. */
  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  /** What can be done about it, in a sentence. */
  get advice(): string {
    return ERROR_CODES[this.code].advice;
  }
}

/** Whether it is an error of ours, and of that code where one is given. */
export function isUnspentError(error: unknown, code?: ErrorCode): error is UnspentError {
  return error instanceof UnspentError && (code === undefined || error.code === code);
}

/** An invariant of ours. It stays on in production: better to stop than to write a wrong state. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

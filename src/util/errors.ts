/**
 * Every failure the world can cause has a code here: what it means, how a
 * process exits with it, and what the reader can do next. The table is the one
 * list behind exit codes, the HTTP problem documents and docs/reference/errors.md.
 *
 * A programmer's mistake is not here: that is an `assert` and a crash.
 */

import { systemAdvice } from './system-advice.ts';

type CodeEntry = {
  readonly exit: number;
  /** Status of an HTTP answer with this problem. */
  readonly status: number;
  readonly meaning: string;
  readonly advice: string;
};

/** Of work that leaves nothing behind when it is stopped. */
export const BEGINS_ANEW = 'Run the same command again: it begins anew.';

/** Every code, with what it means, what to do next, the exit code of a command and the status of an HTTP answer. */
export const ERROR_CODES = {
  USAGE: {
    exit: 2,
    status: 400,
    meaning: 'The command line, or the request, is wrong.',
    advice: 'See `unspent COMMAND --help`, or for a request the reference at /docs/api.',
  },
  CONFIG: {
    exit: 3,
    status: 500,
    meaning: 'A setting is unknown or has a bad value.',
    advice: '`unspent config show` lists every setting, its value and where that comes from.',
  },
  NETWORK_UNKNOWN: {
    exit: 3,
    status: 400,
    meaning: 'No network of that name.',
    advice: 'A private Cardano network is `devnet` with --genesis DIR.',
  },
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
    advice: 'What was applied before is kept: run the same command again when the source is back.',
  },
  TX_REFUSED: {
    exit: 1,
    status: 400,
    meaning: 'The node did not take the transaction.',
    advice: 'Nothing was sent on.',
  },
  SCRIPT_FAILED: {
    exit: 1,
    status: 400,
    meaning: 'A script of the transaction fails, or the scripts cannot be run.',
    advice: 'Do not submit it: as it is, the transaction would lose its collateral.',
  },
  OUTPUT_UNKNOWN: {
    exit: 1,
    status: 400,
    meaning: 'The transaction spends or refers to outputs that are not unspent here.',
    advice: 'Send along those that are in no block yet. For others wait until the store has their block.',
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
    advice: '`unspent sync --help` has an example of each.',
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
    advice: 'Fetch the block again; if it is the same from every node, this version cannot read it: look for a newer one.',
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
    advice:
      '`unspent start` makes one with a chain of its own, `unspent sync --source URL` one of a real chain; --data DIR names another directory.',
  },
  STORE_GONE: {
    exit: 1,
    status: 500,
    meaning: 'The directory of the store was moved or deleted while it was open.',
    advice:
      'If it was moved, nothing is lost: name it with --data where it is now. If it was deleted, restore a backup (`unspent restore`), or sync anew.',
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
    meaning: 'The import of a snapshot into this store, restoring it from a backup, or upgrading it was not finished.',
    advice: 'Run the same command again with the same --data DIR: an import or a restore begins anew, an upgrade goes on.',
  },
  SNAPSHOT_INVALID: {
    exit: 5,
    status: 500,
    meaning: 'The snapshot is damaged, or is not what it claims to be.',
    advice: 'Nothing was kept of it. Get it again, or from somebody else.',
  },
  BACKUP_MISSING: {
    exit: 1,
    status: 404,
    meaning: 'There is no backup of that name, or no folder of backups.',
    advice: 'Name a folder that `unspent backup` has written to; `unspent backup DIR --list` shows what is in it.',
  },
  BACKUP_INVALID: {
    exit: 5,
    status: 500,
    meaning: 'The backup is damaged, or is not whole.',
    advice: 'Nothing was kept of it. Restore another one: `unspent backup DIR --list` shows what there is.',
  },
  STORE_LOCKED: {
    exit: 1,
    status: 500,
    meaning: 'Another process has the store open, and this cannot be asked of it.',
    advice: 'Stop that process, or use another --data DIR.',
  },
  STORE_OWNER: {
    exit: 1,
    status: 500,
    meaning: 'The store belongs to another user.',
    advice: 'Run the command as that user, or while the process of the store runs, which is asked then (docs/packaging.md).',
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
    advice: 'Make a backup with the version that wrote it, and run `unspent upgrade` with this one; or sync into another --data DIR.',
  },
  STORE_SHAPE: {
    exit: 3,
    status: 500,
    meaning: 'The store was built with other projections switched on.',
    advice: 'Open it with those projections, or build a new store.',
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
    advice: 'Nothing was changed by what was refused.',
  },
  DATABASE: {
    exit: 1,
    status: 500,
    meaning: 'The database of the wallets refused a statement.',
    advice: 'Nothing of that call was written. If it names a constraint, please report it.',
  },
  DATABASE_BUSY: {
    exit: 1,
    status: 503,
    meaning: 'The database of the wallets could not do it now: it is locked, restarting or cannot be reached.',
    advice: 'Try again in a moment; check that its server runs.',
  },
  DATABASE_FAILED: {
    exit: 1,
    status: 503,
    meaning: 'The database of the wallets cannot be used: its disk is full, it is read-only, or it is damaged.',
    advice: 'Mend that, then open it again: until then every call fails.',
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
    meaning: 'The store no longer knows what the chain looked like there, or what that transaction was.',
    advice: 'Ask for a newer point: utxo.pruneDepth says how much of the past is kept, txs.retention how long records of transactions are.',
  },
  EXPIRED: {
    exit: 1,
    status: 410,
    meaning: 'The events after that position cannot be told any more.',
    advice: 'Read the state anew, and begin with the events after its block.',
  },
  COPY_UNREACHABLE: {
    exit: 4,
    status: 503,
    meaning: 'The database of the published copy cannot be reached.',
    advice: 'Try again in a moment: the reader connects again by itself. If it stays so, check the database and the URL of --from.',
  },
  COPY_UNREADY: {
    exit: 1,
    status: 503,
    meaning: 'There is no published copy to read there yet.',
    advice:
      'Check the database and the schema in the URL; `unspent publish` writes the copy, and readers wait until its first snapshot is whole.',
  },
  COPY_MOVED: {
    exit: 1,
    status: 503,
    meaning: 'The published copy has moved on, and is not held at the block of this answer any more.',
    advice: 'Ask again: the answer is of a newer block then.',
  },
  FENCED: {
    exit: 1,
    status: 503,
    meaning: 'Another publisher leads this copy now.',
    advice:
      'Nothing of that change was written. This one waits and takes over when the other is gone; stop one of them if two are one too many.',
  },
  TRIE_DIVERGED: {
    exit: 1,
    status: 409,
    meaning: 'The trie of this token is not, or not known to be, the one whose root is on chain.',
    advice: 'The token is still followed; other tokens are not touched.',
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
    advice: 'Try again; the headers of the answer say how far it is.',
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
    advice: 'Nothing was changed: try again when it is allowed.',
  },
  FEED_MOVED: {
    exit: 1,
    status: 409,
    meaning: 'Another process has taken the next block into the database of wallets or of transactions first.',
    advice: 'Nothing was lost: go on from where the database says the feed is.',
  },
  WATCH_CHANGED: {
    exit: 1,
    status: 409,
    meaning: 'Wallets or addresses were added to the database after a block was searched for them.',
    advice: 'Nothing was lost: search the block again.',
  },
  WALLETS_MISSING: {
    exit: 1,
    status: 404,
    meaning: 'There is no database of wallets.',
    advice: '`unspent wallet create` makes one; wallet.database says where.',
  },
  WALLET_UNKNOWN: {
    exit: 1,
    status: 404,
    meaning: 'There is no wallet of that name.',
    advice: '`unspent wallet list` shows the wallets of the database.',
  },
  WALLET_EXISTS: {
    exit: 1,
    status: 409,
    meaning: 'There is a wallet of that name already.',
    advice: 'Choose another name; nothing was changed.',
  },
  WATCH_ONLY: {
    exit: 1,
    status: 409,
    meaning: 'The wallet only watches: it has no secrets, and can be given none.',
    advice: 'Sign elsewhere, from a PSBT, or make a wallet with keys.',
  },
  MASTER_KEY_NEEDED: {
    exit: 1,
    status: 400,
    meaning: 'A wallet that can spend needs its encrypted master key.',
    advice: 'Give the secrets, or make it watch-only.',
  },
  ACCOUNT_UNKNOWN: {
    exit: 1,
    status: 404,
    meaning: 'The wallet has no such account.',
    advice: 'List the accounts of the wallet.',
  },
  ACCOUNT_EXISTS: {
    exit: 1,
    status: 409,
    meaning: 'The wallet has an account of that name in that scope already.',
    advice: 'Choose another name, or add to the account that is there.',
  },
  ACCOUNT_QUERY: {
    exit: 2,
    status: 400,
    meaning: 'It is not clear which account is meant.',
    advice: 'Name the scope, and either the name or the number of the account, not both.',
  },
  ACCOUNT_NAME_RESERVED: {
    exit: 2,
    status: 400,
    meaning: 'That name stands for addresses that were imported by themselves.',
    advice: 'Choose another name.',
  },
  ACCOUNT_NUMBER_MAX: {
    exit: 1,
    status: 409,
    meaning: 'The scope has as many accounts as there are numbers.',
    advice: 'Use another scope.',
  },
  ADDRESS_UNKNOWN: {
    exit: 1,
    status: 404,
    meaning: 'That script is not an address of the wallet.',
    advice: 'Import it, or derive addresses further; nothing was changed.',
  },
  ADDRESS_INDEX_MAX: {
    exit: 1,
    status: 409,
    meaning: 'The account has no further address on that branch, or the index is above 2147483647.',
    advice: 'Use another account.',
  },
  SCRIPT_MISSING: {
    exit: 2,
    status: 400,
    meaning: 'An address has no script.',
    advice: 'Give the script that its outputs have.',
  },
  INVALID_PARAM: {
    exit: 2,
    status: 400,
    meaning: 'A value that was given to a wallet or a transaction store makes no sense there.',
    advice: 'Correct the value that the message names; nothing was changed.',
  },
  INVALID_STATUS: {
    exit: 2,
    status: 400,
    meaning: 'A transaction cannot have that status there.',
    advice: 'A new one is pending or published; one in a block, and every coinbase, is published.',
  },
  INDEX_RANGE: {
    exit: 2,
    status: 400,
    meaning: 'The transaction has no output of that number.',
    advice: 'The first output has the number 0.',
  },
  INPUT_TWICE: {
    exit: 2,
    status: 400,
    meaning: 'The transaction spends one output twice.',
    advice: 'It cannot be valid; nothing was changed.',
  },
  TX_UNKNOWN: {
    exit: 1,
    status: 404,
    meaning: 'The wallet has no such transaction.',
    advice: 'Check the id.',
  },
  TX_EXISTS: {
    exit: 1,
    status: 409,
    meaning: 'The wallet or the transaction store has the transaction, in a way that this does not fit.',
    advice: 'If its block is gone, roll back first.',
  },
  TX_NOT_UNMINED: {
    exit: 1,
    status: 409,
    meaning: 'The transaction is in a block, is a coinbase, or is dead already.',
    advice: 'Only live transactions outside blocks can be given up or deleted.',
  },
  TX_HAS_CHILDREN: {
    exit: 1,
    status: 409,
    meaning: 'Other live transactions spend its outputs.',
    advice: 'Delete those first, or invalidate the whole branch.',
  },
  INPUT_CONFLICT: {
    exit: 1,
    status: 409,
    meaning: 'Another live transaction spends the same output.',
    advice: 'To take its place, ask for a replacement; nothing was changed.',
  },
  PARENT_DEAD: {
    exit: 1,
    status: 409,
    meaning: 'The transaction spends an output of one that was replaced, has failed or is orphaned.',
    advice: 'If the chain has that one after all, tell the wallet of it first.',
  },
  BLOCK_UNKNOWN: {
    exit: 1,
    status: 409,
    meaning: 'The wallet database does not have that block.',
    advice: 'Tell it of the block first.',
  },
  BLOCK_MISMATCH: {
    exit: 1,
    status: 409,
    meaning: 'The wallet database has another block at that height.',
    advice: 'Roll back to the fork first.',
  },
  CHAIN_INCONSISTENT: {
    exit: 1,
    status: 409,
    meaning: 'A transaction in a block depends on one that lost.',
    advice: 'Nothing was changed. Roll back to before that block, and scan again.',
  },
  UTXO_UNKNOWN: {
    exit: 1,
    status: 404,
    meaning: 'The wallet has no such unspent output.',
    advice: 'It may be spent, or its transaction dead.',
  },
  COIN_LEASED: {
    exit: 1,
    status: 409,
    meaning: 'Somebody else has leased that coin.',
    advice: 'Choose another, or wait until the lease ends.',
  },
  LEASE_OF_ANOTHER: {
    exit: 1,
    status: 409,
    meaning: 'The lease is of somebody else.',
    advice: 'Only the id that took a lease can release it before its end.',
  },
  FUNDS_INSUFFICIENT: {
    exit: 1,
    status: 409,
    meaning: 'The coins that may be spent do not suffice.',
    advice: 'Send less, wait for confirmations, or release coins that are leased.',
  },
  SELECTION_NOT_FOUND: {
    exit: 1,
    status: 409,
    meaning: 'The coins suffice, but the one search for coins that was asked for finds none.',
    advice: 'Leave the order of coins out: then all searches are tried.',
  },
  TX_TOO_LARGE: {
    exit: 1,
    status: 409,
    meaning: 'The coins suffice, but not so many of them as fit into one transaction.',
    advice: 'Send less, or merge coins into fewer ones first.',
  },
  OUTPUT_DUST: {
    exit: 1,
    status: 400,
    meaning: 'An output would hold less than the network accepts.',
    advice: 'Pay more to it, or leave it out.',
  },
  REPLACEMENT_REFUSED: {
    exit: 1,
    status: 409,
    meaning: 'Nodes would not take this transaction in place of those it conflicts with.',
    advice: 'Raise the fee, or wait until the first one is mined.',
  },
  FEE_TOO_HIGH: {
    exit: 1,
    status: 409,
    meaning: 'The transaction would cost more than is allowed; no coin was leased.',
    advice: 'If it is meant, raise wallet.feeMax or wallet.feeRateMax, or allow more for this one (--max-fee, --max-fee-rate).',
  },
  DESCRIPTOR_INVALID: {
    exit: 2,
    status: 400,
    meaning: 'The text is not an output descriptor that we know.',
    advice: 'Give it with its checksum, so that a slip is found before money is sent there.',
  },
  DERIVATION_FAILED: {
    exit: 1,
    status: 400,
    meaning:
      'There is no such key: the step is hardened and the private key is not at hand, the index is too large, or it is one of the few that BIP32 leaves out.',
    advice: 'Of an index that BIP32 leaves out, take the next one.',
  },
  SECRET_INVALID: {
    exit: 1,
    status: 400,
    meaning: 'The mnemonic, seed, private key or box of secrets is not sound.',
    advice: 'Compare it with your backup.',
  },
  PASSPHRASE_WRONG: {
    exit: 1,
    status: 403,
    meaning: 'The passphrase does not open the secrets of this wallet.',
    advice: 'Try again. Nobody can tell a wrong passphrase from a box that was altered or moved from another wallet.',
  },
  PSBT_INVALID: {
    exit: 1,
    status: 400,
    meaning: 'The bytes are not a sound partially signed transaction, or what was asked does not fit it.',
    advice: 'Get the file again from whoever made it.',
  },
  PSBT_INCOMPLETE: {
    exit: 1,
    status: 409,
    meaning: 'Signatures are missing from the partially signed transaction.',
    advice: 'Let the other keys sign, combine, and finalise again.',
  },
  TX_NOT_FOUND: {
    exit: 1,
    status: 404,
    meaning: 'The transaction store has no such transaction.',
    advice: 'It was never stored, or was deleted after it was of no more use; nothing was changed.',
  },
  TX_CREATING: {
    exit: 1,
    status: 409,
    meaning: 'The transaction is not stored completely yet, so that its outputs cannot be spent.',
    advice: 'Wait until whoever stores it has finished; a block that holds it finishes it, too.',
  },
  TX_CONFLICTING: {
    exit: 1,
    status: 409,
    meaning: 'The transaction lost against another one, so that its outputs cannot be spent.',
    advice: 'Spend the outputs of the winner.',
  },
  TX_LOCKED: {
    exit: 1,
    status: 409,
    meaning: 'The transaction is locked, so that its outputs cannot be spent.',
    advice: 'Unlock it, or wait for a block that holds it.',
  },
  COINBASE_IMMATURE: {
    exit: 1,
    status: 409,
    meaning: 'The output is of a coinbase with fewer than 100 blocks on it.',
    advice: 'Spend another output, or wait until a hundred blocks are on it.',
  },
  FROZEN: { exit: 1, status: 409, meaning: 'The output is frozen.', advice: 'Unfreeze it first; nothing was changed.' },
  ALREADY_FROZEN: { exit: 1, status: 409, meaning: 'The output is frozen already.', advice: 'There is nothing to do.' },
  NOT_FROZEN: {
    exit: 1,
    status: 409,
    meaning: 'The output is not frozen.',
    advice: 'Only frozen outputs can be unfrozen or given to somebody else.',
  },
  FROZEN_UNTIL: {
    exit: 1,
    status: 409,
    meaning: 'The output was given to somebody else, who may not spend it yet.',
    advice: 'Spend another output, or wait for that height.',
  },
  SPENT: {
    exit: 1,
    status: 409,
    meaning: 'Another transaction spends the output.',
    advice: 'Choose an output that is unspent; nothing was changed.',
  },
  UTXO_NOT_FOUND: {
    exit: 1,
    status: 404,
    meaning: 'The transaction has no such output, or one that can never be spent.',
    advice: 'Check its number, which counts from 0; what can never be spent is not kept.',
  },
  HASH_MISMATCH: {
    exit: 1,
    status: 409,
    meaning: 'The output does not have the amount or the script that its spender believes.',
    advice: 'Read the output again; it may have been given to somebody else.',
  },
  INVALID_SPEND: {
    exit: 1,
    status: 409,
    meaning: 'The transaction was mined long ago, was deleted since, and is submitted again.',
    advice: 'Nothing needs to be done: it is final.',
  },
  UNAUTHORIZED: { exit: 1, status: 401, meaning: 'The request has no valid token.', advice: 'Send Authorization: Bearer TOKEN.' },
  FORBIDDEN: {
    exit: 1,
    status: 403,
    meaning: 'The request is not for this server.',
    advice: 'Use the address the server listens on, or name the host in server.hosts.',
  },
  NO_ROUTE: { exit: 1, status: 404, meaning: 'There is no such route.', advice: 'The reference is at /docs/api.' },
  LIMIT: {
    exit: 1,
    status: 413,
    meaning: 'The request asks for more than the server gives at once.',
    advice: 'Ask for less, page by page.',
  },
  BUSY: { exit: 1, status: 503, meaning: 'The server has as many requests or streams as it may have.', advice: 'Try again in a moment.' },
  UNSUPPORTED: { exit: 1, status: 501, meaning: 'That cannot be done here.', advice: 'Nothing was changed.' },
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

  /** What can be done about it, in a sentence: as whoever threw it says, or for what the system said, or by its code. */
  get advice(): string {
    const { code, cause } = this;
    const { advice } = this.meta;
    if (typeof advice === 'string') return advice;
    const byReason = code === 'SOURCE_UNREACHABLE' || code === 'IO' ? systemAdvice(cause) : undefined;
    return byReason ?? ERROR_CODES[code].advice;
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

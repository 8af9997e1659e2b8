/**
 * Every limit of the system, with its unit and its reason. A limit that is not
 * here is a limit nobody can find.
 */

/** Blocks that a list of the newest ones has at most: a screen or two, each a read. */
export const NEWEST_BLOCKS_MAX = 100;

/** Transactions that a list of the newest ones has at most: a screen or two, each with its outputs read. */
export const NEWEST_TXS_MAX = 50;

/** Blocks that are gone through for the newest transactions: on a quiet chain nearly all are empty. */
export const NEWEST_BLOCKS_READ_MAX = 200;

/** Outputs of one of the newest transactions that are added up: a Bitcoin transaction may have thousands, which a list need not read. */
export const NEWEST_OUTPUTS_MAX = 500;

/** Addresses that hold one asset and are added up for one answer: some ten megabytes. */
export const ASSET_HOLDERS_MAX = 100_000;

/** Addresses that an answer about an asset names. */
export const ASSET_HOLDERS_SHOWN = 25;

/** Transactions that an asset is followed back through to its mint: each is read with all it names, about a tenth of a millisecond. */
export const ASSET_TRACE_TXS_MAX = 2000;

/** Rollbacks that a server remembers with what they took away; of each so many blocks and transactions, of each transaction so many outputs: some ten megabytes at most. */
export const ROLLBACK_LOG_MAX = 10;
export const ROLLBACK_LOG_BLOCKS = 50;
export const ROLLBACK_LOG_TXS = 200;
export const ROLLBACK_LOG_OUTPUTS = 8;
/** Bytes of the file that keeps them: ten of 200 transactions with eight outputs of some kilobytes, and room to spare. */
export const ROLLBACK_FILE_BYTES_MAX = 256 << 20;

/** Bytes of one block. Cardano: a Byron EBB of 648,087; block-fetch allows 2.5 MB. Bitcoin: 4 MB; Litecoin: 4 MB and an extension block of 12 MB. */
export const BLOCK_BYTES_MAX = 16_000_000;

/** Transactions of one block. Bitcoin's weight allows 16,666 (60 bytes is the shortest), Byron's 2 MB fewer; undone, an empty one of a byte takes four hundred decoded. */
export const BLOCK_TXS_MAX = 65_536;

/** Levels of CBOR nesting passed by recursion, a stack frame each; ledgers set no limit, so deeper ones are counted on the heap. */
export const CBOR_RECURSION_MAX = 512;

/** Bytes of one big number. Ledgers allow 8 for a quantity; turning bytes into a number is quadratic, so bounded. */
export const CBOR_BIG_BYTES_MAX = 1024;

/**
 * Bytes read from a chunk file at a time: large enough to stream, small enough to keep memory flat and to have the first
 * blocks soon. Where a block is longer, more are read.
 */
export const CHUNK_READ_BYTES = 2 * 1024 * 1024;

/** Bytes of one inflated chunk: 21,600 slots cannot hold more than about 100 MB of blocks. */
export const CHUNK_BYTES_MAX = 512 * 1024 * 1024;

/** Blocks in one commit while far behind the tip: past 1,000 nothing is gained (docs/internals/speed.md). */
export const GROUP_BLOCKS_MAX = 1000;

/** Bytes of raw blocks in one commit: bounds memory when blocks are large. */
export const GROUP_BYTES_MAX = 4 * 1024 * 1024;

/** The same of the first groups and the last: the thread that writes has work soon, and little is left for it in the end. */
export const GROUP_BYTES_MIN = 1024 * 1024;

/** Batches that the writing thread may have before it at a time: one it writes, one that waits, so that neither thread waits for long. */
export const WRITER_AHEAD_MAX = 2;

/** Bytes of those batches: some groups of blocks of 4 MB with what follows from them. One that is larger goes alone. */
export const WRITER_AHEAD_BYTES_MAX = 24 * 1024 * 1024;

/** Bytes kept at hand for further batches: those on their way and the one that is being filled. */
export const WRITER_IDLE_BYTES_MAX = 32 * 1024 * 1024;

/** Milliseconds that are waited for the writing thread to start, where it must: it takes some fifty, on a busy machine seconds. */
export const WRITER_START_MS_MAX = 60_000;

/** Milliseconds the writing thread may take for a batch: RocksDB stalls writers for seconds when it cannot keep up, a slow disk for minutes. */
export const WRITER_MS_MAX = 600_000;

/** Blocks undone in one batch: a whole window fits, memory stays bounded. */
export const ROLLBACK_BLOCKS_MAX = 5000;

/** Inputs up to which a quadratic duplicate check beats a set. */
export const DUPLICATE_SCAN_MAX = 32;

/** Rows fetched from the engine at a time by a scan. */
export const SCAN_ROWS = 1024;

/** Characters of lines that a digest hashes at once: enough that the call costs nothing beside the hash, few enough for a processor's cache. */
export const DIGEST_TEXT_CHARACTERS = 16 * 1024;

/** More blocks than any chain has: a window of this size keeps everything. */
export const WINDOW_BLOCKS_MAX = 100_000_000;

/** Blocks whose transactions are forgotten with one batch of pruning: a few megabytes of rows. */
export const HISTORY_FORGET_BLOCKS = 200;

/** Scripts, and outpoints, that one request for their past names: a wallet that looks for its addresses asks for a gap limit of them. */
export const SCRIPTS_AT_ONCE = 500;

/** A request for the past of so many scripts, the longest of which have 10,000 bytes. */
export const SCRIPTS_BODY_BYTES_MAX = 1024 * 1024;

/** Transactions of a history whose outputs are read together: some hundred kilobytes at most times. */
export const HISTORY_TXS_AT_ONCE = 64;

/** Outputs of a list that are looked up together: about a slice of work, and as fast in all as a thousand at a time. */
export const LOOKUP_ROWS = 128;

/** Bytes of rows after which a scan fetches no further ones at a time: transactions of 4 MB would make 4 GB of them. */
export const SCAN_BYTES = 8 * 1024 * 1024;

/** Milliseconds to wait for the seal of a process that has let go of a RocksDB store: it writes one small file. */
export const LATE_SEAL_MS = 2000;

/** Milliseconds a connection to a SQLite store waits for a lock that another one holds: for the length of a recovery or a checkpoint. */
export const SQLITE_BUSY_MS = 10_000;

/** Connections of a SQLite store that wait for the next reader: more are seldom used at once, and each has a cache. */
export const SQLITE_READERS_IDLE_MAX = 8;

/** Milliseconds between looks whether snapshots keep the log of a SQLite store from beginning anew. */
export const SQLITE_RENEW_MS = 50;

/** Milliseconds a commit may wait for readers to leave a log that has grown too long: two such looks and some. */
export const SQLITE_RESTART_MS = 150;

/** Bytes of a SQLite store that are compared with their checksums before it is open: a second of time, and more where the disk is slow. */
export const SQLITE_CHECK_BYTES = 2 * 1024 * 1024 * 1024;

/** Pages of a larger SQLite store that are compared at a time beside its work: 1 MB, in half a millisecond of processor time. */
export const SQLITE_CHECK_PAGES = 256;

/** Milliseconds between two looks at how far that comparison is, for those who wait for it: verify of a large store takes minutes. */
export const SQLITE_CHECK_LOOK_MS = 100;

/** Unspent outputs whose balances are summed in memory at a time when a store is checked: some hundred bytes each. */
export const VERIFY_BALANCE_OUTPUTS = 2_000_000;

/** Milliseconds between looks at a folder that may still grow. */
export const FOLLOW_POLL_MS = 1000;

/** Payload bytes of one multiplexer segment that we send: what the reference cuts at on sockets. */
export const SDU_BYTES_SENT_MAX = 12_288;

/** Milliseconds for the rest of a segment once it has begun; and for each step of the handshake. */
export const SDU_REST_MS = 30_000;
export const HANDSHAKE_STEP_MS = 10_000;

/** Milliseconds until a peer must have taken our connection. */
export const CONNECT_MS = 10_000;

/** Bytes of one protocol kept unread before the socket is paused: the largest block-fetch message and then some. */
export const INGRESS_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes handed to a socket and not yet taken by the system, past which senders wait. */
export const EGRESS_BYTES_MAX = 1024 * 1024;

/** Bytes of a handshake message, of any other small message, and of a block on its way (reference limits). */
export const HANDSHAKE_BYTES_MAX = 5760;
export const MESSAGE_BYTES_MAX = 65_535;
export const BLOCK_MESSAGE_BYTES_MAX = 2_500_000;

/** Bytes of a message from a local node, which the reference does not bound: a whole unspent set comes in one. */
export const LOCAL_MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;

/** Requests for the next header on their way, as the reference's client between nodes has them: fill to the first, refill at the second. */
export const CHAIN_SYNC_AHEAD_MAX = 300;
export const CHAIN_SYNC_AHEAD_MIN = 200;

/** Requests for the next block on their way to a local node: what cardano-db-sync keeps, and what gouroboros takes. */
export const CHAIN_SYNC_LOCAL_AHEAD_MAX = 50;

/** Ranges of blocks on their way: enough to hide the round trip, since a range holds up to 512 KiB; the reference allows 100. */
export const FETCH_RANGES_MAX = 10;

/** A depth of pipelining has stood the trial when so many times as many answers came on the same connection. */
export const PIPELINE_TRIAL_FACTOR = 10;

/** Headers known whose blocks were not handed over yet. */
export const HEADERS_AHEAD_MAX = 2500;

/** Bytes of blocks asked for and not handed over yet, and of one range of them. */
export const FETCH_BYTES_MAX = 16 * 1024 * 1024;
export const FETCH_RANGE_BYTES = 512 * 1024;

/** Blocks of one range: small ones should not make a range that takes too long to begin. */
export const FETCH_RANGE_BLOCKS = 300;

/** Milliseconds between keep-alive messages; the peer gives up after 97 s. */
export const KEEP_ALIVE_MS = 20_000;

/** Milliseconds before a lost peer is tried again: doubled each time, from the first to the second. */
export const RECONNECT_MS_MIN = 250;
export const RECONNECT_MS_MAX = 60_000;

/** Rounds over all peers without a single block, after which a sync that does not follow gives up. */
export const RECONNECT_ATTEMPTS = 5;

/** Bytes of a request's body, where a route does not say otherwise. */
export const HTTP_BODY_BYTES_MAX = 64 * 1024;

/** Bytes of one outpoint in a body: 64 digits, a sign, an index of ten digits, quotes, a comma, a line break and some indentation. */
export const HTTP_OUTPOINT_BYTES_MAX = 96;

/** Characters of a request's URL, and of one part of its path: the longest address on a chain, in hex, fits. */
export const HTTP_URL_CHARS_MAX = 4096;
export const HTTP_PARAM_CHARS_MAX = 2048;

/** Milliseconds for the headers of a request, and for all of it: whoever needs longer only holds a connection. */
export const HTTP_HEADERS_MS = 10_000;
export const HTTP_REQUEST_MS = 20_000;

/** Milliseconds in which a connection must move a byte, on top of what a request may wait: a reader that stalls pins a snapshot. */
export const HTTP_STALLED_MS = 30_000;

/** Milliseconds one streamed answer may last, however slowly it is read: as long it pins its snapshot. */
export const HTTP_STREAM_MS_MAX = 30 * 60_000;

/** Requests that are worked on in turns at the same time, over HTTP and Electrum: each holds a snapshot and what it has made so far. */
export const LONG_TASKS_MAX = 64;

/** Bytes of whole answers that are being made or wait for their readers, over all connections: a reader that takes nothing keeps one in memory. */
export const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

/** Requests that one connection may send ahead of the answers (pipelining), and all connections together: some kilobytes each. */
export const HTTP_PIPELINED_MAX = 16;
export const HTTP_PIPELINED_ALL_MAX = 1000;

/** Connections beyond `server.connectionsMax` that are accepted while all of those are at work: for questions after health. */
export const HTTP_CONNECTIONS_RESERVE = 16;

/** Milliseconds of long work before others on its thread get their turn: requests among themselves, readers of events, the fold. */
export const SLICE_MS = 3;

/** Characters (or bytes) of one piece of a streamed answer. */
export const HTTP_PIECE_CHARS = 64 * 1024;

/** Rows that `page` may pass over: beyond, a cursor costs less than one page and this costs all of them. */
export const HTTP_SKIPPED_ROWS_MAX = 100_000;

/** Times in a row that what peers send may be refused before following counts as stuck: damaged bytes come right when asked for again. */
export const FOLLOW_REFUSALS_MAX = 3;

/** Blocks behind the source with which a store still counts as ready: what arrives while a block is on its way. */
export const READY_BLOCKS_BEHIND_MAX = 5;

/** Bytes of outputs spent since that answer for an earlier block, over all blocks remembered; in memory its tables take as much again. */
export const PAST_BYTES_MAX = 128 * 1024 * 1024;

/** Earlier blocks whose outputs are remembered for the next question about them. */
export const PAST_POINTS_MAX = 4;

/** Outputs that may be undone for the set hash of an earlier block: about four seconds. */
export const PAST_SET_CHANGES_MAX = 500_000;

/** Outputs by which the trees of earlier blocks, over all blocks remembered, differ from that of now: some ten records of a few hundred bytes each. */
export const PAST_TREE_CHANGES_MAX = 150_000;

/** Different assets of one balance: each takes some 200 bytes of memory. */
export const BALANCE_ASSETS_MAX = 1_000_000;

/** Milliseconds that a step of a fill should take: in that time no block is applied and nobody on this thread is answered. */
export const FILL_STEP_MS = 5;

/** Outputs that one step of a fill goes through, by how long the last ones took, and bytes of them. */
export const FILL_ROWS_MIN = 50;
export const FILL_ROWS_MAX = 2000;
export const FILL_BYTES_MAX = 1024 * 1024;

/** Rows that one batch of pruning deletes, whole blocks of them: about as many milliseconds as a commit at the tip takes. */
export const PRUNE_ROWS_MAX = 5000;

/** Milliseconds after which a tick of pruning begins no further batch: in that time no block is applied. */
export const PRUNE_TICK_MS = 10;

/** Rows deleted, or blocks undone, by one command from which on it compacts the store when it is done: below, little space is gained. */
export const COMPACT_PRUNED_ROWS_MIN = 100_000;
export const COMPACT_UNDONE_BLOCKS_MIN = 1000;

/** Bytes of memtables with which a store is opened to be compacted: levels are sized by it, so that all of them are too large. */
export const COMPACT_MEMTABLE_BYTES = 1_000_000;

/** Milliseconds between looks at a compaction, and looks without any change after which it has ended. */
export const COMPACT_LOOK_MS = 250;
export const COMPACT_QUIET_LOOKS = 4;

/** Milliseconds between signs of life of an event stream: proxies cut what is silent for a minute. */
export const EVENT_HEARTBEAT_MS = 15_000;

/** Bytes on their way to one reader of events; a reader further behind is cut off and comes back. */
export const EVENT_BUFFER_BYTES_MAX = 4 * 1024 * 1024;

/** Milliseconds after which a reader whose stream broke should come back. */
export const EVENT_RETRY_MS = 1000;

/** Milliseconds of silence after which a reader of events takes the server for lost: three signs of life were missed. */
export const EVENT_SILENCE_MS = 3 * EVENT_HEARTBEAT_MS;

/** Characters of one event that a reader takes: those of a block have a few hundred. */
export const EVENT_CHARS_MAX = 1024 * 1024;

/** Addresses, credentials and assets that one stream of events may name: they come in a URL. */
export const EVENT_FILTERS_MAX = 100;

/** Samples of the short history, one a second: a quarter of an hour. */
export const HISTORY_SAMPLES_MAX = 900;

/** Requests of one second whose time is remembered for its percentile. */
export const HISTORY_TIMINGS_MAX = 10_000;

/** Milliseconds between two messages to the serving thread while blocks pour in, and the longest without one. */
export const LIVE_UPDATE_MS = 20;
export const LIVE_UPDATE_MS_MAX = 1000;

/** Rollbacks the status remembers, and timings in one message: more than a person reads, more than 20 ms hold. */
export const LIVE_ROLLBACKS_MAX = 20;
export const LIVE_TIMINGS_MAX = 1000;

/** Outputs that are looked up in one call for the requests of one turn: a tenth of a slice. */
export const TURN_LOOKUPS_MAX = 64;

/** Characters of one answer that is cached until the store moves, and of all of them together. */
export const CACHED_RESPONSE_CHARS_MAX = 64 * 1024;
export const RESPONSE_CACHE_CHARS_MAX = 8 * 1024 * 1024;
/** Characters of an answer that is cached only when it is asked for again, and how many URLs are remembered for that. */
export const SHORT_RESPONSE_CHARS = 4096;
export const RESPONSE_NAMES_REMEMBERED = 16_384;

/** Transactions and bytes of a mempool that a reader keeps: a third of what nodes hold, since unpacked it takes thrice as much. */
export const MEMPOOL_TXS_MAX = 300_000;
export const MEMPOOL_BYTES_MAX = 100 * 1024 * 1024;

/** Seconds after which a transaction in no block is forgotten, as nodes do: not every source tells what they dropped. */
export const MEMPOOL_SECONDS_MAX = 14 * 24 * 3600;

/** Milliseconds between looks at the mempool of a local node: each takes all of it. */
export const TX_MONITOR_LOOK_MS = 200;

/** Transactions and bytes of a mempool that is held against the store as a whole: Cardano's nodes hold two blocks of them, which is 180 kB. */
export const PENDING_TXS_MAX = 5000;
export const PENDING_BYTES_MAX = 8 * 1024 * 1024;

/** Blocks for which a transaction is remembered that is in a block, or cannot get into one: they may be undone. */
export const PENDING_RETURN_BLOCKS = 30;

/** Seconds for which a transaction that came back from an undone block, and that its node does not hold, may get into another: wallets let theirs live for two hours. */
export const PENDING_SECONDS_MAX = 2 * 3600;

/** Blocks that a mempool is held against one by one; past that all of it is looked up anew. */
export const MEMPOOL_BLOCKS_MAX = 24;

/** Blocks a mempool remembers, to find where the chain turned. */
export const MEMPOOL_TRAIL_MAX = 200;

/** Blocks of one move that are read to see which scripts they touch. With more, asking each subscribed script is less work. */
export const ELECTRUM_MOVE_BLOCKS_MAX = 16;

/** Subscribed scripts, for each new block, up to which asking each of them is less work than reading the block. */
export const ELECTRUM_ASKED_SCRIPTS_MAX = 1000;

/** Blocks that the Electrum server remembers, to find where the chain turned: past them every script is looked at again. */
export const ELECTRUM_TRAIL_MAX = 4320;

/** Blocks behind the node at which its mempool is no longer watched: what it builds on is not here. */
export const MEMPOOL_BEHIND_BLOCKS_MAX = 1000;

/** Milliseconds between two looks at what is followed. */
export const MEMPOOL_LOOK_MS = 200;

/** Milliseconds in which changes of the mempool are gathered for one message; a block that explains them should be told first. */
export const MEMPOOL_UPDATE_MS = 50;

/** Bytes of transactions in one such message: what the serving thread takes in without keeping others waiting. */
export const MEMPOOL_UPDATE_BYTES_MAX = 256 * 1024;

/** Bytes of transactions that may wait for one reader of the mempool's stream; one that is further behind is ended and begins anew. */
export const MEMPOOL_STREAM_BYTES_MAX = 16 * 1024 * 1024;

/** Milliseconds for a submission over P2P, its connections included: the node lets five seconds pass on average before it passes one on, now and then many more. */
export const P2P_SUBMIT_MS = 45_000;

/** Milliseconds of silence for a submission over RPC. A node that checks for longer is not well. */
export const RPC_SUBMIT_MS = 30_000;

/** Milliseconds in which every source has answered a submission or given it up, and submissions on their way. Longer than each of them takes by itself, so that their own words are heard. */
export const SUBMIT_MS_MAX = Math.max(P2P_SUBMIT_MS, CONNECT_MS + RPC_SUBMIT_MS) + 5000;
export const SUBMITS_MAX = 64;

/** Milliseconds after which the rest of a package is not tried any more: its submissions go one after the other, and somebody waits for all of them. */
export const SUBMIT_PACKAGE_MS = 20_000;

/** Milliseconds that the scripts of one transaction may take: the units of a transaction take a tenth of a second; this is for a machine that hangs. */
export const EVALUATION_MS_MAX = 10_000;
/** Milliseconds until the thread that evaluates has its machine: a tenth of a second on a quiet machine. */
export const EVALUATION_START_MS_MAX = 60_000;
/** Transactions that wait for their evaluation, which come one after the other. */
export const EVALUATIONS_MAX = 32;
/** Milliseconds without a request after which the thread that evaluates ends, and gives back what scripts made it take. */
export const EVALUATION_IDLE_MS = 30_000;
/** Outputs that a request for an evaluation brings along: more inputs do not fit into a transaction. */
export const EVALUATION_OUTPUTS_MAX = 500;
/** Bytes of such a request: a transaction and outputs, in hex. */
export const EVALUATION_BODY_BYTES_MAX = 1024 * 1024;
/** Messages of a WebSocket of the Ogmios API that wait for the one before them; then it is read no further. */
export const OGMIOS_MESSAGES_MAX = 16;
/** Characters of such messages, of one kind, past which the WebSocket is read no further: most are a few hundred. */
export const OGMIOS_WAITING_CHARS = 64 * 1024;
/** Stake accounts in one request of the Ogmios API: the node is asked for all of them at once. */
export const OGMIOS_ACCOUNTS_MAX = 1_000;
/** Milliseconds of silence after which the other side of a WebSocket of the Ogmios API is asked whether it is there. */
export const OGMIOS_KEEP_ALIVE_MS = 60_000;
/** Requests for a next block that a WebSocket may send ahead of their answers; then it is read no further. Clients begin with 100. */
export const OGMIOS_PIPELINED_MAX = 1_000;
/** Points in one request for an intersection: each is looked up. */
export const OGMIOS_POINTS_MAX = 5_000;
/** Points that a WebSocket remembers, to find where the chain turned: about 100 bytes each. A rollback of half as many is exact. */
export const OGMIOS_POINTS_KEPT_MAX = 512;
/** Lists and objects inside each other in the id of a request to the Ogmios API, which its answer repeats: an id is a word or a few. */
export const OGMIOS_ID_DEPTH_MAX = 16;
/** Outputs in one answer of the Ogmios API, which is made as a whole; the other APIs have pages. */
export const OGMIOS_OUTPUTS_MAX = 10_000;
/** Bytes of a message that UTxO RPC takes: names of outputs, or transactions of which each is as long as the ledger allows. */
export const UTXORPC_MESSAGE_BYTES_MAX = 1024 * 1024;
/** Calls of one connection to UTxO RPC that may be under way at a time; more wait at the client. */
export const UTXORPC_SESSION_STREAMS_MAX = 100;
/** Milliseconds after which a connection to UTxO RPC on which nothing is asked is closed; its client opens another. */
export const UTXORPC_IDLE_MS = 600_000;
/** Outputs, blocks or other things in one answer of UTxO RPC, which is made as a whole. */
export const UTXORPC_ITEMS_MAX = 10_000;
/** Blocks in one answer of UTxO RPC: as many as Dolos gives. */
export const UTXORPC_BLOCKS_MAX = 100;
/** Bytes in memory for a byte of the chain in such an answer, about: the message and its values, and what goes out. */
export const UTXORPC_BYTES_OF_RAW = 4;
/** Names of outputs of one call to UTxO RPC that are looked up at once, between two turns. */
export const UTXORPC_LOOKUPS_MAX = 100;
/** Points that a client of UTxO RPC may say it has. */
export const UTXORPC_POINTS_MAX = 1000;
/** Ways to match that a predicate of UTxO RPC may come to, each of which is a lookup. */
export const UTXORPC_ALTERNATIVES_MAX = 64;
/** MiB of JavaScript objects in that thread; what scripts take is outside of it, and bounded by their units. */
export const EVALUATION_HEAP_MIB_MAX = 128;

/** Digits of a transaction in a request of the MPFS API: 64 KiB, four times what the ledger lets into a block. */
export const SUBMIT_HEX_MAX = 131_072;
/** Requests of a token that one answer of the MPFS API proves: more do not fit into a transaction. */
export const MPFS_REQUESTS_MAX = 500;
/** Blocks that one request of the MPFS API may wait for: about five hours; the seconds a request may wait end it long before. */
export const MPFS_WAIT_BLOCKS_MAX = 1000;

/** Bytes of blocks one batch of RPC calls should fetch, calls of one batch, and batches on their way: an answer is hex, all in memory. */
export const RPC_BATCH_BYTES = 2 * 1024 * 1024;
export const RPC_BATCH_CALLS_MAX = 500;
export const RPC_BATCHES_AHEAD = 3;

/** Bytes of one RPC answer: the largest block in hex with room to spare, or the ids of nearly a million transactions. */
export const RPC_ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Milliseconds of silence after which an RPC answer is given up, and for how long a node may say that it is still loading. */
export const RPC_ANSWER_MS = 60_000;
export const RPC_LOADING_MS_MAX = 10 * 60_000;

/** Milliseconds between questions for a new block, and the least between looks at the mempool. */
export const RPC_POLL_MS = 250;
export const RPC_MEMPOOL_MS = 500;

/** Bytes looked at in a block file at a time: where a look holds several records, and where it holds one. */
export const BLK_LOOK_BYTES_MAX = 1024 * 1024;
export const BLK_LOOK_BYTES_MIN = 4096;

/** Blocks handed over in one run from block files: early ones are so small that a read holds tens of thousands. */
export const BLK_RUN_BLOCKS_MAX = 2000;

/** Bytes of transactions that wait on an embedded regtest chain: a few blocks full. */
export const REGTEST_POOL_BYTES_MAX = 16 * 1024 * 1024;

/** Blocks that such a chain can take back: each keeps what it spent in memory. */
export const REGTEST_UNDO_BLOCKS = 500;

/** Newest blocks that it keeps in memory where its journal has all of them. */
export const REGTEST_RECENT_BLOCKS = 300;

/** Bytes of one message to the Electrum server: the largest transaction that nodes relay, in hex, with room to spare. */
export const ELECTRUM_MESSAGE_BYTES_MAX = 1024 * 1024;

/** Requests of one Electrum batch, and messages of one session that wait: then nothing more is read from it. */
export const ELECTRUM_BATCH_MAX = 1000;
export const ELECTRUM_QUEUE_MAX = 64;

/** Bytes of the answers to one Electrum batch; the requests behind that are refused. */
export const ELECTRUM_BATCH_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes on their way to an Electrum client: past the first its next request waits, past the second a notification ends it. */
export const ELECTRUM_UNREAD_BYTES = 1024 * 1024;
export const ELECTRUM_UNREAD_BYTES_MAX = 32 * 1024 * 1024;

/** Milliseconds for an Electrum client to take what was sent to it, and without a word from it. */
export const ELECTRUM_STALLED_MS = 5 * 60_000;
export const ELECTRUM_IDLE_MS = 10 * 60_000;

/** Headers of one Electrum answer: a period between two changes of the difficulty. */
export const ELECTRUM_HEADERS_MAX = 2016;

/** Transactions of one package. Core's limit. */
export const ELECTRUM_PACKAGE_MAX = 25;

/** Bytes of a message between Bitcoin nodes that is not a block; what Core takes at most. */
export const P2P_MESSAGE_BYTES_MAX = 4_000_000;

/** Headers in one message, and things named in one inventory: the protocol's own limits. */
export const P2P_HEADERS_MAX = 2000;
export const P2P_INVENTORY_MAX = 50_000;

/** Blocks named in one answer to `getblocks`: the protocol's own limit, by which clients know that there are more. */
export const P2P_BLOCK_IDS_MAX = 500;

/** Bytes of transactions that the responder announced and still gives after they were mined: twice what can wait on a regtest chain. */
export const P2P_ANNOUNCED_BYTES_MAX = 2 * REGTEST_POOL_BYTES_MAX;

/**
 * Headers of a chain of the Bitcoin family held at once, a hundred bytes each: of our own chain below where we are (no
 * reorganisation is deeper), of a node's above it, and of all branches together. A node that wants more of our memory is left.
 */
export const P2P_REORG_BLOCKS_MAX = 10_000;
export const P2P_HEADERS_AHEAD_MAX = 10_000;
export const P2P_HEADERS_KEPT_MAX = 50_000;

/**
 * Milliseconds between looks at the headers of another node, where several are given, and for the one that is followed to
 * show as much work as the other: a new block takes seconds to reach every node.
 */
export const P2P_COMPARE_MS = 60_000;
export const P2P_COMPARE_GRACE_MS = 15_000;

/** Blocks asked of one node and not arrived yet; bytes of blocks on their way or waiting to be applied. */
export const P2P_BLOCKS_IN_FLIGHT_MAX = 512;
export const P2P_BLOCK_BYTES_AHEAD_MAX = 32 * 1024 * 1024;

/** Milliseconds in which a node must give the headers, or the next of the blocks, that it was asked for. */
export const P2P_ANSWER_MS = 60_000;

/** Milliseconds between pings, and without any message after which a node is taken for dead. */
export const P2P_PING_MS = 60_000;
export const P2P_SILENCE_MS = 150_000;

/** Bytes of unconfirmed transactions remembered from a node; Core's own mempool has 300 MB at most. */
export const P2P_MEMPOOL_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of what is posted to the Esplora routes: the largest transaction that nodes relay, in hex, has 800,000. */
export const ESPLORA_BODY_BYTES_MAX = 1_000_000;

/** Seconds for which a browser may remember what a preflight said: a change of `server.cors` counts for everybody after that. */
export const CORS_PREFLIGHT_SECONDS = 600;

/** Names of headers that a preflight may ask for, in characters: they are sent back. */
export const CORS_HEADER_NAMES_CHARS_MAX = 1_000;

/** Rows of a list without pages (Esplora, Kupo) that is answered in one piece; a longer one is streamed. */
export const ROWS_WHOLE_MAX = 500;

/** Ends of numbered pages (Blockfrost) that are remembered: some 300 bytes each, and the walk to the next page saved. */
export const PAGE_PLACES_MAX = 10_000;

/** Scripts whose sums are remembered: some 300 bytes each, and a walk over a whole history saved. */
export const ESPLORA_STATS_MAX = 10_000;

/** Transactions kept decoded while a page of others is written that spend their outputs. */
export const ESPLORA_PARENTS_MAX = 64;

/** Milliseconds a node may take to walk its whole unspent set. On the main chain it takes minutes. */
export const RPC_SET_INFO_MS = 30 * 60_000;

/** Bytes of a proof document that is read: all outputs of an owner that has a hundred thousand of them, with room to spare. */
export const PROOF_DOCUMENT_BYTES_MAX = 256 * 1024 * 1024;

/** Bytes of a settings file: fifty times what all settings with their comments take. */
export const CONFIG_FILE_BYTES_MAX = 1024 * 1024;

/** Bytes of a genesis file: that of mainnet has one million, one with a million funded addresses a hundred. */
export const GENESIS_FILE_BYTES_MAX = 256 * 1024 * 1024;

/** Bytes of a certificate chain, of a private key, of a node's cookie, of the key of its block files: a few thousand each. */
export const SECRET_FILE_BYTES_MAX = 1024 * 1024;

/** Bytes of a devnet's journal: it is read into one string, and the platform has none longer than this. */
export const DEVNET_JOURNAL_BYTES_MAX = 512 * 1024 * 1024 - 1024;

/** Bytes of an address that is written in base58, which costs their square; honest ones have some 80. A longer one is written in hex. */
export const BASE58_BYTES_MAX = 2048;

/** Characters of a base58 address we try to read: those of one that long take 2,798. */
export const BASE58_CHARS_MAX = 2800;

/** Bytes at which a chunk of a snapshot ends; part of the format. Large enough to stream, small enough to be checked before it is used. */
export const SNAPSHOT_CHUNK_BYTES = 4 * 1024 * 1024;

/** Bytes of one chunk as it is read: a row larger than a chunk has one of its own, and no output is larger than a block. */
export const SNAPSHOT_CHUNK_BYTES_MAX = SNAPSHOT_CHUNK_BYTES + BLOCK_BYTES_MAX;

/** Bytes of the header in a manifest: those of Cardano have some 900, a Byron one with every field at its longest a few thousand. */
export const SNAPSHOT_HEADER_BYTES_MAX = 64 * 1024;

/** Bytes of the manifest of a snapshot: 350 a chunk, so this is the list of a terabyte. */
export const SNAPSHOT_MANIFEST_BYTES_MAX = 128 * 1024 * 1024;

/** Bytes of a node's own dump that are read at a time: many of its records, which have some 70 bytes and never more than 10,100. */
export const DUMP_READ_BYTES = 1024 * 1024;

/** Bytes of outputs from a node that are put into a new store at once; with their index rows a few times that. */
export const NODE_SET_BATCH_BYTES = 2 * 1024 * 1024;

/** Outputs of one transaction of the Bitcoin family: each has nine bytes at least, and four million are a block. */
export const OUTPUTS_PER_TX_MAX = 500_000;

/** Bytes of a node's answer that is its whole unspent set, taken a piece at a time: of Cardano's main network some three gigabytes. */
export const WHOLE_SET_BYTES_MAX = 256 * 1024 * 1024 * 1024;

/** Height above which no output is believed to be, where nobody says the height of the set: ten times the longest chain of the family. */
export const HEIGHT_MAX = 30_000_000;

/** How often a node is asked anew for a settled block whose state it has just let go. */
export const SETTLED_BLOCK_ATTEMPTS = 3;

/** Chunks and nodes of the bitmap of unspent leaves that stay in memory between steps: some 100 bytes each. */
export const MMR_ROWS_KEPT = 200_000;

/** Bytes of a compiled Plutus program: a transaction that carries one has 16,384. And levels of its terms, which are walked by recursion. */
export const UPLC_PROGRAM_BYTES_MAX = 65_536;
export const UPLC_DEPTH_MAX = 5000;

/** Bytes of nodes of tries of cages that stay in memory between steps: the upper five levels of one trie, however large, have 70 million. */
export const CAGE_CACHE_BYTES_MAX = 80 * 1024 * 1024;

/** Rows of a burned cage's trie that one step of pruning deletes: a trie of a million facts must not hold up the blocks behind it. */
export const CAGE_ROWS_DELETED_MAX = 2000;

/** Bytes of a key or a value in a request that the server builds: a transaction has 16,384, and the rest of it needs some. */
export const FACT_BYTES_MAX = 12_000;

/** A blueprint has a few programs of at most 65,536 bytes in hex, and the schemas of their data. */
export const BLUEPRINT_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Diverged tokens of cages that a status names; it says how many there are in any case. */
export const DIVERGED_TOKENS_SHOWN_MAX = 20;

/** Outputs in one proof over HTTP that an owner has no others: it is made in one piece, some 20 µs each, and meanwhile nobody else is answered. */
export const HTTP_PROOF_OUTPUTS_MAX = 2000;

/** Outputs of a page of the library where the program does not say: enough for most addresses, and little to hold. */
export const LIBRARY_PAGE_ROWS = 100;

/** Blocks below the tip whose spent outputs a new store keeps, where neither settings nor the network decide: two weeks of Bitcoin, and k of most Cardano networks. */
export const WINDOW_BLOCKS = 2160;

/** Outputs of a payer that are looked at for coins: some microseconds each, while a server answers nobody else. */
export const PAYER_OUTPUTS_MAX = 5000;
/** Rounds in which the fee of a transaction settles: a larger fee makes it longer by a byte or takes another coin. */
export const FEE_ROUNDS_MAX = 20;

/** Characters of a label of a transaction of a wallet: what a person writes in a line, and what the databases check. */
export const TX_LABEL_CHARS_MAX = 500;
/** Height of a block of a wallet: databases keep it in four bytes with a sign. */
export const WALLET_HEIGHT_MAX = 0x7fff_ffff;
/** Blocks before the newest that a scan of a Cardano wallet reads one by one: no honest chain goes back further (k). */
export const WALLET_SCAN_BLOCKS = 2160;
/** Addresses and accounts are numbered below 2^31: BIP32 keeps the other half for hardened keys. */
export const CHILD_INDEX_MAX = 0x7fff_ffff;

/** Sat/kvB of a fee rate: 1 million sat/vB, many times what was ever paid. With it, a rate times the size of any standard transaction is an exact number. */
export const FEE_RATE_MAX = 1_000_000_000;

/** Selections that branch and bound and coin grinder look at: as many as Bitcoin Core's do, some milliseconds. */
export const SELECTION_TRIES_MAX = 100_000;

/** Subsets that the knapsack search draws, as Bitcoin Core's does; and coins it looks at for them, because a draw looks at all and a wallet may have 100,000: from 200 coins on it draws fewer. */
export const KNAPSACK_DRAWS_MAX = 1000;
export const KNAPSACK_VISITS_MAX = 200_000;

/** Entries of a column that a selection keeps for the next one: a wallet of so many coins takes 30 MB of them; one of more makes them anew. */
export const SELECTION_COLUMN_KEPT_MAX = 2 ** 18;

/** Coins of one script that are spent together when partial spends are avoided: more would surprise by their fee. */
export const GROUP_COINS_MAX = 100;

/** Satoshi of change that searches aim at: less than the first is soon dust, more than the second tells change from payment. */
export const CHANGE_SAT_MIN = 50_000;
export const CHANGE_SAT_MAX = 1_000_000;

/** Transactions that one replacement may evict from a mempool (BIP125, rule 5). */
export const REPLACED_TX_MAX = 100;

/** Seconds that the tip may be old for its height to be a lock time, and blocks that a lock time is dated back at most: both as wallets of Bitcoin Core have it. */
export const TIP_AGE_SECONDS_MAX = 8 * 60 * 60;
export const LOCKTIME_BACK_BLOCKS = 100;

/** Characters of an output descriptor: 20 keys with origin and path take 4,000, and a checksum finds three slips up to 49,154 (BIP380). */
export const DESCRIPTOR_CHARS_MAX = 49_154;

/** Values of a step such as `<0;1>`, which are as many branches: wallets use two. */
export const DESCRIPTOR_BRANCHES_MAX = 64;

/** Levels of the tree of scripts of a taproot output (BIP341). */
export const TAPROOT_DEPTH_MAX = 128;

/** Scripts in a row that nobody has used, after which a branch is taken to have no used ones: what wallets use (BIP44). */
export const GAP_LIMIT_DEFAULT = 20;

/** The longest such row that may be asked for: deriving a script takes about a millisecond. */
export const GAP_LIMIT_MAX = 10_000;

/** Satoshi that a transaction of a wallet may cost unless more is allowed: some 100 times the usual fee, and no fortune. */
export const WALLET_FEE_MAX = 1_000_000;
/** The highest fee rate in sat/vB that a wallet takes for meant: mempools have asked for 600 in their worst hours. */
export const WALLET_FEE_RATE_MAX = 1000;

/** Bytes of a partially signed transaction: 1,400 inputs, the most of a standard one, with previous transactions of 10 kB each. */
export const PSBT_BYTES_MAX = 16 * 1024 * 1024;

/** The scrypt cost (N, as a power of two) of a new box of secrets: with blocks of 1 kB (r = 8) it takes 128 MB and about half a second. */
export const SECRET_COST_LOG2 = 17;

/** The highest cost that is tried for a box: 1 GB of memory, so that a forged box cannot take all of it. */
export const SECRET_COST_LOG2_MAX = 20;

/** Bytes of a secret in a box: a descriptor with twenty private keys takes 4,000. */
export const SECRET_BYTES_MAX = 65_536;

/** Bytes of a passphrase: more than anybody types, less than a file that was named by mistake. */
export const PASSPHRASE_BYTES_MAX = 4096;

/** Bytes of a file with the token of a server: ours have 64, and a header line has no more than that. */
export const SERVER_TOKEN_BYTES_MAX = 4096;

/** Milliseconds between looks for wallets that other processes have made: soon enough for a person who waits, and cheap. */
export const WALLET_POLL_MS = 1000;

/** Milliseconds between looks for events of a wallet, for a reader who waits: soon enough to be taken for at once, and cheap. */
export const WALLET_EVENT_LOOK_MS = 250;

/** Rows of wallets that are read at once where all of them are wanted. */
export const WALLET_PAGE_ROWS = 500;
/** Transactions that are told with a history, because they took each other's place, and with a reorganisation: more nobody looks at, and each is looked up. */
export const WALLET_REPLACEMENTS_MAX = 500;
export const WALLET_REORG_TXS_MAX = 200;

/** Coins that a process keeps in memory to choose from, of all wallets. */
export const WALLET_CACHED_COINS_MAX = 1_000_000;
/** Rows that are read at once while all coins of a wallet are read: what a page takes is garbage soon. */
export const WALLET_CACHED_COINS_PAGE = 10_000;
/** Events since the last selection up to which coins in memory are brought up to date: reading them all again takes as long as the events of some 30,000 coins. */
export const WALLET_CACHED_EVENTS_MAX = 50_000;

/** Events of wallets that are kept unless a setting says otherwise: some 250 MB with their indexes, and weeks of a shop with 10,000 payments a day. */
export const WALLET_EVENTS_MAX = 1_000_000;
/** Events that are forgotten by one call: some 50 ms in which others that write wait. */
export const WALLET_EVENTS_TRIM_MAX = 10_000;
/** Blocks between two looks for events that may be forgotten: each is a transaction of its own. */
export const WALLET_EVENTS_TRIM_BLOCKS = 100;

/** Bytes of a file of protocol parameters: cardano-cli writes some 20,000, most of them cost models. */
export const PARAMETERS_BYTES_MAX = 1024 * 1024;

/** Characters of a line of such a file: what it is of, a sentence, and what other wallets add. */
export const WALLET_LABEL_CHARS_MAX = 10_000;

/** Characters of a file of labels (BIP329): 100,000 lines of 300. */
export const WALLET_LABELS_BYTES_MAX = 32 * 1024 * 1024;

/** How long a statement waits inside SQLite for the lock of another process: the thread stands still meanwhile. After that the call is tried again. */
export const SQL_SQLITE_BUSY_MS = 100;
/** Pages of a SQLite file that a connection keeps, in KiB: a block with 500 transactions in a history of a million touches some 20 MB. */
export const SQL_SQLITE_CACHE_KIB = 128 * 1024;
/** Pages of 4 KiB in SQLite's log after which a commit moves them into the file: such a block has 5,000, and most blocks touch the same ones. */
export const SQL_SQLITE_LOG_PAGES = 16_384;
/** How long a statement waits in PostgreSQL for a lock: longer than any step of another process takes. */
export const SQL_LOCK_MS = 10_000;
/** How long a connection to a database may take to come about. */
export const SQL_CONNECT_MS = 10_000;
/** Servers that a URL of PostgreSQL names: a primary and its standbys. */
export const SQL_HOSTS_MAX = 16;
/** Connections of a process to a database: its answers are short, and a server has 100 for all. */
export const SQL_CONNECTIONS_MAX = 8;
/** How long a call of a database is tried again after transient failures: a server restarts in that time. */
export const SQL_RETRY_MS = 30_000;
/** The pause before it is tried again doubles from the first to the second. */
export const SQL_RETRY_PAUSE_MS_MIN = 5;
export const SQL_RETRY_PAUSE_MS_MAX = 500;
/** Texts of statements that stay prepared; wallets have fewer than 200. */
export const SQL_STATEMENTS_MAX = 500;

/** Outputs whose slots stand in one row of the transaction store: some 9 kB when all are spent, so that a spend rewrites no more. */
export const TX_PAGE_SLOTS = 128;

/** Records of a transaction database that are read at once where all of them are wanted. */
export const TXS_READ_BATCH = 1000;
/** Records of a PostgreSQL database up to which they are counted, in some milliseconds; beyond it the server's estimate is told. */
export const TXS_COUNT_EXACT_MAX = 100_000;

/** Bytes of amounts and scripts up to which they stand in their record: every spend writes them again, a row of their own is one more to write. */
export const TX_SMALL_OUTPUTS_BYTES = 512;

/** Bytes of a record without its outputs up to which they also stand in the index of due records: some twenty inputs and outputs. */
export const TX_DUE_FACTS_BYTES_MAX = 2048;

/** Bytes of records that the embedded transaction store has at hand without asking its engine: some 330,000 of them. */
export const TX_CACHE_BYTES = 128 * 1024 * 1024;
/** Records whose heights it has at hand for prune passes, 41 bytes each: those of a retention of 288 blocks with 5,000 transactions. */
export const TX_CACHE_HEIGHTS = 1_500_000;

/** Candidates that a prune pass decides on and deletes together, and chunks of them at once. */
export const PRUNE_CHUNK_PARENTS = 1000;
export const PRUNE_PARALLEL_CHUNKS = 10;

/** Spenders that a prune pass reads together; how often it tries again, and the milliseconds it waits for one answer. */
export const PRUNE_CHILD_BATCH = 1024;
export const PRUNE_CHILD_RETRIES = 3;
export const PRUNE_CHILD_READ_MS = 30_000;

/** Milliseconds of a prune pass, after which it makes way and goes on later. */
export const PRUNE_PASS_MS = 600_000;

/** Unmined records that are looked at together when their parents are preserved before a prune pass. */
export const PRUNE_UNMINED_BATCH = 1000;

/** Outcomes of prune passes that are remembered, and kept records that can be listed with their reasons. */
export const PRUNE_HISTORY_MAX = 1000;
export const PRUNE_BLOCKED_MAX = 10_000;

/** Due records up to which they are counted for the figures after a pass: some tenth of a second on the thread of the fold. */
export const PRUNE_BACKLOG_COUNTED_MAX = 100_000;

/** Milliseconds between two reports that pruning is still behind. */
export const PRUNE_REPORT_MS = 60_000;

/** Blobs of deleted records that are deleted at once, where an earlier pass has left them. */
export const PRUNE_BLOBS_SWEPT = 1000;

/** Candidates that a prune pass decides on in one turn beside a fold: some milliseconds, so that no block waits for long. */
export const TXS_CHUNK_PARENTS = 100;
/** Chunks of a prune pass that are read at the same time from a PostgreSQL database; their removals come one after the other. */
export const TXS_DATABASE_CHUNKS = 4;

/** Transactions in no block that are given up together. */
export const TXS_FORGET_MAX = 200;
/** Transactions in no block that are looked at after a block for those that nobody waits for; the next block goes on behind them. */
export const TXS_FORGET_LOOKED_MAX = 1000;

/** Rows of indexes of a transaction store that are checked or mended at once, and wrong ones that are listed; all are counted. */
export const INDEX_ROWS_AT_ONCE = 2000;
export const INDEX_DIFFERENCES_KEPT = 1000;

/** Faults that a verification lists; it counts all of them. */
export const VERIFY_FAULTS_KEPT = 20;

/** Blocks, and transactions in them, after which blocks that come to a transaction database far behind are one transaction of it. */
export const TXS_FEED_BLOCKS = 100;
export const TXS_FEED_TXS = 5000;

/** Records that are due and may not go, which a status lists. */
export const TXS_BLOCKED_SHOWN_MAX = 100;

/** Bytes of the path of a Unix socket: 108 with the zero at its end on Linux, 104 on macOS. */
export const SOCKET_PATH_BYTES_MAX = 103;
/** Bytes of one line on a control socket: a piece of text with every character escaped fits. */
export const CONTROL_LINE_BYTES_MAX = 512 * 1024;
/** Characters of one piece of what a command writes: escaped as JSON, six bytes each at most. */
export const CONTROL_TEXT_CHARS_MAX = 64 * 1024;
/** Arguments of a command line that is run for another process. */
export const CONTROL_ARGUMENTS_MAX = 1000;
/** Bytes of a command's output that wait for a slow reader, before the command waits, too. */
export const CONTROL_WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** Commands that a process runs at a time for others that ask it: a thread each. */
export const CONTROL_COMMANDS_MAX = 4;
/** Connections to a control socket; those that wait to be told BUSY among them. */
export const CONTROL_CONNECTIONS_MAX = 32;
/** Milliseconds in which a holder greets, and a request comes: both are a line, so longer means that the other side hangs. */
export const CONTROL_GREETING_MS = 10_000;
/** Milliseconds that a command which was told to stop has, before the store is closed to it. */
export const CONTROL_STOP_MS = 2000;
/** Times that a store which is locked and has no control socket is looked at again, and the milliseconds between: it may just be opening or closing. */
export const CONTROL_LOOKS_MAX = 3;
export const CONTROL_LOOK_MS = 100;

/** Times that the files of a database are taken anew because a compaction took one away, and the milliseconds between: a compaction ends once in a while, and all links take less. */
export const PIN_ATTEMPTS_MAX = 50;
export const PIN_PAUSE_MS = 2;
/** Milliseconds that the fold waits, between two blocks, until whoever makes a backup reads the same block: a thread attaches in a few. */
export const PIN_HOLD_MS = 5000;

/** Bytes read at once when a file is copied into a backup and hashed. */
export const BACKUP_BUFFER_BYTES = 1024 * 1024;
/** Bytes at the end of a table that tell it from every other: its properties, with the session and the number that it was made with, are about a kilobyte. */
export const BACKUP_TAIL_BYTES = 16 * 1024;
/** Bytes of the manifest of a backup: some 250 a file, and more files than any store has. */
export const BACKUP_MANIFEST_BYTES_MAX = 64 * 1024 * 1024;
/** Milliseconds of a digest in one turn, so that no block waits for long where the fold shares the thread. */
export const BACKUP_SLICE_MS = 10;
/** Milliseconds after which an empty folder that holds the name of a backup was left by a process that died: writing a manifest takes less. */
export const BACKUP_NAME_HELD_MS = 60_000;
/** Milliseconds between two looks whether the directory of an open store is still there: one `stat`, and little is lost meanwhile. */
export const PLACE_CHECK_MS = 1000;
/** Bytes of keys and values in one batch when all rows of a store are copied or rewritten. */
export const COPY_BATCH_BYTES = 4 * 1024 * 1024;
/** Characters of what a backup that was asked for over HTTP reports: a page of JSON is enough of it. */
export const BACKUP_REPORT_CHARS_MAX = 1024 * 1024;
/** Milliseconds in which the database of a copy takes a connection, and answers one statement: longer means that it is gone. */
export const COPY_CONNECT_MS = 5000;
export const COPY_QUERY_MS = 10_000;
/** Milliseconds that a thread sleeps for rows of a copy at most: a statement's time, and a connection's before it. */
export const COPY_WAIT_MS = COPY_CONNECT_MS + COPY_QUERY_MS;
/** Milliseconds between two looks at the head of a copy, whose server tells of changes besides, and after a failure. */
export const COPY_POLL_MS = 500;
export const COPY_RETRY_MS = 250;
/** Milliseconds between two looks at how large the tables of a copy are. */
export const COPY_SIZES_MS = 30_000;
/** Milliseconds after which a moment of a copy is taken anew although nothing was published: the server cannot clean up behind it. */
export const COPY_MOMENT_MS = 60_000;
/** Moments of a copy that long answers hold, the newest among them; beyond, the oldest is given up. */
export const COPY_MOMENTS_MAX = 8;
/** Connections to the server of a copy: of the newest moment, and of one reader in all, one for each older moment among them. */
export const COPY_MOMENT_CONNECTIONS = 3;
export const COPY_CONNECTIONS_MAX = 12;
/** Bytes of rows of one published change that a reader keeps. */
export const COPY_CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** Rows of the first page of a scan of a copy, of a later one, and bytes that a page should have. */
export const COPY_PAGE_ROWS_FIRST = 64;
export const COPY_PAGE_ROWS_MAX = 1024;
export const COPY_PAGE_BYTES = 1024 * 1024;
/** Times that a read is run again for rows of a copy, and bytes it holds for that; beyond, the thread sleeps for the rest. */
export const COPY_ATTEMPTS_MAX = 64;
export const COPY_ATTEMPT_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes of rows, read and undone, that are held to tell how a copy gets from its block to the newest: some thousand blocks. More, and the copy begins anew. */
export const PUBLISH_PLAN_BYTES_MAX = 512 * 1024 * 1024;
/** Blocks whose rows are read at once to tell what they did: at more than that a call of the engine is no part of what a block costs. */
export const PUBLISH_UNDO_BLOCKS = 100;
/** The same of one answer that tells changes over HTTP, of which some are made at a time; and blocks of one answer. */
export const CHANGES_PLAN_BYTES_MAX = 64 * 1024 * 1024;
export const CHANGES_BLOCKS_MAX = 1000;
/** Blocks that are undone at once for it: others wait so long for their answers. */
export const CHANGES_UNDO_BLOCKS = 10;
/** Rows of one line of changes that begin with the whole state. */
export const CHANGES_LINE_ROWS = 500;
/** Rows, and bytes of them, of changes that are published in one transaction while behind: past that nothing is gained, and readers wait for less. */
export const PUBLISH_GROUP_ROWS = 20_000;
export const PUBLISH_GROUP_BYTES = 16 * 1024 * 1024;
/** Rows deleted by one change of upkeep: a store that has pruned for long while nobody published is told in portions. */
export const PUBLISH_UPKEEP_ROWS = 20_000;
/** Rows, and bytes of them, that a snapshot sends at a time. */
export const PUBLISH_LOAD_ROWS = 10_000;
export const PUBLISH_LOAD_BYTES = 4 * 1024 * 1024;
/** Reads of a copy for one undo: trees are read level by level, and none has more than some hundred. */
export const PUBLISH_ATTEMPTS_MAX = 10_000;
/** Milliseconds after which a leader that is silent is replaced. */
export const PUBLISH_LEASE_MS = 5000;
/** Milliseconds after which a statement of a copy without an answer counts as lost: a group of changes takes a second on a slow disk. */
export const PUBLISH_ANSWER_MS = 60_000;
/** Milliseconds between two looks at who leads, and between two attempts after a failure of the database. */
export const PUBLISH_POLL_MS = 500;
/** Milliseconds between two attempts, at most, where the database must be mended by people: a full disk, a standby in the place of its primary. */
export const PUBLISH_FAILED_MS = 15_000;
/** Milliseconds for which the tables of a copy that was replaced stay, for readers that still look at it. */
export const PUBLISH_GRACE_MS = 30_000;
/** Milliseconds that dropping such a table waits for a reader that still holds it; after that it is tried again later. */
export const PUBLISH_SWEEP_MS = 50;
/** Milliseconds between two signs of life of a leader. */
export const PUBLISH_HEARTBEAT_MS = 1000;
/** Blocks in that time above which a store is catching up with its chain: a snapshot of it would be behind before it is sent. */
export const PUBLISH_CALM_BLOCKS = 50;
/** Milliseconds in which a node of Cassandra takes a connection, and answers one statement: its own limits are 2 to 10 seconds. */
export const CASSANDRA_CONNECT_MS = 5000;
export const CASSANDRA_ANSWER_MS = 12_000;
/** Times that a statement is sent which may run twice, and milliseconds before the second time and before late ones: a node that dies is noticed within them. */
export const CASSANDRA_ATTEMPTS_MAX = 8;
export const CASSANDRA_RETRY_MS = 50;
export const CASSANDRA_RETRY_MS_MAX = 1000;
/** The same for a reader, whose client waits. */
export const CASSANDRA_READER_ATTEMPTS_MAX = 4;
/** Seconds for which a reader keeps old versions from being removed, milliseconds after which it extends that, and of those for which it counts on it. */
export const CASSANDRA_LEASE_S = 60;
export const CASSANDRA_LEASE_RENEW_MS = 10_000;
export const CASSANDRA_LEASE_SAFE_MS = 45_000;
/** Statements to Cassandra that are under way at a time: more only wait in the queues of its nodes. */
export const CASSANDRA_PARALLEL = 24;
/** Rows, and bytes of them, of one batch to one partition: a node applies it as a whole, and more would hold up what comes behind it. */
export const CASSANDRA_BATCH_ROWS = 100;
export const CASSANDRA_BATCH_BYTES = 128 * 1024;
/** Bytes of a piece of the journal: half a percent of what the commit log of a node takes at once. */
export const CASSANDRA_JOURNAL_BYTES = 128 * 1024;
/** Keys of one statement, rows of one page of a scan, and partitions that a scan over several asks at a time. */
export const CASSANDRA_KEYS_MAX = 100;
export const CASSANDRA_PAGE_ROWS_MAX = 2000;
export const CASSANDRA_BUCKETS_AHEAD = 8;
/** Times that rows of a snapshot are sent again, each after all attempts of their statements: ten minutes, in which a node is started again. */
export const CASSANDRA_LOAD_RETRIES = 120;
/** Versions whose predecessors are removed before that is noted, and milliseconds until the next attempt where a node was away. */
export const CASSANDRA_REMOVAL_VERSIONS = 64;
export const CASSANDRA_REMOVAL_RETRY_MS = 30_000;
/** Seconds for which Cassandra remembers what was deleted: longer than a node keeps writes for another that is away (three hours). */
export const CASSANDRA_GRACE_S = 6 * 3600;
/** Milliseconds that one statement may take while a copy for people is made: an index over all outputs of a large chain takes hours. */
export const PUBLISH_BUILD_MS = 12 * 3_600_000;
/** Heights in one part of a table for people, where the URL of the copy says nothing: years of Bitcoin, two months of Cardano. */
export const PUBLISH_PARTITION_BLOCKS = 250_000;
/** Addresses whose text is remembered while rows for people are written: some hundred bytes each, and blocks are full of the same ones. */
export const PUBLISH_ADDRESSES_MAX = 50_000;
/** Characters of an address as text: an index of PostgreSQL takes rows of 2,700 bytes, and Byron addresses can be longer. */
export const SQL_ADDRESS_CHARS_MAX = 1000;
/** Blocks of a copy that are asked for at once to find the newest that the store has, too. */
export const PUBLISH_BLOCKS_PAGE = 500;
/** Milliseconds for which a copy that is whole waits for others to be done with the tables that it replaces. */
export const PUBLISH_SWAP_MS = 600_000;
/** Milliseconds between two reports of a publishing thread: often enough for a page that is looked at. */
export const PUBLISH_REPORT_MS = 250;
/** By how much the publishing thread steps behind others (0 to 19): beside a sync that takes all there is, it gets a tenth of what one of its threads gets. */
export const PUBLISH_NICE = 10;

/** Milliseconds in which entries of the log repeat each other. */
export const LOG_REPEAT_MS = 30_000;
/** Entries of one kind in that time, before the others are only counted: blocks of a devnet come every two seconds, and each is seen. */
export const LOG_ENTRIES_MAX = 20;
/** The same of warnings and errors: a node that is gone says nothing new the fourth time. */
export const LOG_TROUBLES_MAX = 3;
/** Milliseconds between two lines about a sync, of which the first comes after a fifth of it, and about what was pruned. */
export const LOG_PROGRESS_MS = 10_000;
export const LOG_PRUNED_MS = 600_000;
/** Milliseconds of one commit from which on it is called slow: of a block by itself, and of many together, pruning and rollbacks. */
export const SLOW_BLOCK_MS = 2000;
export const SLOW_COMMIT_MS = 10_000;

/** Milliseconds over which a watcher is told rates, and blocks that it is shown: as many as a wide terminal has columns. */
export const LIVE_RATE_MS = 8000;
export const LIVE_RECENT_BLOCKS = 160;
/** Milliseconds after which a watcher is told the size of a store anew: the engine counts its files for it. */
export const LIVE_DISK_MS = 5000;
/** Milliseconds between two samples that a watcher may ask for, at least, and between two frames of a view. */
export const WATCH_MS_MIN = 200;
export const WATCH_FRAME_MS = 1000;
/** Bytes of samples that wait for a watcher who does not read; beyond it samples are left out. */
export const WATCH_WAITING_BYTES_MAX = 256 * 1024;

/** What a node of Cassandra is told in tests: small, quick to start, and durable, so that a killed node has what it acknowledged. */

export interface NodePlace {
  readonly address: string;
  readonly cqlPort: number;
  readonly storagePort: number;
  readonly tlsPort: number;
  readonly folder: string;
  readonly seeds: readonly string[];
}

export function nodeSettings({ address, cqlPort, storagePort, tlsPort, folder, seeds }: NodePlace): string {
  return `
cluster_name: unspent
num_tokens: ${seeds.length === 1 ? 1 : 4}
${seeds.length === 1 ? '' : `allocate_tokens_for_local_replication_factor: ${seeds.length}`}
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
data_file_directories: [ ${folder}/data ]
commitlog_directory: ${folder}/commitlog
saved_caches_directory: ${folder}/caches
hints_directory: ${folder}/hints
cdc_raw_directory: ${folder}/cdc
commitlog_sync: batch
listen_address: ${address}
rpc_address: ${address}
native_transport_port: ${cqlPort}
storage_port: ${storagePort}
ssl_storage_port: ${tlsPort}
endpoint_snitch: SimpleSnitch
seed_provider: [ { class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [ { seeds: "${seeds.join(',')}" } ] } ]
auto_bootstrap: false
auto_snapshot: false
storage_compatibility_mode: NONE
paxos_variant: v2
memtable: { configurations: { default: { class_name: TrieMemtable } } }
sstable: { selected_format: bti }
concurrent_reads: 4
concurrent_writes: 8
read_request_timeout: 2s
write_request_timeout: 2s
cas_contention_timeout: 2s
`;
}

export const LOGGING = `<configuration>
<appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%d %level %logger{0} %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root><logger name="org.apache.cassandra.transport.PipelineConfigurator" level="INFO"/>
</configuration>`;

/** Packages of Java itself that Cassandra uses without being asked to. */
const EXPORTED = [
  'java.base/jdk.internal.misc',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.rmi/sun.rmi.registry',
  'java.rmi/sun.rmi.server',
  'java.sql/java.sql',
  'java.base/java.lang.ref',
  'jdk.unsupported/sun.misc',
];
const OPENED = [
  'java.base/java.lang.module',
  'java.base/jdk.internal.loader',
  'java.base/jdk.internal.ref',
  'java.base/jdk.internal.reflect',
  'java.base/jdk.internal.math',
  'java.base/jdk.internal.module',
  'java.base/jdk.internal.util.jar',
  'jdk.management/com.sun.management.internal',
  'java.base/sun.nio.ch',
  'java.base/java.io',
  'java.base/java.nio',
  'java.base/java.lang',
  'java.base/java.lang.reflect',
  'java.base/java.util',
];

/** For `java`; compilers that are done soon take a third of the time of those that are thorough. */
export const JAVA_MODULES: readonly string[] = [
  ...EXPORTED.flatMap((name) => ['--add-exports', `${name}=ALL-UNNAMED`]),
  ...OPENED.flatMap((name) => ['--add-opens', `${name}=ALL-UNNAMED`]),
  '-Djdk.attach.allowAttachSelf=true',
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Dcassandra-foreground=yes',
  '-Dcassandra.ring_delay_ms=500',
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
  '-Xms512m',
  '-Xmx512m',
  '-Xss256k',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
];

/**
 * The engine's own figures for Prometheus, and those of its disk. They are sampled on a schedule
 * (`metrics.sampleEngineSeconds`), because reading them looks at files.
 */

import { existsSync, statfsSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import { nextTurn } from '../../util/time-slice.ts';
import type { Reads } from '../context.ts';

export class EngineMetrics {
  private readonly reads: Reads;
  private readonly bytes: Gauge;
  private readonly properties: Gauge<'property'>;
  private readonly columnBytes: Gauge<'column'>;
  private readonly columnProperties: Gauge<'column' | 'property'>;
  private readonly data: string;
  private readonly diskFree: Gauge;
  private readonly diskSize: Gauge;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  /** `data`: the directory of the store. */
  constructor(reads: Reads, registry: Registry, data: string) {
    this.reads = reads;
    this.data = data;
    const registers = [registry];
    this.bytes = new Gauge({ name: 'unspent_engine_bytes', help: 'Bytes of the store on disk.', registers });
    this.diskFree = new Gauge({ name: 'unspent_disk_free_bytes', help: 'Bytes that are free on the disk of the store.', registers });
    this.diskSize = new Gauge({ name: 'unspent_disk_size_bytes', help: 'Bytes of the disk of the store.', registers });
    for (const gauge of [this.diskFree, this.diskSize]) gauge.remove();
    this.properties = new Gauge({
      name: 'unspent_engine_property',
      help: 'What the engine says about itself, where it is a number.',
      labelNames: ['property'] as const,
      registers,
    });
    this.columnBytes = new Gauge({ name: 'unspent_engine_column_bytes', help: 'Bytes of one column.', labelNames: ['column'], registers });
    this.columnProperties = new Gauge({
      name: 'unspent_engine_column_property',
      help: 'What the engine says about one column, where it is a number.',
      labelNames: ['column', 'property'] as const,
      registers,
    });
  }

  /** Now, and every so often. */
  start(everyMs: number, onFailure: (error: Error) => void): void {
    const sample = (): void => void this.sample().catch(onFailure);
    sample();
    this.timer = setInterval(sample, everyMs);
    this.timer.unref();
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
  }

  /** A turn for each column: a request need not wait for all of them. */
  private async sample(): Promise<void> {
    const { bytes, properties } = this.reads.engineStats();
    this.bytes.set(bytes);
    this.sampleDisk();
    for (const [property, value] of numbers(properties)) this.properties.set({ property }, value);
    for (const column of this.reads.columns) {
      await nextTurn();
      if (this.stopped) return;
      this.sampleColumn(column);
    }
  }

  /** Of a store in memory there is none. */
  private sampleDisk(): void {
    if (!existsSync(this.data)) return;
    const { bavail, blocks, bsize } = statfsSync(this.data);
    this.diskFree.set(bavail * bsize);
    this.diskSize.set(blocks * bsize);
  }

  private sampleColumn(column: string): void {
    const { bytes, properties } = this.reads.engineStats(column);
    this.columnBytes.set({ column }, bytes);
    for (const [property, value] of numbers(properties)) this.columnProperties.set({ column, property }, value);
  }
}

/** The rest are tables for people. */
function numbers(properties: Readonly<Record<string, string>>): [string, number][] {
  return Object.entries(properties).flatMap(([name, text]) => (/^\d+$/.test(text) ? [[name, Number(text)]] : []));
}

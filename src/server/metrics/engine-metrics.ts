/**
 * The engine's own figures for Prometheus. They are sampled on a schedule
 * (`metrics.sampleEngineSeconds`), because reading them looks at files.
 */

import { Gauge, type Registry } from 'prom-client';
import { nextTurn } from '../../util/time-slice.ts';
import type { Reads } from '../context.ts';

export class EngineMetrics {
  private readonly reads: Reads;
  private readonly bytes: Gauge;
  private readonly properties: Gauge<'property'>;
  private readonly columnBytes: Gauge<'column'>;
  private readonly columnProperties: Gauge<'column' | 'property'>;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(reads: Reads, registry: Registry) {
    this.reads = reads;
    const registers = [registry];
    this.bytes = new Gauge({ name: 'unspent_engine_bytes', help: 'Bytes of the store on disk.', registers });
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
    for (const [property, value] of numbers(properties)) this.properties.set({ property }, value);
    for (const column of this.reads.columns) {
      await nextTurn();
      if (this.stopped) return;
      this.sampleColumn(column);
    }
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

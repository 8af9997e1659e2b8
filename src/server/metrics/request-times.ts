/**
 * How long requests took, by method, route and status, as Prometheus reads it.
 * It is a histogram of the library to whoever reads it; the library's own way of
 * counting makes a text of the labels each time, which takes as long as a look
 * into the store's cache.
 */
import { Histogram, type Registry } from 'prom-client';

/** Seconds. From a point read (a tenth of a millisecond) to a large stream. */
const BUCKETS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

type Label = 'method' | 'route' | 'status';

interface Series {
  readonly method: string;
  readonly status: number;
  /** How many were at most so long and longer than the bucket before. The last one: longer than all buckets. */
  readonly counts: number[];
  sum: number;
}

type Values = Awaited<ReturnType<Histogram<Label>['get']>>;

export class RequestTimes extends Histogram<Label> {
  readonly #name: string;
  readonly #help: string;
  /** By route. */
  readonly #series = new Map<string, Series[]>();

  constructor(name: string, help: string, registers: Registry[]) {
    super({ name, help, labelNames: ['method', 'route', 'status'], buckets: BUCKETS, registers });
    this.#name = name;
    this.#help = help;
  }

  answered(method: string, route: string, status: number, seconds: number): void {
    const series = this.#of(method, route, status);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]) bucket++;
    series.counts[bucket]++;
    series.sum += seconds;
  }

  /** Read by the registry, as text and for the sum over threads. */
  override async get(): Promise<Values> {
    return this.#all();
  }

  /** What the registry asks instead where it writes text. */
  async getForPromString(): Promise<Values> {
    return this.#all();
  }

  #all(): Values {
    const values = [...this.#series].flatMap(([route, all]) => all.flatMap((series) => this.#values(route, series)));
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values } as object as Values;
  }

  #of(method: string, route: string, status: number): Series {
    const all = this.#series.get(route) ?? [];
    if (all.length === 0) this.#series.set(route, all);
    for (const series of all) if (series.status === status && series.method === method) return series;
    const series = { method, status, counts: new Array<number>(BUCKETS.length + 1).fill(0), sum: 0 };
    all.push(series);
    return series;
  }

  #values(route: string, { method, status, counts, sum }: Series): object[] {
    const labels = { method, route, status: `${status}` };
    let count = 0;
    const buckets = counts.map((more, i) => {
      count += more;
      return { labels: { le: BUCKETS[i] ?? '+Inf', ...labels }, value: count, metricName: `${this.#name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: sum, metricName: `${this.#name}_sum` },
      { labels, value: count, metricName: `${this.#name}_count` },
    ];
  }
}

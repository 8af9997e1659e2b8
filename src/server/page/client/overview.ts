/**
 * The overview: verdict first, then tip against source, then the figures it
 * rests on. It is built once and filled again and again, so that the eye, the
 * focus and the screen reader keep their place.
 */
import { h, say, update } from './dom.ts';
import { bytes, count, counted, milliseconds, rate, shortHash, slotText } from './format.ts';
import { NewestPanels } from './newest-panels.ts';
import { ColumnPanel, ProjectionPanel, RollbackPanel, RootPanel, SourcePanel, WindowPanel } from './panels.ts';
import { blockTime, coinText, fact, hrefOf, symbol, timeAgo } from './parts.ts';
import { PublishPanel } from './publish-panel.ts';
import { RecordsPanel } from './records-panel.ts';
import type { Column, Point, Roots, Sample, Status } from './shapes.ts';
import { BlockStrip } from './strip.ts';
import { Trends } from './trends.ts';
import { isAtRest, type Verdict, verdictOf } from './verdict.ts';

/** What the figures are about, before they are known. */
const FIGURES = ['Unspent outputs', 'Total', 'Lag', 'Blocks per second', 'Requests per second', 'On disk'];

/** Seconds a rate is taken over: long enough for a quiet chain, short enough to see a change. */
const RATE_SECONDS = 20;

export class Overview {
  readonly element: HTMLElement;
  private readonly verdict = { box: h('div', { class: 'verdict', id: 'verdict' }), title: h('h1', {}), detail: h('p', {}) };
  /** Read aloud when the verdict becomes another one, not whenever a number in it changes. */
  private readonly aloud = h('p', { class: 'unseen', 'aria-live': 'polite' });
  private readonly ourTip = h('dd', {});
  private readonly sourceTip = h('dd', {});
  private readonly figures = h('dl', { class: 'card tiles', 'aria-label': 'Figures' });
  private readonly strip = new BlockStrip();
  private readonly newest = new NewestPanels();
  private readonly trends = new Trends();
  private readonly panels = {
    rollbacks: new RollbackPanel(),
    window: new WindowPanel(),
    source: new SourcePanel(),
    columns: new ColumnPanel(),
    kept: new ProjectionPanel(),
    roots: new RootPanel(),
    records: new RecordsPanel(),
    publish: new PublishPanel(),
  };
  private status: Status | null = null;
  private samples: readonly Sample[] = [];
  /** When the newest block came, if we saw it come, by our own clock: a devnet's blocks have times of their own. */
  private arrived: number | null = null;

  constructor() {
    const { box, title, detail } = this.verdict;
    box.append(h('span', { class: 'lamp', 'aria-hidden': 'true' }), h('div', {}, title, detail), this.aloud);
    const tips = h(
      'dl',
      { class: 'tips' },
      h('div', { id: 'our-tip' }, h('dt', {}, 'Our tip'), this.ourTip),
      h('div', { id: 'source-tip' }, h('dt', {}, "Source's tip"), this.sourceTip),
    );
    const { rollbacks, window, source, columns, kept, records, publish, roots } = this.panels;
    this.element = h(
      'div',
      { class: 'overview' },
      h('section', { class: 'card hero', 'aria-label': 'Health' }, box, tips, this.strip.element),
      this.figures,
      this.newest.element,
      this.trends.element,
      h(
        'div',
        { class: 'panels' },
        [rollbacks, window, source, columns, kept, publish, records, roots].map((panel) => panel.element),
      ),
    );
    this.judge({ tone: 'idle', title: 'Looking', detail: 'Asking the server how it is.' });
    // As many as there will be, so that nothing below moves when they come.
    update(this.figures, ...FIGURES.map((name) => fact(name, '–')));
  }

  /** What the server says of itself. */
  show(status: Status): void {
    const before = this.status?.tip?.hash;
    if (before !== undefined && before !== status.tip?.hash) this.arrived = Date.now() / 1000;
    this.status = status;
    const { rollbacks, window, source, kept, records, publish } = this.panels;
    rollbacks.show(status.following.rollbacks);
    window.show(status);
    source.show(status);
    kept.show(status);
    records.show(status);
    publish.show(status);
    if (status.tip !== null) {
      this.strip.moveTo(status.tip.height, status.tip.hash);
      void this.newest.moveTo(status.tip.hash);
    }
    this.refresh();
  }

  showHistory(samples: readonly Sample[]): void {
    this.samples = samples;
    this.trends.show(samples);
    this.refresh();
  }

  showColumns(columns: readonly Column[]): void {
    this.panels.columns.show(columns);
  }

  showRoots(point: Point | null, roots: Roots | undefined): void {
    this.panels.roots.show(point, roots);
  }

  rollback(to: Point | null): void {
    this.strip.rollback(to?.height ?? -1);
  }

  /** Nobody answers: what is shown was true once. */
  fail(title: string, detail: string): void {
    this.judge({ tone: 'bad', title, detail });
  }

  get verdictTitle(): string {
    return this.status === null ? '' : (this.verdict.title.textContent ?? '');
  }

  redraw(): void {
    this.trends.redraw();
  }

  private refresh(): void {
    const { status } = this;
    if (status === null) return;
    this.judge(verdictOf(status, this.blocksPerSecond()));
    // Of a chain that nobody follows, how far behind it is says nothing.
    this.element.classList.toggle('at-rest', isAtRest(status));
    this.showTips(status);
    this.showFigures(status);
  }

  private judge({ tone, title, detail }: Verdict): void {
    if (this.verdict.box.dataset['tone'] !== tone) say(this.aloud, `${title}. ${detail}`);
    this.verdict.box.dataset['tone'] = tone;
    say(this.verdict.title, title);
    say(this.verdict.detail, detail);
  }

  private showTips({ tip, following }: Status): void {
    if (tip === null) update(this.ourTip, h('div', { class: 'big' }, 'none'));
    else {
      const hash = h('a', { class: 'mono', href: hrefOf('block', tip.hash), title: tip.hash }, shortHash(tip.hash));
      const when = this.arrived === null ? ['made ', blockTime(tip.block_time)] : ['came ', timeAgo(this.arrived)];
      update(
        this.ourTip,
        h('div', { class: 'big' }, count(tip.height)),
        h('div', { class: 'rest' }, slotText(tip.slot, tip.epoch, tip.era)),
        h('div', { class: 'rest' }, hash, ' ', when),
      );
    }
    const theirs = following.source_tip;
    update(
      this.sourceTip,
      h('div', { class: 'big' }, theirs === null ? '–' : theirs.height === null ? `slot ${count(theirs.slot)}` : count(theirs.height)),
      h('div', { class: 'rest' }, theirs === null ? 'nothing is followed' : tip?.epoch !== undefined && `slot ${count(theirs.slot)}`),
      h('div', { class: 'rest', title: following.peer ?? '' }, following.peer ?? following.source ?? ''),
    );
  }

  private showFigures(status: Status): void {
    const { utxos, value, unit, lag_blocks, bytes: size } = status;
    const last = this.samples.at(-1);
    const p99 = this.samples.slice(-RATE_SECONDS).findLast((sample) => sample.p99_ms !== null)?.p99_ms ?? null;
    update(
      this.figures,
      fact('Unspent outputs', utxos === null ? 'not kept' : count(utxos)),
      ...(value === null ? [] : [fact(`Total ${symbol()}`, coinText({ quantity: value, unit }))]),
      ...(isAtRest(status)
        ? []
        : [fact('Lag', lag_blocks === null ? '–' : counted(lag_blocks, 'block')), fact('Blocks per second', rate(this.blocksPerSecond()))]),
      fact('Requests per second', rate(last?.requests_per_second ?? 0), h('small', {}, p99 === null ? '' : `  p99 ${milliseconds(p99)}`)),
      fact('On disk', bytes(size)),
    );
  }

  private blocksPerSecond(): number {
    const recent = this.samples.slice(-RATE_SECONDS);
    return recent.length === 0 ? 0 : recent.reduce((sum, sample) => sum + sample.blocks_per_second, 0) / recent.length;
  }
}

/**
 * A longer campaign of the crash test: `node bench/crash-campaign.ts [--kills N]
 * [--seconds S] [--seed N] [--family cardano|bitcoin] [--proofs] [--json]`. With --proofs the stores keep
 * every Merkle structure and the set hash. Every seed is a story of its own; after a
 * hundred kills the next seed begins. Ends with exit code 1 at the first
 * failure, having said the seed.
 */
import { parseArgs } from 'node:util';
import { type CampaignSummary, CrashCampaign, type Family } from '../test/support/crash-campaign.ts';

const KILLS_PER_SEED = 100;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    family: { type: 'string', default: 'cardano' },
    proofs: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const family = familyOf(values.family);
const killsMax = Number(values.kills);
const started = performance.now();
const summaries: CampaignSummary[] = [];
let failure: string | null = null;

function familyOf(name: string): Family {
  if (name === 'cardano' || name === 'bitcoin') return name;
  throw new Error(`--family is cardano or bitcoin, not '${name}'`);
}

function elapsed(): number {
  return (performance.now() - started) / 1000;
}

function kills(): number {
  return summaries.reduce((sum, summary) => sum + summary.kills, 0);
}

async function run(seed: number): Promise<void> {
  const campaign = new CrashCampaign(seed, family, { proofs: values.proofs });
  const most = Math.min(KILLS_PER_SEED, killsMax - kills());
  try {
    while (campaign.kills < most && elapsed() < Number(values.seconds)) await campaign.round();
    await campaign.end();
  } catch (error) {
    failure = `seed ${seed}, kill ${campaign.kills}: ${(error as Error).stack}`;
  } finally {
    summaries.push(campaign.summary());
    await campaign.dispose();
  }
}

for (let seed = Number(values.seed); failure === null && kills() < killsMax && elapsed() < Number(values.seconds); seed++) {
  await run(seed);
  if (!values.json) process.stderr.write(`seed ${seed}: ${JSON.stringify(summaries.at(-1))}\n`);
}

const total = (pick: (summary: CampaignSummary) => number) => summaries.reduce((sum, summary) => sum + pick(summary), 0);
const byPhase = Object.fromEntries(Object.keys(summaries[0].byPhase).map((phase) => [phase, total((s) => s.byPhase[phase as never])]));
const report = {
  family,
  proofs: values.proofs,
  kills: kills(),
  failures: failure === null ? 0 : 1,
  failure,
  byPhase,
  seeds: summaries.map((summary) => summary.seed),
  stores: total((summary) => summary.stores),
  finished: total((summary) => summary.finished),
  acknowledged: total((summary) => summary.acknowledged),
  ahead: total((summary) => summary.ahead),
  heightsAtDeath: summaries.map((summary) => summary.heightAtDeath),
  seconds: Math.round(elapsed()),
};
if (values.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
else {
  const phases = Object.entries(byPhase).map(([phase, count]) => `${phase} ${count}`);
  process.stdout.write(`${report.kills} kills in ${report.seconds} s: ${phases.join(', ')}\n`);
  process.stdout.write(`${report.stores} stores, ${report.acknowledged} acknowledged states, ${report.ahead} found ahead of them\n`);
  process.stdout.write(failure === null ? 'no failure\n' : `FAILED: ${failure}\n`);
}
process.exitCode = failure === null ? 0 : 1;

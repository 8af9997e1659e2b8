/** A PostgreSQL server of the tests keeps nobody: a test file whose hooks failed before they could stop theirs ends, and the server with it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { ended } from '../cli/run.ts';
import { until } from '../support/patience.ts';
import { executeIn } from '../support/sql/execute.ts';
import { withoutPostgres } from '../support/sql/postgres-server.ts';

const SUPPORT = import.meta.resolve('../support/sql/postgres-server.ts');
const PROGRAM = `import { PostgresServer } from '${SUPPORT}';
const server = await PostgresServer.start(async () => undefined);
console.log(server.urlOf('postgres'));`;

test('a process ends that has nothing open but a server', { skip: withoutPostgres }, async (t) => {
  const { code, stdout, stderr } = await ended(spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM]));
  assert.equal(code, 0, stderr);
  const url = stdout.trim();
  t.after(() => rmSync(new URL(url).searchParams.get('host') ?? assert.fail(url), { recursive: true, force: true }));
  const answers = () =>
    executeIn(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  await until(async () => !(await answers()), 'the server ends, too');
});

/**
 * What every block did to every column, for replicas: lines that begin with the
 * whole state, or go on behind a position (`publish/change-lines.ts`). They are
 * made no faster than their reader takes them.
 */
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type SettingKey, settingValue } from '../../../config/schema.ts';
import type { AppliedBlocks } from '../../../publish/block-changes.ts';
import { changeBytes } from '../../../publish/change.ts';
import { type ChangeSource, changeLines, changeSource, planChanges, stateLines } from '../../../publish/change-lines.ts';
import type { Query } from '../../../query/query.ts';
import { CHANGES_BLOCKS_MAX, CHANGES_PLAN_BYTES_MAX } from '../../../util/limits.ts';
import { answerRead, type ResponseBody } from '../../http/read-answer.ts';
import { LINES_FRAME, RowStream } from '../../http/rows.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { describedLines } from '../openapi.ts';
import { NowQuery, ref } from '../schemas.ts';
import { hasSlot, waitForSlot } from '../wait.ts';

const ROUTE = {
  ...describedLines(
    'Blocks',
    'What blocks did to every column',
    ref('ChangeLine'),
    'A JSON document a line, the last one of kind `end`. Without `after` the whole state; with it what came since, block by block, each with what takes it back. What the store forgets is not told.',
  ),
  querystring: Type.Object(
    {
      min_slot: NowQuery.properties.min_slot,
      after: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 512,
          description: 'The position of a line that was taken in, the hash of a block, or `origin`. EXPIRED: begin anew, without it.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: CHANGES_BLOCKS_MAX, description: `Blocks at most, ${CHANGES_BLOCKS_MAX} unless said.` }),
      ),
    },
    { additionalProperties: false },
  ),
};

export function registerColumnChanges(app: App, answers: NativeAnswers): void {
  const { context, state } = answers;
  const { network, projections, reads, config } = context;
  const source = (query: Query): ChangeSource =>
    changeSource(query, {
      network,
      projections,
      columns: reads.columns,
      selfContained: config.utxo.delta.selfContained,
      windows: config.utxo,
      readSetting: (key) => settingValue(config, key as SettingKey),
    });
  const stream = ({ task }: FastifyRequest, lines: Iterable<string>): ResponseBody =>
    state.stream(new RowStream(task, lines, undefined, (text: string) => text, 'json', LINES_FRAME));

  /** Blocks are undone in slices; the lines of those that are wanted are made while they are sent. */
  function since(request: FastifyRequest, told: ChangeSource, after: string, limit: number): ResponseBody | Promise<ResponseBody> {
    const { start, blocks } = planChanges(told, after, CHANGES_PLAN_BYTES_MAX);
    const wanted: AppliedBlocks[] = [];
    const take = (block: AppliedBlocks): boolean => {
      request.task.hold(changeBytes(block) + changeBytes({ columns: block.undo.list(told.view.isLocal) }));
      // They come newest first; the oldest are told.
      if (wanted.push(block) > limit) wanted.shift();
      return true;
    };
    return request.task.inSlices(blocks, take, () => stream(request, changeLines(told, start, wanted.reverse())));
  }

  app.get('/changes', { schema: ROUTE }, (request, reply) => {
    const { after, limit = CHANGES_BLOCKS_MAX, min_slot: slot } = request.query;
    const answer = (): void => {
      answers.name(reply);
      reply.header('cache-control', 'no-store');
      answerRead(reads, reply, (query) => {
        const told = source(query);
        const body = after === undefined ? stream(request, stateLines(told)) : since(request, told, after, limit);
        return { type: 'application/jsonl; charset=utf-8', body };
      });
    };
    if (slot === undefined || hasSlot(reads, slot)) return answer();
    waitForSlot(reads, slot, reply, config.server.waitSecondsMax)
      .then(answer)
      .catch((error: Error) => reply.send(error));
  });
}

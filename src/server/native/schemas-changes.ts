/** The shapes of the lines that tell what blocks did to every column (`publish/change-lines.ts`). */
import Type, { type TSchema } from 'typebox';

const closed = { additionalProperties: false } as const;
const hex = Type.String({ pattern: '^([0-9a-f]{2})*$' });
const orNull = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description });
const position = Type.String({ description: 'Where a reader is that has taken this line in: its next `after`.' });
const puts = Type.Array(Type.Array(hex, { minItems: 2, maxItems: 2 }), { description: 'Keys, each with its value.' });
const name = Type.String({ description: 'A column.' });
const form = Type.Integer({ minimum: 1, description: 'How rows are written: those of one form are no sequel to those of another.' });
const columns = (description: string) => Type.Array(Type.Object({ column: name, puts, deletes: Type.Array(hex) }, closed), { description });
const block = orNull(Type.Ref('Point#'), 'Null: before the first block.');

const line = <P extends Record<string, TSchema>>(kind: string, properties: P, description: string) =>
  Type.Object({ kind: Type.Literal(kind), ...properties }, { ...closed, description });

export const CHANGE_COMPONENTS: Readonly<Record<string, TSchema>> = {
  ChangeLine: Type.Union([
    line('snapshot', { form, network: Type.String(), block, columns: Type.Array(name) }, 'The whole state at this block follows.'),
    line('rows', { column: name, puts }, 'A part of it.'),
    line('rollback', { to: block, position }, 'Take back every block above this one, newest first, each by its `undo`.'),
    line(
      'applied',
      {
        block: Type.Ref('Point#'),
        position,
        columns: columns('What the block did; no key is there twice.'),
        undo: columns('What takes it back, as long as it can be rolled back.'),
      },
      'A block.',
    ),
    line('end', { form, block, position, more: Type.Boolean({ description: 'There are newer blocks already.' }) }, 'The last line.'),
  ]),
};

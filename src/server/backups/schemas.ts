/** The shape of what the server says about backups. */
import Type from 'typebox';
import { ref } from '../native/schemas.ts';

const closed = { additionalProperties: false } as const;
const orNull = (schema: Type.TSchema) => Type.Union([schema, Type.Null()]);

const Backup = Type.Union([
  Type.Object(
    {
      name: Type.String({ description: 'What `unspent restore --name` takes.' }),
      created_at: Type.String({ description: 'When it was made.' }),
      point: orNull(ref('Point')),
      digest: orNull(Type.String({ description: 'Of its unspent set; null where the store keeps none.' })),
      bytes: Type.Integer({ minimum: 0, description: 'Of all its files, those that it shares with others included.' }),
    },
    closed,
  ),
  Type.Object({ name: Type.String(), failure: Type.String({ description: 'Why it cannot be read.' }) }, closed),
]);

export const Backups = Type.Object(
  {
    backups: Type.Array(Backup),
    unfinished: Type.Array(Type.String(), { description: 'Folders of those that are being made, or whose process died.' }),
    running_since: orNull(Type.String({ description: 'Since when one is being made.' })),
    last: orNull(
      Type.Object(
        {
          ended_at: Type.String(),
          name: orNull(Type.String({ description: 'The backup that was made.' })),
          failure: orNull(Type.String({ description: 'Why none was.' })),
        },
        closed,
      ),
    ),
  },
  closed,
);

/**
 * What a message is made of, as plain values. The package's own type for it does
 * not take bytes as we have them, which may be a view of any memory.
 */
export type MessageInit<T> = T extends Uint8Array
  ? Uint8Array
  : T extends string | number | bigint | boolean | undefined
    ? T
    : T extends readonly (infer Item)[]
      ? readonly MessageInit<Item>[]
      : T extends { readonly case: infer Case; readonly value: infer Value }
        ? { readonly case: Case; readonly value: MessageInit<Value> }
        : T extends { readonly case: undefined }
          ? { readonly case: undefined }
          : {
              readonly [Key in keyof T as T[Key] extends (...parameters: never[]) => unknown ? never : Key]?:
                | MessageInit<T[Key]>
                | undefined;
            };

/** Fields that are undefined are left out. */
export function newMessage<T, Init extends object>(type: new (init?: Init) => T, init: NoInfer<MessageInit<T>>): T {
  return new type(init as unknown as Init);
}

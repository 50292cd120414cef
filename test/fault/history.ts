/**
 * What clients asked and were told. Times are any numbers that grow; an operation that was never answered has
 * `returned` Infinity and no output: it may have happened at any time after its call, or never.
 *
 * Every value that is ever written is a different string, so a value tells which write made it.
 */
export interface Operation {
  readonly key: string;
  readonly called: number;
  readonly returned: number;
  readonly input: Input;
  readonly output: Output | undefined;
}

export type Input =
  | { readonly op: 'create'; readonly value: string }
  | { readonly op: 'update'; readonly value: string; readonly expected: number }
  | { readonly op: 'delete'; readonly expected: number }
  | { readonly op: 'get' };

export type Output =
  /** A write that happened. */
  | { readonly result: 'ok'; readonly revision: number }
  /** What a get found, or what a create (`exists`) or an update or delete (`conflict`) found in its way. */
  | {
      readonly result: 'found' | 'exists' | 'conflict';
      readonly revision: number;
      readonly value: string;
    }
  /** Nothing there: for a get `absent`, for an update or delete `missing`. */
  | { readonly result: 'absent' | 'missing' };

/** One change, as a watch told it or the store kept it. Values are the strings of Input. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  /** Of a delete: the last value. */
  readonly value: string;
  readonly previous: { readonly revision: number; readonly value: string } | undefined;
}

export function describe({ key, called, returned, input, output }: Operation): string {
  const { op } = input;
  const asked = [
    op,
    key,
    ...('value' in input ? [input.value] : []),
    ...('expected' in input ? [`at ${input.expected}`] : []),
  ];
  const told = output === undefined ? 'not answered' : Object.values(output).join(' ');
  return `${asked.join(' ')} -> ${told} [${called}, ${returned}]`;
}

export function describeChange({ type, key, revision, created, value, previous }: Change): string {
  const before = previous === undefined ? 'nothing' : `${previous.revision} ${previous.value}`;
  return `${revision} ${type} ${key} ${value} created ${created} after ${before}`;
}

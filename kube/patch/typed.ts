/** Objects seen through their schema, as server-side apply sees them: the walks over structured-merge-diff's model. */
export { atomicsIn } from './typed-atomics.ts';
export { type Comparison, compare } from './typed-compare.ts';
export { merge } from './typed-merge.ts';
export { remove } from './typed-remove.ts';
export { fieldSetOf, withNamedFields } from './typed-set.ts';
export { TypedError, validate } from './typed-validate.ts';

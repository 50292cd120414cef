import { readFile } from 'node:fs/promises';
import { judge } from './damaged.ts';
import type { Change } from './history.ts';
import type { Model } from './model.ts';

/** What a run with a bug in it is told, in a file: all of a model that is needed. */
export interface Damaged {
  readonly data: string;
  readonly what: string;
  readonly model: Omit<Model, 'last'>;
}

// A process of its own: the code has a bug, which may end it.
const { data, what, model } = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8')) as Damaged;
const last = new Map(model.changes.map((change): [string, Change] => [change.key, change]));
process.stdout.write(JSON.stringify(await judge(data, { ...model, last }, what)));

import type { History } from './history.ts';
import { VirtualTime } from './time.ts';

/*
 * One history in a process of its own, whose time is virtual: the argument says which, the last line of the output is
 * what came of it.
 */

export interface Order {
  seed: number;
  /** In place of the one that the seed makes. */
  history?: History;
  log?: boolean;
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const time = new VirtualTime(order.seed);
time.install();
// After that: modules keep the clock that they find.
const { historyOf } = await import('./history.ts');
const { runHistory } = await import('./run.ts');
const tell = (fields: object, text: string) => console.error(`${time.elapsed} ${text}`, fields);
const quiet = () => {};
const logger = order.log ? { error: tell, warn: tell, info: tell, debug: quiet } : undefined;
const history = order.history ?? historyOf(order.seed);
const outcome = await runHistory(time, order.seed, history, logger);
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0));

import { Gate } from '../apiserver/limits/gate.ts';
import { Ledger } from '../apiserver/limits/ledger.ts';
import type { Answer, Question } from '../apiserver/limits/questions.ts';
import { Tree } from '../apiserver/limits/tree.ts';
import { internalError } from '../kube/status.ts';
import type { Store } from '../storage/store.ts';
import type { Settings } from './settings.ts';

/** In the process that has the store: the ledger of all processes, and the gate of this one. */
export function keepLimits(
  store: Store,
  { logicalClusterMax }: Settings,
  signal: AbortSignal,
): { ledger: Ledger; gate: Gate } {
  const tree = new Tree(logicalClusterMax);
  const ledger = new Ledger(store, tree, signal);
  return { ledger, gate: new Gate({ tree, ask: (question) => ledger.answer(question, ledger) }) };
}

/** In a process beside it: what its gate asks goes to the first one by `send`, and the answer comes by `told`. */
export class Asking {
  readonly gate: Gate;
  readonly #waiting = new Map<number, { tell(answer: Answer): void; fail(why: Error): void }>();
  #asked = 0;

  constructor({ logicalClusterMax }: Settings, send: (id: number, question: Question) => void) {
    const ask = (question: Question) =>
      new Promise<Answer>((tell, fail) => {
        const id = ++this.#asked;
        this.#waiting.set(id, { tell, fail });
        send(id, question);
      });
    this.gate = new Gate({ tree: new Tree(logicalClusterMax), ask, apart: true });
  }

  told({ id, answer, failed }: { id: number; answer?: Answer; failed?: string }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer) waiting?.tell(answer);
    else waiting?.fail(internalError(failed ?? ''));
  }
}

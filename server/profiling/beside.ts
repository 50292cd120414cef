import { Profiler } from './profiler.ts';
import { RemoteProfiler } from './remote.ts';
import type { Answer, Question } from './types.ts';

/** What the first process tells one beside it, and the other way: a question, or the answer to the other's. */
export type Told =
  | { order: 'profile'; id: number; question: Question }
  | { order: 'profiled'; id: number; answer: Answer };
export type Said =
  | { report: 'profile'; id: number; question: Question }
  | { report: 'profiled'; id: number; answer: Answer };

/** In a process beside the first one, which knows all of them: who asks here is answered there, wherever that leads. */
export class ProfilesBeside {
  readonly #own = new Profiler();
  readonly #first: RemoteProfiler;
  readonly #say: (said: Said) => void;

  constructor(say: (said: Said) => void) {
    this.#say = say;
    this.#first = new RemoteProfiler((id, question) => say({ report: 'profile', id, question }));
  }

  take(question: Question): Promise<Answer> {
    return this.#first.take(question);
  }

  async told(said: Told): Promise<void> {
    if (said.order === 'profiled') this.#first.answered(said.id, said.answer);
    else this.#say({ report: 'profiled', id: said.id, answer: await this.#own.take(said.question) });
  }
}

import type { Answer, Question } from './types.ts';

/** Another process, which is asked by messages: an answer comes with the number of its question. */
export class RemoteProfiler {
  readonly #ask: (id: number, question: Question) => void;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  constructor(ask: (id: number, question: Question) => void) {
    this.#ask = ask;
  }

  take(question: Question): Promise<Answer> {
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#ask(id, question);
    });
  }

  answered(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }

  /** Nobody answers any more. */
  ended(): void {
    for (const [id] of this.#waiting)
      this.answered(id, { failed: 'gone', message: 'the process ended meanwhile' });
  }
}

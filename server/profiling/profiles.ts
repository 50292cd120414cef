import { Profiler } from './profiler.ts';
import type { RemoteProfiler } from './remote.ts';
import type { Answer, Question } from './types.ts';

/** The first process, which knows all of them. */
export const firstProcess = 'first';

/** Asks whichever process of a server is meant. */
export class Profiles {
  readonly #own = new Profiler();
  readonly #others = new Map<string, RemoteProfiler>();

  join(process: string, remote: RemoteProfiler): void {
    this.#others.set(process, remote);
  }

  leave(process: string, remote: RemoteProfiler): void {
    if (this.#others.get(process) === remote) this.#others.delete(process);
    remote.ended();
  }

  async take(question: Question): Promise<Answer> {
    const { process } = question;
    if (process === firstProcess) return this.#own.take(question);
    const remote = this.#others.get(process);
    if (remote) return remote.take(question);
    const there = [firstProcess, ...this.#others.keys()].join(', ');
    return { failed: 'unknown', message: `there is no process ${JSON.stringify(process)}: ${there}` };
  }
}

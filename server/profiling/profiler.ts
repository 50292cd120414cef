import { Session } from 'node:inspector/promises';
import { setTimeout } from 'node:timers/promises';
import type { Answer, Question } from './types.ts';

/** Microseconds between samples: a slower process is a worse price than a coarser picture. */
const samplingInterval = 1000;
/** Bytes allocated between samples, on average. */
const bytesBetween = 8192;

/** Looks at this process, for one who asks at a time. Opens no port. */
export class Profiler {
  #busy = false;

  /** Names of functions and files, never what is in objects. */
  async take({ process, kind, seconds }: Question): Promise<Answer> {
    if (this.#busy) {
      const message = `process ${process} is being profiled: ask again when that has ended`;
      return { failed: 'busy', message };
    }
    this.#busy = true;
    const session = new Session();
    session.connect();
    try {
      const profile = kind === 'heap' ? await heap(session, seconds) : await processor(session, seconds);
      return { profile: JSON.stringify(profile) };
    } finally {
      session.disconnect();
      this.#busy = false;
    }
  }
}

async function processor(session: Session, seconds: number): Promise<object> {
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: samplingInterval });
  await session.post('Profiler.start');
  await setTimeout(seconds * 1000);
  return (await session.post('Profiler.stop')).profile;
}

async function heap(session: Session, seconds: number): Promise<object> {
  await session.post('HeapProfiler.startSampling', { samplingInterval: bytesBetween });
  await setTimeout(seconds * 1000);
  return (await session.post('HeapProfiler.stopSampling')).profile;
}

import { observeQueues } from '../../controller/observer.ts';
import { AuditMetrics } from './audit.ts';
import type { Family } from './family.ts';
import { LeaderMetrics } from './leaders.ts';
import { PlacementMetrics } from './placements.ts';
import { ProcessMetrics } from './process.ts';
import { QueueMetrics } from './queues.ts';
import { RequestMetrics } from './requests.ts';

const tickMs = 1000;

/** Everything that one process counts. */
export class Metrics {
  readonly requests: RequestMetrics = new RequestMetrics();
  readonly audit: AuditMetrics = new AuditMetrics();
  readonly leaders: LeaderMetrics = new LeaderMetrics();
  readonly placements: PlacementMetrics = new PlacementMetrics();
  readonly #queues = new QueueMetrics();
  readonly #process = new ProcessMetrics();
  readonly #more: (() => Family[] | Promise<Family[]>)[] = [];

  constructor() {
    observeQueues(this.#queues.observe);
    setInterval(() => this.requests.tick(), tickMs).unref();
  }

  /** Asked at each scrape; what fails is left out of it. */
  add(source: () => Family[] | Promise<Family[]>): void {
    this.#more.push(source);
  }

  async families(): Promise<Family[]> {
    const more = this.#more.map(async (source) => source());
    const [own, ...others] = await Promise.allSettled([this.#process.families(), ...more]);
    return [
      ...this.requests.families(),
      ...this.audit.families(),
      ...this.#queues.families(),
      ...this.placements.families(Date.now()),
      ...this.leaders.families(),
      ...[...others, own].flatMap((found) => (found.status === 'fulfilled' ? found.value : [])),
    ];
  }
}

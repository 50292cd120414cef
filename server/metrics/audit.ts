import type { AuditObserver } from '../../apiserver/audit/audit.ts';
import type { Level } from '../../kube/audit/types.ts';
import { borrowed } from './definitions.ts';
import { type Family, figures } from './family.ts';

/** What is recorded of requests. No request is refused because an event cannot be kept. */
export class AuditMetrics implements AuditObserver {
  readonly #levels = new Map<Level, number>();
  readonly #lost = new Map<string, number>();
  #events = 0;

  judged(level: Level): void {
    this.#levels.set(level, (this.#levels.get(level) ?? 0) + 1);
  }

  told(): void {
    this.#events++;
  }

  lost(plugin: string, count: number): void {
    this.#lost.set(plugin, (this.#lost.get(plugin) ?? 0) + count);
  }

  families(): Family[] {
    return [
      figures(borrowed.auditEvents, [[[], this.#events]]),
      figures(
        borrowed.auditLevels,
        Array.from(this.#levels, ([level, count]) => [[level], count] as const),
      ),
      figures(
        borrowed.auditErrors,
        Array.from(this.#lost, ([plugin, count]) => [[plugin], count] as const),
      ),
      figures(borrowed.auditRejected, [[[], 0]]),
    ];
  }
}

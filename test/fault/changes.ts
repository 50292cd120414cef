import { type Change, describeChange } from './history.ts';
import { digestOf, type Line } from './journal.ts';

/** All changes that any watch told, by revision: everybody must have been told the same. */
export function checkChanges(
  lines: readonly Line[],
  contiguous: boolean,
): { changes: Map<number, Change>; failures: string[] } {
  const told = new Map<number, Change>();
  const failures: string[] = [];
  for (const line of lines) {
    if (line[0] !== 'event') continue;
    const [, id, change] = line;
    const other = told.get(change.revision);
    if (other === undefined) told.set(change.revision, change);
    else if (describeChange(other) !== describeChange(change)) {
      failures.push(`watch ${id} was told ${describeChange(change)}; another ${describeChange(other)}`);
    }
  }
  const changes = new Map([...told].sort(([a], [b]) => a - b));
  if (contiguous) {
    let last = 0;
    for (const revision of changes.keys()) {
      if (revision !== last + 1)
        failures.push(`no watch was told of revisions ${last + 1} to ${revision - 1}`);
      last = revision;
    }
  }
  return { changes, failures };
}

interface Version {
  readonly revision: number;
  readonly created: number;
  readonly value: string;
  readonly present: boolean;
}

/** What the store held at every revision, by its changes. */
export class Replay {
  readonly changes: ReadonlyMap<number, Change>;
  /** Changes that do not follow from those before them. */
  readonly problems: string[] = [];
  readonly #versions = new Map<string, Version[]>();
  #sorted: string[] | undefined;

  /** `changes` in the order of revisions. */
  constructor(changes: ReadonlyMap<number, Change>) {
    this.changes = changes;
    for (const change of changes.values()) this.#apply(change);
  }

  at(key: string, revision: number): Version | undefined {
    const found = this.#versions.get(key)?.findLast((version) => version.revision <= revision);
    return found?.present ? found : undefined;
  }

  digest(revision: number, start: string, end: string): string {
    this.#sorted ??= [...this.#versions.keys()].sort();
    const entries = this.#sorted
      .filter((key) => key >= start && key < end)
      .flatMap((key) => {
        const version = this.at(key, revision);
        return version === undefined ? [] : [{ key, ...version }];
      });
    return digestOf(entries);
  }

  #apply(change: Change): void {
    const { type, key, revision, created, value, previous } = change;
    let versions = this.#versions.get(key);
    if (versions === undefined) {
      versions = [];
      this.#versions.set(key, versions);
    }
    const last = versions.at(-1);
    const before = last?.present ? last : undefined;
    if (previous?.revision !== before?.revision || previous?.value !== before?.value) {
      this.problems.push(
        `the previous value is wrong: ${describeChange(change)}; it was ${before?.revision} ${before?.value}`,
      );
    }
    if (created !== (before?.created ?? revision)) {
      this.problems.push(`the created revision is wrong: ${describeChange(change)}`);
    }
    if (type === 'delete' && value !== before?.value) {
      this.problems.push(`a delete does not tell the last value: ${describeChange(change)}`);
    }
    versions.push({ revision, created, value, present: type === 'put' });
  }
}

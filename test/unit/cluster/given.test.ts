import { expect, test } from 'vitest';
import { givenNote, withGiven, withUsersWord } from '../../../cluster/given.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import type { KubeObject } from '../../../kube/object.ts';

const said = (labels: Record<string, string>) => ({ labels, annotations: {} });

/** One ReplicaSet here, of which clusters tell and which a user writes. */
class Shown {
  object: KubeObject | undefined;
  readonly #from = new Set<string>();

  tell(cluster: string, labels: Record<string, string>): this {
    this.#from.add(cluster);
    const worn = withUsersWord(said(labels), this.object, cluster);
    this.object = this.#with(worn.labels, reflectedAs(worn.annotations, 'u', this.#from));
    return this;
  }

  /** No cluster has it any more: as the reflections are, the history of its workload. */
  leave(cluster: string): this {
    this.#from.delete(cluster);
    const { labels, annotations } = this.object?.metadata ?? {};
    const isHistory = this.#from.size === 0;
    const note = this.object && givenNote(this.object);
    this.object = this.#with(labels, isHistory ? note : reflectedAs(annotations, 'u', this.#from));
    return this;
  }

  give(change: Record<string, string | null>): this {
    const old = this.object as KubeObject;
    const labels = Object.entries({ ...old.metadata.labels, ...change }).filter(
      ([, value]) => value !== null,
    );
    const next = this.#with(Object.fromEntries(labels) as Record<string, string>, old.metadata.annotations);
    this.object = withGiven(next, old);
    return this;
  }

  #with(labels = {}, annotations = {}): KubeObject {
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', uid: 'u', labels, annotations },
    };
  }

  get labels() {
    return this.object?.metadata.labels;
  }
}

test("of two clusters that differ neither takes a user's word back by saying what it always said", () => {
  const set = new Shown().tell('east', { both: 'e' }).tell('west', { both: 'w' });
  set.give({ both: 'mine', more: 'mine' });
  for (const _round of [1, 2]) {
    set.tell('east', { both: 'e' }).tell('west', { both: 'w' });
    expect(set.labels).toEqual({ both: 'mine', more: 'mine' });
  }
  set.tell('west', { both: 'other' });
  expect(set.labels).toEqual({ both: 'other', more: 'mine' });
});

test('where one cluster has it its next word counts', () => {
  const set = new Shown().tell('east', { both: 'e' }).give({ both: 'mine' });
  expect(set.tell('east', { both: 'e' }).labels).toEqual({ both: 'mine' });
  expect(set.tell('east', { both: 'f' }).labels).toEqual({ both: 'f' });
});

test('what one says that has it anew is no other word than before', () => {
  const set = new Shown().tell('east', { both: 'e' }).give({ both: 'mine', gone: null });
  set.leave('east').tell('west', { both: 'w' });
  expect(set.labels).toEqual({ both: 'mine' });
  set.leave('west').tell('east', { both: 'f' });
  expect(set.labels).toEqual({ both: 'mine' });
  expect(set.tell('east', { both: 'g' }).labels).toEqual({ both: 'g' });
});

test('what is given while no cluster has it stays when one has it again', () => {
  const set = new Shown().tell('east', { theirs: 'e', both: 'e' }).leave('east');
  set.give({ both: 'mine', more: 'mine', theirs: null });
  expect(set.tell('east', { theirs: 'e', both: 'e' }).labels).toEqual({ both: 'mine', more: 'mine' });
});

test('back to what was said there is nothing to note', () => {
  const set = new Shown().tell('east', { both: 'e' }).give({ both: 'mine' }).give({ both: 'e' });
  expect(set.tell('east', { both: 'f' }).labels).toEqual({ both: 'f' });
});

test('a note from before clusters were told apart is read', () => {
  const set = new Shown().tell('east', { both: 'e' }).give({ both: 'mine' });
  const { annotations = {} } = set.object?.metadata ?? {};
  annotations['internal.atoll.dev/given'] = JSON.stringify({ labels: { both: 'e', none: null } });
  expect(set.tell('east', { both: 'e' }).labels).toEqual({ both: 'mine' });
  expect(set.tell('east', { both: 'f' }).labels).toEqual({ both: 'f' });
});

import type { PlacedKind } from '../../cluster/kinds.ts';
import type { Placement } from '../../cluster/types.ts';
import type { VolumeCopy } from '../../cluster/volume-copy.ts';
import type { KubeObject } from '../../kube/object.ts';

/** What whoever asks may read of one object: all that the story is made of. */
export interface Told {
  kind: PlacedKind;
  /** As the asker calls it. */
  logicalCluster: string;
  object: KubeObject;
  /** Undefined: it may not be read. */
  namespace: KubeObject | undefined;
  placement: Placement | 'absent' | 'forbidden';
  /** Of what goes along: the workloads that need it, `deployments.apps/web`. */
  users: readonly string[];
  /** Its own, of all clusters. */
  pods: readonly KubeObject[];
  /** Of a claim, or of what uses claims: whose data is where it is not needed any more. */
  givenUp: readonly GivenUp[];
  /** Of what may move with its data: its VolumeCopies. */
  copies: readonly VolumeCopy[];
  /** Of how many more claims that it uses nothing was read. */
  unread: number;
  /** Of a StatefulSet: the claims of the Namespace that clusters show, its own among them. */
  claims: readonly KubeObject[];
  /** Of these, by cluster: the names of those that pods there use. */
  inUse: ReadonlyMap<string, ReadonlySet<string>>;
  /** What Atoll has said of it in Events, where these are all that may be read. */
  events: readonly string[];
}

/** A claim of its own, a cluster where its data still is, and who gave that up. */
export interface GivenUp {
  claim: KubeObject;
  cluster: string;
  /** Absent: who that was may not be read, or is gone. */
  by: { name: string; object?: KubeObject }[];
  /** It stays there until somebody says that it was copied. */
  uncopied?: true;
}

export interface Section {
  title: string;
  lines: string[];
}

export interface Story {
  logicalCluster: string;
  namespace: string;
  /** `deployments.apps/web` */
  object: string;
  /** In a sentence, without its subject. */
  headline: string;
  sections: Section[];
}

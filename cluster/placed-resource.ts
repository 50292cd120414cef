import type { KubeObject } from '../kube/object.ts';
import { group, version } from './names.ts';

/** Cluster-scoped, in root: of which custom resources the objects are placed, and how. */
export const placedResources = { group, version, resource: 'placedresources' } as const;

/** Named `<resource>.<group>`, as a CustomResourceDefinition is. */
export type PlacedResource = KubeObject<PlacedResourceSpec>;

export interface PlacedResourceSpec extends KindRule {
  group: string;
  version: string;
  resource: string;
}

/**
 * What is known of a kind that the code does not know. A Placement has that by which its object was placed: of it
 * everybody but the scheduler reads it there, so that what was placed goes on as it was when the rule has gone. Paths are
 * as in a definition's scale subresource: `.spec.replicas`.
 */
export interface KindRule {
  /** Absent: it is not divided, each cluster has all of it. */
  specReplicasPath?: string;
  /** Of the template of its pods; default `.spec.template`. */
  templatePath?: string;
  /** RollingUpdate: it may run in two places while it moves. Recreate: it stops first. */
  strategy?: 'RollingUpdate' | 'Recreate';
  /** Whether its controller says in status.observedGeneration what it has seen; default true. */
  observesGeneration?: boolean;
  /** What else goes along with it, by name. */
  references?: KindReference[];
  status?: StatusRule;
  /** CEL over `self`: the object as one cluster has it. Whether that is in place. */
  ready?: string;
}

export interface KindReference {
  group?: string;
  resource: string;
  /** Of a name, or of several: lists are looked through. */
  path: string;
}

export interface StatusRule {
  /** Of how many replicas it can be counted on; default `.status.availableReplicas`, else `.status.readyReplicas`. */
  availableReplicasPath?: string;
  /** Counters that are added up; default those of a Deployment. */
  sums?: string[];
  /** Words of which the first in the list that a cluster says stands for all. */
  worst?: StatusWorst[];
}

export interface StatusWorst {
  path: string;
  values: string[];
}

/** `.spec.replicas` as its steps. */
export function stepsOf(path: string): string[] {
  return path.split('.').slice(1);
}

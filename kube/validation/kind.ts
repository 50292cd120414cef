import type { GroupVersion } from '../gvk.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import type { Field } from './field.ts';

/** An object as its kind's check sees it; `old` is what it replaces, absent on create. */
export interface Subject {
  object: JsonObject;
  spec: JsonObject;
  old?: JsonObject;
  oldSpec?: JsonObject;
  /** What the client speaks: of a kind in two groups, the rules of one. */
  asked: GroupVersion;
}

/** Adds the causes beyond metadata; `root` is the field that all paths start at. */
export type KindCheck = (subject: Subject, root: Field) => void;

/** By `<group>/<kind>`, core's group empty. */
export type KindChecks = Record<string, KindCheck>;

/** Checks of an update through a subresource, beyond those of metadata. */
export type SubresourceCheck = (object: KubeObject, old: KubeObject, root: Field) => void;

import type { KubeObject } from '../kube/object.ts';
import { listAt, textAt } from '../kube/untyped.ts';
import { isClaimName, templateOf } from './claims.ts';
import type { Copies } from './copies.ts';
import type { PhysicalCluster } from './types.ts';

/**
 * What a copier is asked to do: bring what is on the volume of one claim from one physical cluster to another. The splitter makes and
 * deletes it, a copier says in its status what came of it. Of its claim's name, so that no claim is copied twice at once.
 */
export type VolumeCopy = KubeObject<VolumeCopySpec, VolumeCopyStatus>;

export interface VolumeCopySpec {
  /** The name of the claim, on both physical clusters. */
  claim: string;
  /** The namespace that it is in on both. */
  physicalNamespace: string;
  from: string;
  to: string;
  /** As both PhysicalClusters say it: whose it is to do. */
  copier: string;
  workload: WorkloadCopied;
  /** Of which stop of the workload the contents are: a copy of another one counts no more. */
  trip: string;
}

export interface WorkloadCopied {
  group: string;
  resource: string;
  name: string;
  uid: string;
}

export interface VolumeCopyStatus {
  /** Absent: nobody has taken it up. */
  phase?: 'Copying' | 'Copied' | 'Failed';
  message?: string;
  bytes?: number;
  totalBytes?: number;
  /** RFC 3339. */
  lastProgressTime?: string;
}

/** Why a Placement is not Settled: what was to come along did not. */
export const copyFailed = 'CopyFailed';

/** So long nobody may take it up, or whoever has may say nothing of it, before the workload starts again where it was. */
export const untakenMs = 60_000;
export const silentCopyMs = 600_000;

export function templateCopied(template: string, set: string): string {
  return `${template}-${set}-*`;
}

/** Whether the data of the claim of this name comes along with its workload. */
export function isClaimCopied(workload: KubeObject, copies: Copies | undefined, claim: string): boolean {
  if (!copies || copies.except?.includes(claim)) return false;
  if (copies.claims.includes(claim)) return true;
  const template = templateOf(workload, claim);
  return template !== undefined && copies.claims.includes(patternFor(workload, template));
}

function patternFor({ metadata }: KubeObject, template: unknown): string {
  return templateCopied(textAt(template, 'metadata', 'name') ?? '', metadata.name ?? '');
}

/** Of this ordinal of a StatefulSet: the claims made for it whose data comes along. */
export function claimsCopiedOf(set: KubeObject, copies: Copies | undefined, ordinal: number): string[] {
  return claimsOfOrdinal(set, ordinal).filter((claim) => isClaimCopied(set, copies, claim));
}

export function claimsOfOrdinal(set: KubeObject, ordinal: number): string[] {
  if (set.kind !== 'StatefulSet') return [];
  return listAt(set, 'spec', 'volumeClaimTemplates').map(
    (template) => `${textAt(template, 'metadata', 'name')}-${set.metadata.name}-${ordinal}`,
  );
}

/** Those that all of its pods use. */
export function claimsCopiedWhole(workload: KubeObject, copies: Copies | undefined): string[] {
  const isWhole = (claim: string) => !claim.endsWith('*') && !isClaimName(workload, claim);
  return copies?.claims.filter(isWhole) ?? [];
}

/** Who copies from the one to the other; undefined: nobody. */
export function copierBetween(
  from: PhysicalCluster | undefined,
  to: PhysicalCluster | undefined,
): string | undefined {
  const copier = from?.spec?.copier;
  return copier !== undefined && copier === to?.spec?.copier ? copier : undefined;
}

/** When, in milliseconds since 1970, it is taken for failed unless something is heard of it before; Infinity: it has ended. */
export function endOfPatience({ metadata, status = {} }: VolumeCopy, now: number): number {
  if (status.phase === 'Failed') return Number.POSITIVE_INFINITY;
  const made = Date.parse(metadata.creationTimestamp ?? '') || now;
  // Whose clock is ahead is not believed for longer than anybody else.
  const heard = Math.min(now, Date.parse(status.lastProgressTime ?? '') || made);
  return status.phase === undefined ? made + untakenMs : Math.max(made, heard) + silentCopyMs;
}

/** Why nothing more is expected of it; undefined: it is under way, or is done. */
export function failureOf(copy: VolumeCopy, now: number): string | undefined {
  const { phase, message } = copy.status ?? {};
  if (phase === 'Failed') return clip(message) || 'its copier says no more than that it failed';
  if (phase === 'Copied' || now < endOfPatience(copy, now)) return undefined;
  const copier = copy.spec?.copier ?? '';
  return phase === undefined
    ? `copier ${copier} has not taken it up within ${untakenMs / 1000} s`
    : `copier ${copier} has said nothing for ${silentCopyMs / 60_000} minutes`;
}

/** `40%: block 3 of 7`, or as much of it as is known. */
export function progressOf({ status = {} }: VolumeCopy): string {
  const { bytes = 0, totalBytes = 0, message, phase } = status;
  const done = totalBytes > 0 ? `${Math.min(100, Math.floor((100 * bytes) / totalBytes))}%` : undefined;
  const said = [done, clip(message) || undefined].filter((part) => part !== undefined);
  return said.length > 0 ? said.join(': ') : (phase ?? 'nobody has taken it up yet');
}

const longest = 300;

function clip(message: string | undefined): string {
  return (message ?? '').slice(0, longest);
}

/** It is about this very workload. */
export function isCopyOf({ spec }: VolumeCopy, uid: string | undefined): boolean {
  return uid !== undefined && spec?.workload.uid === uid;
}

/** By claim. */
export type CopiesFound = ReadonlyMap<string, VolumeCopy>;

export function byClaim(copies: readonly VolumeCopy[]): CopiesFound {
  return new Map(copies.map((copy) => [copy.spec?.claim ?? '', copy]));
}

/** There is a copy of it that was made from there, and nothing else since. */
export function wasCopiedFrom(
  copies: CopiesFound,
  claim: string,
  from: string,
  to: readonly string[],
): boolean {
  const { spec, status } = copies.get(claim) ?? {};
  return status?.phase === 'Copied' && spec?.from === from && to.includes(spec.to);
}

import { readFileSync, statSync } from 'node:fs';
import type { Client } from '../client/client.ts';
import { decode, failIfNotOk } from '../client/exchange.ts';
import type { KubeObject } from '../kube/object.ts';
import { StatusError } from '../kube/status.ts';
import { getOwn, isRecord, listAt, textAt } from '../kube/untyped.ts';
import { decodeYaml, encodeYaml } from '../kube/yaml.ts';
import type { Room } from '../scheduler/plan.ts';
import { isShown, outcomeWords, placesOf, shortened, whyOf, wordOf } from '../scheduler/plan-words.ts';
import type { PlanRequest } from '../server/plan-request.ts';
import { type PlanAnswer, planPath } from '../server/plan-view.ts';
import { applied } from './applied.ts';
import type { Place } from './connection.ts';
import { advised, FailedError, UsageError } from './errors.ts';
import { orKnown } from './known.ts';
import { pathsById } from './logical-clusters.ts';
import { print, printJson, table } from './output.ts';
import { rebalanced } from './rebalanced.ts';

export type PlanFormat = 'table' | 'json' | 'yaml';
export type Planned = PlanAnswer['items'][number];

/** What `atoll drain NAME` would do. Throws FailedError where there is no such physical cluster. */
export async function planDrain(client: Client, name: string, output: PlanFormat): Promise<void> {
  const { items } = await ask(client, { drain: [name] }).catch(orKnown(client, name));
  show(items, output, `nothing is on ${name}`);
}

/** What `atoll rebalance NAME...` would do; of no names, of all that may be. */
export async function planRebalance(
  client: Client,
  given: readonly string[],
  output: PlanFormat,
): Promise<void> {
  const names = await rebalanced(client, given);
  const { items, room } = await ask(client, { rebalance: [...names] });
  show(items, output, `nothing on ${names.join(', ')} may leave for where there is clearly more room`, room);
}

/**
 * What `kubectl apply` of the file would do. The API itself says what each object would be, by a dry run: who may not
 * apply it learns it here. Throws a StatusError for kinds of which no plan can be made.
 */
export async function planFile(
  client: Client,
  manifests: readonly KubeObject[],
  where: Place,
  output: PlanFormat,
): Promise<void> {
  const { cluster } = where;
  const objects: KubeObject[] = [];
  for (const given of manifests) objects.push(await applied(client, given, where).catch(refusedIn(cluster)));
  const { items } = await ask(client, { cluster, objects });
  show(items, output, 'nothing would be placed otherwise');
}

/** Throws UsageError where there is no such file, or what is in it is no manifest. */
export function readManifests(file: string): KubeObject[] {
  const there = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file !== '-' && !there) throw new UsageError(`-f ${file}: there is no such file`);
  if (there?.isDirectory())
    throw new UsageError(`-f ${file}: that is a folder, name its files one by one or cat them to -`);
  return manifestsOf(readFileSync(file === '-' ? 0 : file, 'utf8'), file);
}

/** Says in which logical cluster, which the user may not have named. */
function refusedIn(cluster: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof StatusError)) throw error;
    throw new FailedError(`in logical cluster ${cluster}: ${advised(error.message, error.reason)}`);
  };
}

/** Of a YAML or JSON text, Lists unfolded. Throws UsageError. */
export function manifestsOf(text: string, file: string): KubeObject[] {
  const documents = text.split(/^---.*$/m).map((document) => {
    try {
      return decodeYaml(document).value as unknown;
    } catch (error) {
      throw new UsageError(`${file}: ${(error as Error).message}`);
    }
  });
  const found = documents
    .filter((document) => document !== null)
    .flatMap((document) =>
      isRecord(document) && Array.isArray(document['items']) ? listAt(document, 'items') : document,
    );
  const wrong = found.find(
    (one) => !isRecord(one) || !textAt(one, 'kind') || !textAt(one, 'metadata', 'name'),
  );
  if (wrong !== undefined || found.length === 0)
    throw new UsageError(`${file}: expected objects with apiVersion, kind and metadata.name`);
  return found as KubeObject[];
}

/** Clusters by their paths, not by their ids. */
export async function ask(client: Client, request: PlanRequest): Promise<PlanAnswer> {
  const headers = { 'content-type': 'application/json' };
  const response = await client.raw({ method: 'POST', path: planPath, headers, body: request });
  await failIfNotOk(response);
  const { items, ...rest } = (await decode(response)) as PlanAnswer;
  const pathOf = await pathsById(client);
  return { ...rest, items: items.map((item) => ({ ...item, logicalCluster: pathOf(item.logicalCluster) })) };
}

function show(items: readonly Planned[], output: PlanFormat, nothing: string, room?: Room): void {
  const answer = { items, ...(room && { room }) };
  if (output === 'json') printJson(answer);
  else if (output === 'yaml') print(encodeYaml(answer).trimEnd());
  else print([planText(items, nothing), ...(room ? roomText(room) : [])].join('\n'));
}

/** `free: east 40 % -> 55 %, west 90 %`; nothing where no cluster tells what it has. */
export function roomText(room: Room): string[] {
  const parts = Object.keys(room.before)
    .sort()
    .map((name) => {
      const [before, after] = [getOwn(room.before, name), getOwn(room.after, name)];
      return `${name} ${before} %${after === before ? '' : ` -> ${after} %`}`;
    });
  return parts.length > 0 ? [`free: ${parts.join(', ')}`] : [];
}

/** A table of workloads, of what goes along only what is blocked, and the sum. */
export function planText(items: readonly Planned[], nothing: string): string {
  const shown = items.filter(isShown);
  if (shown.length === 0) return `${nothing}; nothing was changed`;
  const rows = shown.map((item) => {
    const { from, to } = placesOf(item);
    const name = `${item.logicalCluster}/${item.namespace}/${item.object}`;
    return [name, wordOf(item), from || '-', to || '-', shortened(whyOf(item))];
  });
  const workloads = shown.filter((item) => item.workload);
  const counts = outcomeWords.flatMap((word) => {
    const count = workloads.filter((item) => wordOf(item) === word).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const sum = `of ${workloads.length} workload${workloads.length === 1 ? '' : 's'}: ${counts.join(', ') || 'none'}`;
  return `${table(['OBJECT', 'OUTCOME', 'FROM', 'TO', 'WHY'], rows)}\n${sum}; nothing was changed`;
}

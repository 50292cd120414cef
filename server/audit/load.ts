import type { AuditObserver, AuditOptions } from '../../apiserver/audit/audit.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import { readPolicy } from '../../kube/audit/policy.ts';
import type { Logger } from '../../kube/log.ts';
import { Batches } from '../batches.ts';
import { UsageError } from '../errors.ts';
import { Lost, type Plugin } from '../lost.ts';
import type { TakenFiles } from '../taken-files.ts';
import { LogFile } from './log-file.ts';
import type { AuditSettings } from './settings.ts';

const timeoutMs = 30_000;
/** At the end: for as long who stops the server waits for the webhook. */
const flushMs = 10_000;

export interface LoadedAudit {
  options: AuditOptions;
  /** Resolves when what was recorded is where it belongs. */
  close(): Promise<void>;
}

interface Sink {
  write(line: string): void;
  close(): Promise<void>;
}

export interface LoadAuditOptions {
  settings: AuditSettings | undefined;
  files: TakenFiles;
  /** True in the first process of a server. */
  first: boolean;
  logger: Logger;
  observer: AuditObserver & { lost(plugin: Plugin, count: number): void };
  flushMs?: number;
}

/** What the settings say of auditing, ready to be used. Undefined: nothing is recorded. Throws UsageError. */
export async function loadAudit({
  settings,
  files,
  first,
  logger,
  observer,
  flushMs: withinMs = flushMs,
}: LoadAuditOptions): Promise<LoadedAudit | undefined> {
  if (settings === undefined) return undefined;
  const { policyFile, log, webhook } = settings;
  const { policy, warnings } = await usable('audit-policy-file', policyFile, async () =>
    readPolicy(await files.read(policyFile)),
  );
  if (first && warnings.length > 0)
    logger.warn({ warnings }, 'of the audit policy not everything is understood');
  const lost = new Lost(logger, (plugin, count) => observer.lost(plugin, count));
  const sinks: Sink[] = [];
  if (log) {
    const file = new LogFile({ settings: log, rotates: first, logger, dropped: droppedBy('log', lost) });
    await usable('audit-log-path', log.path, () => file.open());
    sinks.push(file);
  }
  if (webhook) sinks.push(await toWebhook(webhook, files, lost, withinMs));
  // Whoever watches a counter sees it grow only from something on: the first loss, too, is to be seen.
  const plugins: Plugin[] = [
    'buffered',
    ...(log ? ['log' as const] : []),
    ...(webhook ? ['webhook' as const] : []),
  ];
  for (const plugin of plugins) observer.lost(plugin, 0);
  const [only] = sinks;
  return {
    options: {
      policy,
      observer,
      write: (line) => {
        if (sinks.length === 1) only?.write(line);
        else for (const sink of sinks) sink.write(line);
      },
    },
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()));
      lost.close();
    },
  };
}

function droppedBy(plugin: Plugin, lost: Lost): (count: number, error?: unknown) => void {
  return (count, error) => lost.add(error === undefined ? 'buffered' : plugin, count, error);
}

const head = Buffer.from('{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[');
const comma = Buffer.from(',');
const tail = Buffer.from(']}');

function listOf(events: readonly Uint8Array[]): Buffer {
  const items = events.flatMap((event, index) => (index === 0 ? [event] : [comma, event]));
  return Buffer.concat([head, ...items, tail]);
}

async function usable<T>(flag: string, file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new UsageError(`--${flag} ${file}: ${(error as Error).message}`);
  }
}

async function toWebhook(
  { configFile, ...batch }: NonNullable<AuditSettings['webhook']>,
  files: TakenFiles,
  lost: Lost,
  withinMs: number,
): Promise<Sink> {
  const over = new AbortController();
  const reach = { timeoutMs, maxResponseBytes: 1024 * 1024, trusted: true };
  const transport = await usable('audit-webhook-config-file', configFile, async () =>
    transportFromKubeconfig(await files.read(configFile), reach),
  );
  const batches = new Batches({
    ...batch,
    dropped: droppedBy('webhook', lost),
    send: async (events) => {
      const { status } = await transport({
        method: 'POST',
        url: '/',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: listOf(events),
        signal: over.signal,
      });
      if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
    },
  });
  return {
    write: (line) => batches.write(line),
    close: async () => {
      const late = setTimeout(() => over.abort(new Error('the server stops')), withinMs);
      await batches.close();
      clearTimeout(late);
      transport.close();
    },
  };
}

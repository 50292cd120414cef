import type { Logger } from '../kube/log.ts';
import { type LoadedAudit, loadAudit } from './audit/load.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Settings } from './settings.ts';
import type { TakenFiles } from './taken-files.ts';
import { loadTracing } from './tracing/load.ts';
import type { Part, Tracing } from './tracing/tracing.ts';

/** Who is told of single requests, where somebody wants to know. */
export interface Recorders {
  audit: LoadedAudit | undefined;
  tracing: Tracing | undefined;
  /** Resolves when what they were told is where it belongs, or lost. */
  close(): Promise<void>;
}

/** As the settings say, in this part of a server. Throws UsageError. */
export async function loadRecorders(options: {
  settings: Settings;
  files: TakenFiles;
  part: Part;
  logger: Logger;
  metrics: Metrics;
}): Promise<Recorders> {
  const { settings, files, part, logger, metrics } = options;
  const observer = metrics.audit;
  const audit = await loadAudit({
    settings: settings.audit,
    files,
    first: part === 'first',
    logger,
    observer,
  });
  const tracing = await loadTracing({ settings, files, part, logger, metrics });
  return {
    audit,
    tracing,
    close: async () => void (await Promise.all([audit?.close(), tracing?.close()])),
  };
}

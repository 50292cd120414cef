import type { Logger } from '../../kube/log.ts';
import { readConfiguration, type TracingConfiguration } from '../../kube/tracing/configuration.ts';
import { UsageError } from '../errors.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Settings } from '../settings.ts';
import type { TakenFiles } from '../taken-files.ts';
import type { Part, Tracing } from './tracing.ts';

export interface LoadTracingOptions {
  settings: Pick<Settings, 'tracingConfigFile' | 'dataDir'>;
  files: TakenFiles;
  part: Part;
  logger: Logger;
  /** Where what becomes of spans is counted. */
  metrics: Pick<Metrics, 'add'>;
}

/** As the file says that `tracing-config-file` names; undefined: no request is traced, nor anything loaded for it. Throws UsageError. */
export async function loadTracing({
  settings,
  files,
  part,
  logger,
  metrics,
}: LoadTracingOptions): Promise<Tracing | undefined> {
  const { tracingConfigFile: file, dataDir } = settings;
  if (file === undefined) return undefined;
  let configuration: TracingConfiguration;
  try {
    configuration = readConfiguration(await files.read(file));
  } catch (error) {
    throw new UsageError(`--tracing-config-file ${file}: ${(error as Error).message}`);
  }
  const { startTracing } = await import('./start.ts');
  const tracing = startTracing({ configuration, dataDir, part, logger });
  metrics.add(tracing.families);
  return tracing;
}

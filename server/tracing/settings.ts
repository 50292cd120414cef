import type { Setting } from '../authentication/settings.ts';

/** Rows of the table of settings: whether requests are traced. */
export const tracingSettings = {
  tracingConfigFile: {
    flag: 'tracing-config-file',
    variable: 'ATOLL_TRACING_CONFIG_FILE',
    placeholder: 'FILE',
    default: 'none',
    help: 'a TracingConfiguration: which requests are traced, and the OpenTelemetry receiver that is told',
  },
} satisfies Record<string, Setting>;

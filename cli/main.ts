#!/usr/bin/env node
import { main } from './program.ts';

const code = await main(process.argv);
process.exitCode = code;
// Idle connections would keep the process for a while; what was printed goes out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));

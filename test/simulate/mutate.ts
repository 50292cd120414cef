import { register } from 'node:module';

// Loaded by `node --import` before anything else: SIMULATE_BUG names the bug to put in.
register('./mutate-hooks.js', import.meta.url);

import type { Fault } from './fault.js';

/** The network swallows everything for a while, and connections look alive. What was under way arrives when it heals. */
export const partition = {
  name: 'partition',
  summary: 'nothing passes between the services and Redis for a while; connections stay open',
  kind: 'partition',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  async strike({ proxy, settings, release }) {
    const healed = proxy.blackhole({ forMs: settings.outageMs, ending: 'resume' });
    release();
    await healed;
  },
} satisfies Fault;

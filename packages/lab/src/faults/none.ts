import type { Fault } from './fault.js';

/** The control: nothing goes wrong. Whatever is lost here is lost by the pattern, or by the way weir looks. */
export const none = {
  name: 'none',
  summary: 'nothing goes wrong: the control',
  kind: 'none',
  points: [],
} satisfies Fault;

import type { MessagingPattern } from '@weir/patterns';
import type { FastifyRequest } from 'fastify';
import { ServiceError } from './service-error.js';

/** The `{pattern}` of a path. */
export interface PatternParameters {
  readonly pattern: string;
}

export function patternParametersSchema(names: readonly string[]) {
  return {
    type: 'object',
    required: ['pattern'],
    properties: {
      pattern: { type: 'string', enum: [...names], description: 'Name of a messaging pattern.' },
    },
  } as const;
}

/** The pattern of a path. @throws {ServiceError} 404 with those there are */
export function patternOf<Value>(known: ReadonlyMap<string, Value>, name: string): Value {
  const value = known.get(name);
  if (value === undefined) {
    const patterns = [...known.keys()];
    const message = `there is no pattern ${JSON.stringify(name)}; there is ${patterns.join(', ')}`;
    throw new ServiceError(404, 'UNKNOWN_PATTERN', message, { patterns });
  }
  return value;
}

/** A hook for `onRequest`: an unknown pattern is refused before its body is read and its parameters are checked. */
export function refuseUnknownPattern(known: ReadonlyMap<string, unknown>) {
  return async (request: FastifyRequest): Promise<void> => {
    const { params } = request;
    if (typeof params === 'object' && params !== null && 'pattern' in params) {
      patternOf(known, String(params.pattern));
    }
  };
}

/** `stream-group` -> `STREAM_GROUP`, as the answers call it. */
export function publicName({ name }: Pick<MessagingPattern, 'name'>): string {
  return name.toUpperCase().replaceAll('-', '_');
}

import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { Result, resultJsonSchema } from '../../../src/measure/result.js';
import { json } from '../../../src/reporters/json.js';
import { failedTrialFixture, invalidTrialFixture, resultFixture } from '../../support/result-fixture.js';

const SCHEMA = new URL('../../../schema/result.schema.json', import.meta.url);

async function validator() {
  const schema: object = JSON.parse(await readFile(SCHEMA, 'utf8'));
  // Times are also held to a pattern by the schema; the format itself is no concern of ajv without a plugin.
  return new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    formats: { 'date-time': true },
  }).compile(schema);
}

describe('json report', () => {
  it('is the result exactly', () => {
    const result = resultFixture();
    expect(JSON.parse(json.render(result))).toEqual(result);
  });

  it.each([
    ['completed', resultFixture()],
    ['interrupted', resultFixture({ status: 'interrupted', trials: [] })],
    [
      'failed, with trials of each state',
      resultFixture({
        status: 'failed',
        error: 'Redis is gone',
        trials: [
          failedTrialFixture('queue batch=1', 1, 'no answer'),
          invalidTrialFixture('queue batch=1', 2, {
            id: 'undrained',
            status: 'fail',
            evidence: '3 left',
            remedy: 'wait longer',
          }),
        ],
      }),
    ],
  ])('validates against the shipped JSON Schema: %s', async (_, result) => {
    const validate = await validator();
    validate(JSON.parse(json.render(result)));
    expect(validate.errors).toBeNull();
    expect(Result.parse(result)).toEqual(result);
  });

  it('does not validate when a field is missing or of the wrong kind', async () => {
    const validate = await validator();
    const { plan: _, ...withoutPlan } = resultFixture();
    expect(validate(withoutPlan)).toBe(false);
    expect(validate({ ...resultFixture(), status: 'done' })).toBe(false);
  });

  it('ships a schema that is not stale (npm run build:schema -w weir)', async () => {
    expect(JSON.parse(await readFile(SCHEMA, 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(resultJsonSchema())),
    );
  });
});

import { describe, expect, it, vi } from 'vitest';
import { weir } from '../../support/command-line.js';

// Commands load what they need when they are called, and on a busy machine that alone takes seconds.
vi.setConfig({ testTimeout: 60_000 });

describe('wrong usage of connections and the point service', () => {
  it.each([
    ['run connections --strategy nope', 'there is no strategy "nope"'],
    ['run connections --strategy nope', 'known strategies: multiplexed, per-request, pool'],
    ['run connections --pool 0', '--pool is "0"; it must be a whole number from 1'],
    ['run connections --pool 8,8', 'repetitions'],
    ['run connections --strategy multiplexed --pool 8', '--pool is "8"; it must be left out'],
    ['run connections --strategy multiplexed --test-on-borrow', '--test-on-borrow'],
    ['run connections --strategy pool --auto-pipelining', '--auto-pipelining'],
    ['run connections --client nope', 'there is no client "nope"'],
    ['run connections --entries 0', '--entries is "0"'],
    ['run connections --entries 10000001', '--entries is "10000001"'],
    ['run connections --hit-rate 1.1', '--hit-rate is "1.1"; it must be a number from 0 to 1'],
    ['run connections --hit-rate -1', '--hit-rate is "-1"'],
    ['run connections --request save --hit-rate 1', '--hit-rate is "1"; it must be left out'],
    ['run connections --request drop', '--request is "drop"; it must be one of get, save'],
    ['run connections --users 0', '--users is "0"'],
    ['run connections --users 1 --apps 2', '--users is "1"; it must be at least 2'],
    ['run connections --rate 0', '--rate is "0"'],
    ['run connections --rate 5 --rate-sweep 1,2', '--rate is "5"; it must be left out'],
    ['run connections --rate-sweep 100', '--rate-sweep is "100"; it must be several rates'],
    ['run connections --app http://127.0.0.1:1', '--app is "http://127.0.0.1:1"; it must be name=http'],
    ['run connections --app a=http://h:1 --pool 8', '--pool is "8"; it must be left out with --app'],
    ['run connections --app a=http://h:1,a=http://h:2', 'a is there twice'],
    ['serve point --strategy nope', 'there is no strategy "nope"'],
    ['serve point --pool 0', '--pool is "0"'],
    ['serve point --hit-rate 2', '--hit-rate is "2"'],
    ['serve nope', 'known services: producer, consumer, point'],
  ])('weir %s: %s', async (line, said) => {
    const { code, stdout, stderr } = await weir(line);
    expect(stderr).toContain(said);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  });
});

/**
 * Lua lies in a TypeScript file so that bundlers carry it along and nothing is read from disk at run time.
 */
export const DEAD_LETTER = `
-- Moves one pending entry of a consumer to the dead letters and acknowledges it, or does neither.
--
-- Only while the entry is still pending for this consumer: XACK itself does not check who owns an entry, and a
-- repeat after a lost reply must not write a second dead letter. An error of XADD (wrong type, out of memory)
-- ends the script before XACK, which MULTI would not.
--
-- KEYS[1] stream
-- KEYS[2] dead-letter stream
-- KEYS[3] recorded attempts of the group
-- ARGV[1] group     ARGV[2] consumer    ARGV[3] entry id
-- ARGV[4...] names and values of the dead letter
--
-- Returns 1 when the entry was moved, 0 when it is not pending for this consumer any more.
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1, ARGV[2])
if #pending == 0 then
  return 0
end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 4))
redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[3], ARGV[3])
return 1
`;

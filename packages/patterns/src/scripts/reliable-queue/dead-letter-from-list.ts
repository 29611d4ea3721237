export const DEAD_LETTER_FROM_LIST = `
-- Moves one message from the processing list of a consumer to the dead letters, or does neither.
--
-- Removes first, because at maxmemory Redis refuses a script that begins with a write that may grow memory; what XADD
-- refuses goes back to where it was. A message that is not there any more was given back to the queue, or was moved by
-- an earlier call whose reply was lost: no second dead letter is written.
--
-- KEYS[1] processing list    KEYS[2] dead-letter stream    KEYS[3] recorded attempts
-- ARGV[1] digest of the message    ARGV[2...] names and values of the dead letter, the message itself last
--
-- Returns 1 when it was moved, 0 when it is not there any more.
local message = ARGV[#ARGV]
redis.call('XLEN', KEYS[2])
if redis.call('LREM', KEYS[1], -1, message) == 0 then
  return 0
end
local added = redis.pcall('XADD', KEYS[2], '*', unpack(ARGV, 2))
if type(added) == 'table' and added.err then
  redis.call('RPUSH', KEYS[1], message)
  return added
end
redis.call('HDEL', KEYS[3], ARGV[1])
return 1
`;

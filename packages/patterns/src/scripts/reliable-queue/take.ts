export const TAKE = `
-- Moves the oldest messages of the queue to the processing list of a consumer and renews its lease.
--
-- Sent right behind a BLMOVE of the same consumer, so that no message lies in a processing list without a lease,
-- however late that BLMOVE was carried out: the reaper finds processing lists by their leases.
--
-- At maxmemory Redis refuses LMOVE and BLMOVE, because they may grow memory. In a script it refuses only the first
-- write, so the script begins with RPOP, which never does. LLEN comes before: a processing list of the wrong type has
-- to end the script while the messages are still in the queue.
--
-- KEYS[1] queue    KEYS[2] processing list    KEYS[3] recorded attempts    KEYS[4] leases
-- ARGV[1] most messages, may be 0    ARGV[2] the consumer in the leases    ARGV[3] lease in milliseconds
--
-- Returns 1 or 0, whether there are recorded attempts of whatever message, and then the messages, oldest first.
redis.call('LLEN', KEYS[2])
local most = tonumber(ARGV[1])
local messages = most > 0 and redis.call('RPOP', KEYS[1], most) or {}
if #messages > 0 then
  redis.call('LPUSH', KEYS[2], unpack(messages))
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[4], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3], ARGV[2])
table.insert(messages, 1, redis.call('EXISTS', KEYS[3]))
return messages
`;

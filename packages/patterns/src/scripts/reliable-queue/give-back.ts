export const GIVE_BACK = `
-- Moves what is in the processing list of a consumer to the head of the queue, in its order: all of it, or all but
-- what the consumer still holds. In one step, so that no message is ever in neither list.
--
-- LPOP and RPUSH stand for LMOVE, which Redis refuses at maxmemory (see TAKE). What comes before them only makes keys
-- of the wrong type end the script while nothing has been moved.
--
-- KEYS[1] processing list    KEYS[2] queue    KEYS[3] recorded attempts    KEYS[4] leases
-- ARGV[1] the consumer in the leases
-- ARGV[2] 'expired': only if its lease has run out by the clock of Redis; 'now': in any case
-- ARGV[3] seconds for which to record that each message was begun once, unless there is a record; 0 for no record
-- ARGV[4...] digests (SHA-1, hexadecimal) of the messages to keep, one for each message
--
-- Returns how many were moved. The lease goes when nothing is left in the processing list.
redis.call('LLEN', KEYS[2])
redis.call('HLEN', KEYS[3])
local expiry = redis.call('ZSCORE', KEYS[4], ARGV[1])
if ARGV[2] == 'expired' then
  local time = redis.call('TIME')
  if not expiry or tonumber(expiry) > time[1] * 1000 + math.floor(time[2] / 1000) then
    return 0
  end
end
local keep = {}
for index = 4, #ARGV do
  keep[ARGV[index]] = (keep[ARGV[index]] or 0) + 1
end
local seconds = tonumber(ARGV[3])
local moved = 0
local length = redis.call('LLEN', KEYS[1])
-- Once around: what is kept goes back in at the other end, which leaves it in its order.
for _ = 1, length do
  local message = redis.call('LPOP', KEYS[1])
  local digest = redis.sha1hex(message)
  if (keep[digest] or 0) > 0 then
    keep[digest] = keep[digest] - 1
    redis.call('RPUSH', KEYS[1], message)
  else
    redis.call('RPUSH', KEYS[2], message)
    moved = moved + 1
    if seconds > 0 then
      redis.call('HSETNX', KEYS[3], digest, 1)
    end
  end
end
if moved > 0 and seconds > 0 then
  redis.call('EXPIRE', KEYS[3], seconds)
end
if moved == length then
  redis.call('ZREM', KEYS[4], ARGV[1])
end
return moved
`;

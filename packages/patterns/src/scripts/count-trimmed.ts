import { STREAM_FIELDS } from './stream-fields.js';

export const COUNT_TRIMMED = `
-- Counts the entries that were trimmed before the group had read them, and tells each of them once.
--
-- Redis counts every entry ever added, and for each group how many of them it was given (since 7.0). Their difference,
-- the lag, should be what still lies ahead of the group:
--
--     lag = added - given            gone = lag - ahead
--
-- but entries that were trimmed in front of the group stay in the lag for ever. What lies ahead is known at two moments:
-- it is nothing when the group has read the newest entry, and the whole stream while the oldest entry lies beyond the
-- last one given. What is gone is then added to what was given, so that whoever asks next does not count it again, and
-- the lag that others watch is true.
--
-- KEYS[1] stream      ARGV[1] group
--
-- Returns how many are gone and were not told before; 0 as well where Redis cannot say.
${STREAM_FIELDS}
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local stream = fields(redis.call('XINFO', 'STREAM', KEYS[1]))
local added = stream['entries-added']
if not added then
  return 0
end
for _, entry in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fields(entry)
  if group['name'] == ARGV[1] and group['lag'] then
    local given = group['last-delivered-id']
    local first = stream['first-entry']
    local ahead
    if not isNewer(stream['last-generated-id'], given) then
      ahead = 0
    elseif not first or isNewer(first[1], given) then
      ahead = stream['length']
    else
      return 0
    end
    local gone = group['lag'] - ahead
    if gone > 0 then
      redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], given, 'ENTRIESREAD', added - ahead)
      return gone
    end
  end
end
return 0
`;

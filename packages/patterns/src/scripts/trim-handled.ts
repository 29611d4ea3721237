import { STREAM_FIELDS } from './stream-fields.js';

export const TRIM_HANDLED = `
-- Trims entries that every group has acknowledged, but for the newest of them.
--
-- Nobody knows the place of an entry in a stream, and to count from the end would mean to read contents. So the
-- producer brings checkpoints: some ids of its own messages and how many it had written up to there. The newest
-- checkpoint that all groups have passed is where 'handled' ends, and the trim goes up to a checkpoint that lies at
-- least as many messages before it as are to be kept. Looking and trimming in one step: no group can begin meanwhile.
--
-- KEYS[1] stream
-- ARGV[1] how many handled entries are kept, at least      ARGV[2...] pairs of id and number, newest first
--
-- Returns the place of the checkpoint up to which was trimmed, 1 for the newest; 0 when nothing could be: there is no
-- group, or the slowest one has not passed enough checkpoints.
${STREAM_FIELDS}
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
local bound
for _, group in ipairs(groups) do
  local of = fields(group)
  local passed = of['last-delivered-id']
  if of['pending'] > 0 then
    local first = redis.call('XPENDING', KEYS[1], of['name'])[2]
    if not isNewer(first, passed) then passed = first end
  end
  if not bound or not isNewer(passed, bound) then bound = passed end
end
if not bound then
  return 0
end
local handled
for index = 2, #ARGV, 2 do
  local id, number = ARGV[index], tonumber(ARGV[index + 1])
  if not handled and not isNewer(id, bound) then
    handled = number
  end
  if handled and number <= handled - tonumber(ARGV[1]) then
    redis.call('XTRIM', KEYS[1], 'MINID', '~', id)
    return index / 2
  end
end
return 0
`;

export const REMOVE_SILENT_CONSUMERS = `
-- Takes the names of consumers out of the group that have nothing pending and have not asked for anything for long.
-- One that lives after all is entered again by its next read; nothing is lost by it.
--
-- KEYS[1] stream
-- ARGV[1] group      ARGV[2] milliseconds without a sign of life
--
-- Returns how many were removed.
local removed = 0
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local of = {}
  for index = 1, #consumer, 2 do
    of[consumer[index]] = consumer[index + 1]
  end
  if of['pending'] == 0 and of['idle'] >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], of['name'])
    removed = removed + 1
  end
end
return removed
`;

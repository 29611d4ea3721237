export const REPLAY_DEAD_LETTER = `
-- Moves one dead letter back to where the consumers take from, or does neither.
--
-- The write comes first: when it is refused (wrong type, out of memory) the script ends there and the letter stays.
-- A repeat after a lost reply finds no letter and writes nothing.
--
-- KEYS[1] dead-letter stream
-- KEYS[2] the pattern's key
-- ARGV[1] what that key holds: 'stream' or 'list'     ARGV[2] name of the content field     ARGV[3] id of the letter
--
-- Returns 1 when it was moved, 0 when there is no such letter.
local letter = redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3])[1]
if not letter then
  return 0
end
local content = ''
local fields = letter[2]
for index = 1, #fields, 2 do
  if fields[index] == ARGV[2] then
    content = fields[index + 1]
  end
end
if ARGV[1] == 'list' then
  redis.call('LPUSH', KEYS[2], content)
else
  redis.call('XADD', KEYS[2], '*', ARGV[2], content)
end
redis.call('XDEL', KEYS[1], ARGV[3])
return 1
`;

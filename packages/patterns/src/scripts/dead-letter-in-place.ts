/**
 * Lua lies in a TypeScript file so that bundlers carry it along and nothing is read from disk at run time.
 */
export const DEAD_LETTER_IN_PLACE = `
-- Adds a message that a reader with an offset of its own has given up to the dead letters, once.
--
-- The move is repeated when its answer was lost, and when the process ends before the reader's offset has moved past
-- the message. A reader gives up one message at a time and in order, so its last letter is near the end of the
-- stream: the newest 100 are looked through.
--
-- KEYS[1] dead-letter stream
-- ARGV[1] entry id     ARGV[2] reader
-- ARGV[3...] names and values of the dead letter
--
-- Returns 1 when the message was added, 0 when it was there.
for _, letter in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 100)) do
  local fields = letter[2]
  local id, reader
  for i = 1, #fields, 2 do
    if fields[i] == 'id' then id = fields[i + 1] end
    if fields[i] == 'reader' then reader = fields[i + 1] end
  end
  if id == ARGV[1] and reader == ARGV[2] then
    return 0
  end
end
redis.call('XADD', KEYS[1], '*', 'reader', ARGV[2], unpack(ARGV, 3))
return 1
`;

/**
 * The part that the scripts about pending entries share: who has each of these now? XACK and XCLAIM do not ask that
 * themselves, and between a question of ours and a command of ours another consumer can take an entry over.
 */
export const OWN_ENTRIES = `
-- Sorts the ids that stand in ARGV from 'first' on, every 'step'th argument:
-- pending for the consumer ARGV[2] of the group ARGV[1], pending for another one, not pending.
local function sorted(first, step)
  local own, others, gone = {}, {}, {}
  for index = first, #ARGV, step do
    local id = ARGV[index]
    local entry = redis.call('XPENDING', KEYS[1], ARGV[1], id, id, 1)[1]
    if not entry then
      gone[#gone + 1] = id
    elseif entry[2] == ARGV[2] then
      own[#own + 1] = id
    else
      others[#others + 1] = id
    end
  end
  return own, others, gone
end
`;

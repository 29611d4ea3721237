/** The part that the scripts about places in a stream share: reading XINFO and comparing ids. */
export const STREAM_FIELDS = `
-- A reply of XINFO, names and values in one list, as a table.
local function fields(list)
  local of = {}
  for index = 1, #list, 2 do
    of[list[index]] = list[index + 1]
  end
  return of
end

-- Ids are two integers of 64 bits; a number of Lua has 53.
local function isNewer(a, b)
  local function compare(one, other)
    if #one ~= #other then return #one - #other end
    return one == other and 0 or (one < other and -1 or 1)
  end
  local aMs, aSequence = string.match(a, '^(%d+)-(%d+)$')
  local bMs, bSequence = string.match(b, '^(%d+)-(%d+)$')
  local byTime = compare(aMs, bMs)
  return byTime > 0 or (byTime == 0 and compare(aSequence, bSequence) > 0)
end
`;

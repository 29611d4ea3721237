export const BEGIN_ATTEMPTS = `
-- Records that another attempt at each of the messages begins, before their handler runs.
--
-- EXPIRE first: at maxmemory Redis refuses a script that begins with HINCRBY (see TAKE).
--
-- KEYS[1] recorded attempts: a hash of digest and number of attempts begun
-- ARGV[1] seconds that the records are kept    ARGV[2...] digests
--
-- Returns the number of messages.
redis.call('EXPIRE', KEYS[1], ARGV[1])
for index = 2, #ARGV do
  redis.call('HINCRBY', KEYS[1], ARGV[index], 1)
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return #ARGV - 1
`;

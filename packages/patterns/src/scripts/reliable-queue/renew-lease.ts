export const RENEW_LEASE = `
-- Renews the lease of a consumer by the clock of Redis, the only one that all consumers share.
--
-- ZREM first: at maxmemory Redis refuses a script that begins with ZADD (see TAKE), and without leases the consumers
-- would take each other's work away just then.
--
-- KEYS[1] leases: a sorted set of consumer and expiry in milliseconds since 1970
-- ARGV[1] the consumer    ARGV[2] lease in milliseconds
--
-- Returns the consumers whose lease has run out.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)
`;

/** The Redis a run works on: one that weir started, or the user's. */
export interface ManagedOrGivenRedis {
  readonly managed: boolean;
  /** Full URL for clients, with credentials if any. Never print it: use `address`. */
  readonly url: string;
  /** The same without user and password. */
  readonly address: string;
}

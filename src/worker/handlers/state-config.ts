/** The config key of handlers that cache values between requests, in `context.kept`. */
export interface StateConfig {
  /**
   * The maximum number of bytes that a worker caches between requests, such as key–value caches and the embeddings of images;
   * 0 for nothing. Each is freed when no request has used it for five minutes.
   * @integer
   * @minimum 0
   * @default 268435456
   */
  readonly maxStateBytes?: number;
}

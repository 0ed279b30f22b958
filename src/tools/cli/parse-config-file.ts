import { isJson } from '../../contract/describe-value.js';
import { parseConfig, type ParsedConfig } from '../../worker/models/config.js';
import { integrityOf } from './archive-files.js';

/**
 * Parses an archive's config file for its `tabserve.json`, so that no visitor downloads a parser. Returns undefined if
 * JSON cannot represent its values, such as infinity.
 * @throws `model-config` naming the line or the key of the error
 */
export async function parseConfigFile(bytes: Uint8Array, file: string): Promise<ParsedConfig | undefined> {
  const config = await parseConfig(new TextDecoder().decode(bytes), file);
  return isJson(config) ? { sha256: integrityOf(bytes).sha256, config } : undefined;
}

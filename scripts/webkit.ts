import { existsSync, readdirSync } from 'node:fs';

const LIBRARIES = '/usr/lib';

/** WebKitGTK, the engine of Safari: its driver, and the browser that the driver starts. Undefined where it is missing. */
export const webkit = find();

export const NO_WEBKIT =
  'there is no WebKitGTK: install it (Debian: apt-get install webkit2gtk-driver xvfb gstreamer1.0-libav), for Linux alone';

function find(): { readonly driver: string; readonly browser: string } | undefined {
  const driver = '/usr/bin/WebKitWebDriver';
  if (!existsSync(driver)) return undefined;
  for (const platform of readdirSync(LIBRARIES).filter((name) => name.endsWith('-linux-gnu')))
    for (const name of readdirSync(`${LIBRARIES}/${platform}`).filter((one) => one.startsWith('webkit2gtk-'))) {
      const browser = `${LIBRARIES}/${platform}/${name}/MiniBrowser`;
      if (existsSync(browser)) return { driver, browser };
    }
  return undefined;
}

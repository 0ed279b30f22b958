import { createWebnnContext } from '../webnn.js';
import { DeviceLoss } from '../device-loss.js';
import type { Provide } from './engine.js';
import { PlacementLog } from './placement-log.js';

/**
 * ONNX Runtime's WebNN provider, on one context for all sessions. Nodes that the provider does not take run on WASM,
 * and it does not say so except in its log. If the provider gets a context, it uses the device's kind only as a name.
 */
export const onWebnn: Provide = async (_env, { powerPreference, onLost }) => {
  const context = await createWebnnContext(powerPreference);
  const loss = new DeviceLoss(onLost, { what: 'WebNN context' });
  void context.lost.then(() => loss.report());
  return {
    provider: 'webnn',
    session: { executionProviders: [{ name: 'webnn', context, deviceType: 'gpu' }], ...PlacementLog.session },
    placement: new PlacementLog(),
    gpu: { loss, watch() {} },
  };
};

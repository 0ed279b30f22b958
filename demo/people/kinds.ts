/** What the page finds: faces, hands or bodies. */
import { HAND_CONNECTIONS, POSE_CONNECTIONS, type CandidateName, type Connection } from '../../src/index.js';
import type { ModelFacts, Sample } from '../demo.js';
import { loading } from '../demos/code.js';

export interface Kind {
  readonly handler: 'face_landmarker' | 'hand_landmarker' | 'pose_landmarker';
  /** One of them, and several. */
  readonly one: string;
  readonly many: string;
  readonly model: ModelFacts;
  /** Which points are connected, and the name of this list in the package; undefined if only points are drawn. */
  readonly connections: { readonly name: string; readonly list: readonly Connection[] } | undefined;
  /** How thick it is drawn, in thousandths of the frame's width. */
  readonly line: number;
  /** The photos of which sample clips are made. */
  readonly samples: readonly Sample[];
}

const ASTRONAUT: Sample = { url: 'models/selfie/samples/astronaut.jpg', shows: 'Clip: an astronaut' };
const GRACE_HOPPER: Sample = { url: 'models/selfie/samples/grace-hopper.jpg', shows: 'Clip: Grace Hopper' };
const PHOTO_SHOOT: Sample = { url: 'models/hand/samples/photo-shoot.jpg', shows: 'Clip: a photo shoot' };
const SOFA: Sample = { url: 'models/hand/samples/sofa.jpg', shows: 'Clip: three people on a sofa' };

export const KINDS = {
  face: {
    handler: 'face_landmarker',
    one: 'face',
    many: 'faces',
    model: model('face', 'MediaPipe Face Detection and Face Mesh', 1_775_915),
    connections: undefined,
    line: 2.2,
    samples: [ASTRONAUT, GRACE_HOPPER, SOFA],
  },
  hand: {
    handler: 'hand_landmarker',
    one: 'hand',
    many: 'hands',
    model: model('hand', 'MediaPipe Palm Detection and Hand Landmark', 5_640_591),
    connections: { name: 'HAND_CONNECTIONS', list: HAND_CONNECTIONS },
    line: 4,
    samples: [SOFA, PHOTO_SHOOT],
  },
  pose: {
    handler: 'pose_landmarker',
    one: 'body',
    many: 'bodies',
    model: model('pose', 'MediaPipe Pose Detection and BlazePose lite', 8_825_638),
    connections: { name: 'POSE_CONNECTIONS', list: POSE_CONNECTIONS },
    line: 5,
    samples: [ASTRONAUT, GRACE_HOPPER],
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;

/** Returns the code that follows a camera, as a developer writes it. */
export function codeOf({ handler, many, model, connections }: Kind, backends?: readonly CandidateName[]): string {
  const imports = [...(connections ? [connections.name] : []), 'load', 'paintLandmarks'];
  return `import { ${imports.join(', ')} } from 'tabserve';

${loading(many, handler, { archive: `/${model.url}`, backends })}
const camera = await navigator.mediaDevices.getUserMedia({ video: true });
const context = document.querySelector('canvas')!.getContext('2d')!;

// If the worker is lost, the loop continues with the next frame, and the ids continue.
const sequence = ${many}.openSequence();
for await (const { result, frame } of sequence.frames(camera)) {
  if (frame) context.drawImage(frame, 0, 0);
  paintLandmarks(context, result${connections ? `, ${connections.name}` : ''});
}
await ${many}.dispose();
`;
}

function model(name: string, title: string, bytes: number): ModelFacts {
  return {
    url: `models/${name}/`,
    short: name,
    name: title,
    license: 'Apache-2.0',
    bytes,
    engines: ['onnx', 'tfjs'],
  };
}

import { FilesetResolver, ImageSegmenter } from '@mediapipe/tasks-vision';

/**
 * Opens MediaPipe's segmenter on the CPU with the same model, as MediaPipe's guide for the web does: on the page's
 * thread, which computes during the whole call.
 */
export async function openMediaPipe(): Promise<(frame: VideoFrame) => Float32Array> {
  const segmenter = await ImageSegmenter.createFromOptions(await FilesetResolver.forVisionTasks('/mediapipe'), {
    baseOptions: { modelAssetPath: '/model/selfie.tflite', delegate: 'CPU' },
    runningMode: 'VIDEO',
    outputConfidenceMasks: true,
  });
  let time = 0;
  return (frame) => {
    const result = segmenter.segmentForVideo(frame, ++time);
    frame.close();
    const mask = result.confidenceMasks![0]!.getAsFloat32Array();
    result.close();
    return mask;
  };
}

/** Calls `frame` for every frame of `stream`, as long as it is what the video shows. */
export function eachFrame(video: HTMLVideoElement, stream: MediaStream, frame: () => void): void {
  const next = (): void => {
    if (video.srcObject !== stream) return;
    frame();
    video.requestVideoFrameCallback(next);
  };
  video.requestVideoFrameCallback(next);
}

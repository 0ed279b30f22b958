"""Makes the sound files of this folder with ffmpeg, and decoded.json with what ffmpeg decodes of them:

    python test/goldens/sounds/make.py
"""
import json
import pathlib
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).parent
TONE = ["-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*(300+400*t)*t)|0.2*sin(2*PI*700*t)*exp(-3*t):s=44100:d=0.7"]
# Silence, whose frames are small, and then larger ones. No frame says how many there are.
GROWING = ["-f", "lavfi", "-i", "aevalsrc=if(lt(t\\,0.4)\\,0\\,0.3*sin(2*PI*(300+400*t)*t)+0.1*sin(2*PI*5000*t*t)):s=44100:d=1.2"]
PICTURE = ["-f", "lavfi", "-i", "color=c=red:s=32x32:r=5:d=0.7"]
H264 = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
AAC = ["-c:a", "aac", "-b:a", "64k"]
KEYS = ["-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8"]
SOUNDS = {
    "tone.mp3": [*TONE, "-c:a", "libmp3lame", "-b:a", "64k"],
    "growing.mp3": [*GROWING, "-c:a", "libmp3lame", "-q:a", "0", "-write_xing", "0"],
    "tone.m4a": [*TONE, *AAC],
    "vorbis.ogg": [*TONE, "-c:a", "libvorbis", "-q:a", "1"],
    "opus.ogg": [*TONE, "-c:a", "libopus", "-b:a", "48k"],
    "tone.webm": [*TONE, "-c:a", "libopus", "-b:a", "48k"],
    "tone.flac": [*TONE, "-ac", "1", "-sample_fmt", "s16"],
    "video.mp4": [*TONE, *PICTURE, *AAC, *H264],
}
OTHERS = {"mute.mp4": [*PICTURE, *H264], "mute.webm": [*PICTURE, "-c:v", "libvpx", "-b:v", "20k"], "encrypted.mp4": [*TONE, *AAC, *KEYS]}


def ffmpeg(*given):
    return subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *given], check=True, capture_output=True).stdout


if __name__ == "__main__":
    for name, given in {**SOUNDS, **OTHERS}.items():
        ffmpeg(*given, "-flags", "+bitexact", "-fflags", "+bitexact", "-map_metadata", "-1", str(HERE / name))
    decoded = {}
    for name in SOUNDS:
        about = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=sample_rate,channels", "-of", "json", str(HERE / name)], check=True, capture_output=True).stdout
        [stream] = json.loads(about)["streams"]
        samples = np.frombuffer(ffmpeg("-i", str(HERE / name), "-f", "f32le", "-"), np.float32).reshape(-1, stream["channels"])
        mean = samples.mean(1)
        decoded[name] = {"sampleRate": int(stream["sample_rate"]), "channels": stream["channels"], "samples": len(mean), "every97th": [round(float(one), 5) for one in mean[::97]]}
    (HERE / "decoded.json").write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in decoded.items()) + "\n}\n")

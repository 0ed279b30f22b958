"""Makes `answers.json`: what Python answers with published weights, the same files that `npm run published` serves.

    python test/goldens/published/make.py [NAME ...]

The weights are in `.cache/published/hub`, where `npm run published:fetch` puts them. Needs numpy, onnxruntime,
pillow, tokenizers and, for `SmolLM2-135M-Instruct` and Whisper, torch and transformers 4.57; for `hey-jarvis`,
scikit-learn, which its package imports; for who speaks, scipy, torch and torchaudio.
"""
import json
import pathlib
import sys
import unicodedata
import wave

import numpy as np
import onnxruntime
from PIL import Image
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
HUB = ROOT / ".cache/published/hub"
QUESTIONS = ["How are you today?", "What is the capital of France?", "Who are you?", "What is 2 + 3?", "Name three colors."]
TEXTS = ["The cat sat on the mat.", "A model that runs on the device of its visitor answers without a server.", "東京は日本の首都です"]
NEW_TOKENS = 12
SOUNDS = "test/goldens/published/sounds"
RATE = 16000
# Integer kernels differ by processor, and so do answers in 8 bits: those of a processor with these stand beside the others.
CPU = pathlib.Path("/proc/cpuinfo")
EIGHT_BITS = "q8, avx512_vnni" if CPU.exists() and "avx512_vnni" in CPU.read_text() else "q8"


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def vectors(name, file, pool):
    """Sentence vectors, each of a text alone."""
    model = session(HUB / name / "onnx" / file)
    tokenizer = Tokenizer.from_file(str(HUB / name / "tokenizer.json"))
    tokenizer.no_padding()
    names = {one.name for one in model.get_inputs()}
    answers = []
    for text in TEXTS:
        encoding = tokenizer.encode(text)
        feeds = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        states = model.run(None, {key: np.int64([value]) for key, value in feeds.items() if key in names})[0][0]
        vector = states[0] if pool == "cls" else states.mean(0)
        answers.append((vector / np.linalg.norm(vector)).round(7).tolist())
    return {"inputs": TEXTS, "answers": answers}


def smollm2():
    """The greedy answers of transformers in full precision, and of ONNX Runtime with each file: the prompt in one run, then token by token."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = HUB / "SmolLM2-135M-Instruct"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompts = [tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True) for text in QUESTIONS]
    answers = {}
    model = AutoModelForCausalLM.from_pretrained(ROOT / ".cache/published/hf/smollm2", dtype=torch.float32).eval()
    answers["transformers"] = [
        tokenizer.decode(model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=NEW_TOKENS)[0, len(ids):], skip_special_tokens=True)
        for ids in prompts]
    del model
    for dtype, file in [(EIGHT_BITS, "model_quantized"), ("q4", "model_q4"), ("fp16", "model_fp16"), ("fp32", "model")]:
        model = session(folder / f"onnx/{file}.onnx")
        answers[dtype] = [tokenizer.decode(greedy(model, ids, tokenizer.eos_token_id), skip_special_tokens=True) for ids in prompts]
        del model
    return {"inputs": QUESTIONS, "newTokens": NEW_TOKENS, "answers": answers}


def greedy(model, ids, eos):
    types = {one.name: one.type for one in model.get_inputs()}
    past = {name: np.zeros((1, 3, 0, 64), np.float16 if "16" in kind else np.float32) for name, kind in types.items() if name.startswith("past")}
    outputs = [one.name for one in model.get_outputs()]
    done, fresh = [], list(ids)
    while len(done) < NEW_TOKENS:
        start = len(ids) + len(done) - len(fresh)
        feeds = {"input_ids": [fresh], "attention_mask": [[1] * (start + len(fresh))], "position_ids": [list(range(start, start + len(fresh)))]}
        found = dict(zip(outputs, model.run(None, {name: np.int64(value) for name, value in feeds.items() if name in types} | past)))
        token = int(found["logits"][0, -1].argmax())
        done.append(token)
        if token == eos:
            break
        past = {name: found[name.replace("past_key_values", "present")] for name in past}
        fresh = [token]
    return done


def isnet():
    """The opacity of a photo, by the recipe of @imgly/background-removal, in the photo's size as torch interpolates it."""
    import torch
    from torch.nn.functional import interpolate

    photo = Image.open(ROOT / "public/models/upscaler/samples/astronaut.png").convert("RGB")
    pixels = np.asarray(photo.resize((1024, 1024), Image.Resampling.BILINEAR), np.float32)
    model = session(HUB / "isnet/onnx/model.onnx")
    result = model.run(None, {model.get_inputs()[0].name: ((pixels - 128) / 256).transpose(2, 0, 1)[None]})[0]
    mask = interpolate(torch.from_numpy(result), size=photo.size[::-1], mode="bilinear", align_corners=False)[0, 0].numpy()
    return {"inputs": ["public/models/upscaler/samples/astronaut.png"], "answers": [{"size": photo.size, "every97th": (mask.ravel()[::97] * 255).round(1).tolist()}]}


def samples(path):
    with wave.open(str(path)) as file:
        assert file.getframerate() == 16000 and file.getnchannels() == 1
        return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768


def silero():
    path = "public/models/vad/samples/platform.wav"
    model = session(HUB / "silero-vad/onnx/model.onnx")
    sound = samples(ROOT / path)
    state, before, found = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
    for start in range(0, len(sound), 512):
        window = np.pad(sound[start:start + 512], (0, max(0, start + 512 - len(sound))))
        score, state = model.run(None, {"input": np.concatenate([before, window])[None], "state": state, "sr": np.array(16000, np.int64)})
        before = window[-64:]
        found.append(round(float(score[0, 0]), 6))
    return {"inputs": [path], "answers": [found]}


def piper():
    path = HUB / "piper-joe/en_US-joe-medium.onnx"
    model, ids = session(path), json.loads(path.with_name(f"{path.name}.json").read_text())["phoneme_id_map"]
    # As piper-phonemize: a blank after each mark and phoneme but the last. One sentence, then two, each run alone.
    said = [["həlˈoʊ wˈɜːld."], ["ðɪs ɪz ɐ tˈɛst!", "ɪz ɪt?"]]

    def speak(sentence):
        tokens = [*ids["^"], *ids["_"], *(id for one in unicodedata.normalize("NFD", sentence) for id in (*ids[one], *ids["_"])), *ids["$"]]
        return model.run(None, {"input": np.int64([tokens]), "input_lengths": np.int64([len(tokens)]), "scales": np.float32([0, 1, 0])})[0].ravel()

    sounds = [np.concatenate([speak(one) for one in sentences]) for sentences in said]
    return {
        "inputs": [{"phonemes": " ".join(sentences)} for sentences in said],
        "answers": [{"samples": len(one), "every97th": [round(float(sample), 6) for sample in one[::97]]} for one in sounds]}


def whisper(name, *paths, **rest):
    """What was said. @param name `whisper-base` knows several languages, and is asked for English"""
    import torch
    from transformers import WhisperForConditionalGeneration, WhisperProcessor

    folder = ROOT / ".cache/published/hf" / name
    processor = WhisperProcessor.from_pretrained(folder)
    model = WhisperForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    heard = [processor(samples(ROOT / path), sampling_rate=16000, return_tensors="pt").input_features for path in paths]
    decode = lambda ids: processor.decode(ids, skip_special_tokens=True)
    config = model.generation_config
    asked = {"language": "en"} if config.is_multilingual else {}
    forced = processor.get_decoder_prompt_ids(task="transcribe", **asked) if asked else config.forced_decoder_ids
    prompt = [config.decoder_start_token_id, *(token for _, token in forced)]
    answers = {"transformers": [decode(model.generate(features, **asked)[0]) for features in heard]}
    for dtype, suffix in [("fp32", ""), (EIGHT_BITS, "_quantized")]:
        answers[dtype] = [decode(transcribe(name, suffix, features.numpy(), prompt, config)) for features in heard]
    return {"inputs": list(paths), "answers": answers, **({"params": asked} if asked else {}), **rest}


def transcribe(name, suffix, features, prompt, config):
    """The greedy tokens of ONNX Runtime with Whisper's files: the prompt in one run, then token by token."""
    encoder, decoder = [session(HUB / name / f"onnx/{part}{suffix}.onnx") for part in ("encoder_model", "decoder_model_merged")]
    states = encoder.run(None, {"input_features": features})[0]
    outputs = [one.name for one in decoder.get_outputs()]
    past = {one.name: np.zeros((1, one.shape[1], 0, 64), np.float32) for one in decoder.get_inputs() if one.name.startswith("past")}
    done, fresh = [], prompt
    while len(done) < 200:
        feeds = {"input_ids": np.int64([fresh]), "encoder_hidden_states": states, "use_cache_branch": np.array([len(done) > 0])}
        found = dict(zip(outputs, decoder.run(None, feeds | past)))
        logits = found["logits"][0, -1]
        logits[config.suppress_tokens + ([] if done else config.begin_suppress_tokens)] = -np.inf
        token = int(logits.argmax())
        done.append(token)
        if token == config.eos_token_id:
            break
        # The keys and values of the encoder's states are computed once, in the first run.
        past = {name: past[name] if done[1:] and ".encoder." in name else found[name.replace("past_key_values", "present")] for name in past}
        fresh = [token]
    return done


def meeting():
    """The paths of the recordings of `sounds.py`, in which three people speak in turn."""
    return [f"{SOUNDS}/meeting-{number}.wav" for number in range(10)]


def said():
    """What is said in them."""
    return json.loads((ROOT / SOUNDS / "said.json").read_text())


def keyword():
    """The scores of openWakeWord's own code, which begins with the embeddings of random noise: here, of silence."""
    sys.path.insert(0, str(ROOT / ".cache/published/src/openwakeword"))
    from openwakeword.model import Model

    folder, paths = HUB / "hey-jarvis", [f"{SOUNDS}/call-{number}.wav" for number in range(3)]
    files = {f"{part}_model_path": str(folder / file) for part, file in [("melspec", "melspectrogram.onnx"), ("embedding", "embedding_model.onnx")]}
    own, np.random.randint = np.random.randint, lambda low, high, size: np.zeros(size, np.int16)
    try:
        spotters = [Model([str(folder / "hey_jarvis_v0.1.onnx")], inference_framework="onnx", **files) for _ in paths]
    finally:
        np.random.randint = own
    found = [spotter.predict_clip((samples(ROOT / path) * 2**15).astype(np.int16), padding=1) for spotter, path in zip(spotters, paths)]
    return {"inputs": paths, "answers": [[round(float(step["hey_jarvis_v0.1"]), 6) for step in steps] for steps in found]}


def speakers():
    """The vectors of 3D-Speaker's features, which torchaudio computes, by ONNX Runtime."""
    embed = embedder()
    vectors = [embed(samples(ROOT / path)) for path in meeting()]
    return {"inputs": meeting(), "answers": [(vector / np.linalg.norm(vector)).round(7).tolist() for vector in vectors]}


def embedder():
    sys.path.insert(0, str(ROOT / "test/models/tasks/make"))
    from speaker_embedder import features_of

    model = session(HUB / "pyannote/campplus.onnx")
    return lambda sound: model.run(None, {"feature": features_of(sound, "3d-speaker").numpy()})[0][0]


def turns():
    """Who speaks when, by the rules of pyannote's pipeline, as test/models/tasks/make/speaker_diarizer.py has them."""
    import torch

    embed = embedder()
    import speaker_diarizer as rules

    model = session(HUB / "pyannote/segmentation-3.0.onnx")
    silence = np.zeros(RATE // 2, np.float32)
    sound = np.concatenate([part for path in meeting() for part in (samples(ROOT / path), silence)])
    params = {"numSpeakers": 3}
    run = lambda window: torch.from_numpy(model.run(None, {model.get_inputs()[0].name: window.numpy()})[0])
    found, gap = rules.diarize(run, embed, sound, params)
    assert gap > rules.MIN_GAP, gap
    return {"inputs": [{"joined": meeting()}], "params": params, "answers": [found]}


def ocr():
    """What test/goldens/ocr/make.py has read by PaddleOCR's pipeline, with ONNX Runtime and OpenCV."""
    photos = ["letter-upside-down.png"]
    golden = json.loads((ROOT / "test/models/ocr.golden.json").read_text())
    lines = [[line["text"] for line in golden[photo]["lines"]] for photo in photos]
    return {"inputs": [f"public/models/ocr/samples/{photo}" for photo in photos], "answers": lines}


def movenet():
    """What test/goldens/people/movenet.py has found by the graph in float64, with PyTorch."""
    golden = json.loads((ROOT / "test/goldens/people/movenet.json").read_text())["movenet-lightning"]
    photo = "public/models/selfie/samples/astronaut.jpg"
    people = next(case["people"] for case in golden if case["photo"] == photo)
    return {"inputs": [photo], "answers": [people[0]["points"]]}


def esrgan():
    """The layers in float64, with PyTorch: every 97th byte of the picture's RGBA."""
    sys.path.insert(0, str(ROOT / "training"))
    from tfjs_layers import Layers

    path = "public/models/upscaler/samples/cup.png"
    photo = np.asarray(Image.open(ROOT / path).convert("RGB"), np.float64)
    large = Layers(HUB / "esrgan-slim/model.json")(photo[None])[0].clip(0, 255)
    rgba = np.concatenate([large, np.full((*large.shape[:2], 1), 255)], -1)
    return {"inputs": [path], "answers": [{"size": [large.shape[1], large.shape[0]], "every97th": rgba.ravel()[::97].round(1).tolist()}]}


MODELS = {
    "all-MiniLM-L6-v2": lambda: vectors("all-MiniLM-L6-v2", "model.onnx", "mean"),
    "bge-small-en-v1.5": lambda: vectors("bge-small-en-v1.5", "model_quantized.onnx", "cls"),
    "silero-vad": silero,
    "piper-joe": piper,
    "isnet": isnet,
    "PP-OCRv4": ocr,
    "movenet-lightning": movenet,
    "esrgan-slim": esrgan,
    "whisper-tiny.en": lambda: whisper("whisper-tiny.en", "public/models/vad/samples/platform.wav"),
    "whisper-tiny.en, ten recordings": lambda: whisper("whisper-tiny.en", *meeting(), said=said()),
    "whisper-base, ten recordings": lambda: whisper("whisper-base", *meeting(), said=said()),
    # Nobody speaks in these sounds, which scripts/published/inputs.mjs makes: the right answer is no text.
    "whisper-tiny.en, nobody speaks": lambda: {"inputs": [{"made": kind} for kind in ("silence", "noise", "chord")], "params": {"noSpeechThreshold": 0.4}},
    "hey-jarvis": keyword,
    "campplus": speakers,
    "pyannote": turns,
    "SmolLM2-135M-Instruct": smollm2,
}


def main():
    path = HERE / "answers.json"
    answers = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or MODELS:
        made = MODELS[name]()
        if isinstance(made.get("answers"), dict):
            made["answers"] = {**answers.get(name, {}).get("answers", {}), **made["answers"]}
        answers[name] = made
        path.write_text(json.dumps(answers, ensure_ascii=False) + "\n")


main()

"""Writes classes.json: each class of transformers with its task, and the handler of TabServe that runs it.

    python -m venv .cache/transformers && .cache/transformers/bin/pip install --no-deps transformers
    .cache/transformers/bin/python scripts/architectures/make.py && npm run generate

The tasks are those of transformers' own mappings, which are read from its source: neither torch nor anything else that
transformers needs is imported. `npm run generate` then makes src/worker/tasks/architectures.ts.
"""

import ast
import json
from collections import defaultdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

MODELS = Path(find_spec("transformers").origin).parent / "models"

# Transformers' tasks, in words, and the handler of each. Of a class with several tasks, the first one counts: what reads
# images or sound is no task of texts, though transformers lists it there too.
TASKS = {
    "TABLE_QUESTION_ANSWERING": ("table question answering", None),
    "VISUAL_QUESTION_ANSWERING": ("visual question answering", None),
    "DOCUMENT_QUESTION_ANSWERING": ("document question answering", None),
    "AUDIO_CLASSIFICATION": ("audio classification", "audio_classifier"),
    "AUDIO_FRAME_CLASSIFICATION": ("audio frame classification", None),
    "AUDIO_XVECTOR": ("speaker verification", "speaker_embedder"),
    "AUDIO_TOKENIZATION": ("audio compression", None),
    "TEXT_TO_SPECTROGRAM": ("text to speech", "text_to_speech"),
    "RNNT": ("speech recognition by a transducer", None),
    "TDT": ("speech recognition by a transducer", None),
    "SPEECH_SEQ_2_SEQ": ("speech to text", "speech_to_text"),
    "TEXT_TO_WAVEFORM": ("text to audio", None),
    "MULTIMODAL_LM": ("text generation from images or sound", None),
    "IMAGE_TEXT_TO_TEXT": ("text generation from images", "image_text_to_text"),
    "RETRIEVAL": ("document retrieval", None),
    "VIDEO_CLASSIFICATION": ("video classification", None),
    "TEXT_RECOGNITION": ("text recognition", None),
    "TABLE_RECOGNITION": ("table recognition", None),
    "KEYPOINT_DETECTION": ("keypoint detection", None),
    "KEYPOINT_MATCHING": ("keypoint matching", None),
    "TIME_SERIES_CLASSIFICATION": ("time series classification", None),
    "TIME_SERIES_REGRESSION": ("time series regression", None),
    "TIME_SERIES_PREDICTION": ("time series prediction", None),
    "IMAGE_MATTING": ("image matting", None),
    "NORMAL_ESTIMATION": ("surface normal estimation", None),
    "POINTMAP_ESTIMATION": ("point map estimation", None),
    "DECISION": ("decisions", None),
    "MULTIPLE_CHOICE": ("multiple choice", None),
    "NEXT_SENTENCE_PREDICTION": ("next sentence prediction", None),
    "MASKED_IMAGE_MODELING": ("masked image modeling", None),
    "CAUSAL_IMAGE_MODELING": ("image generation", None),
    "MASK_GENERATION": ("mask generation", "promptable_segmenter"),
    "ZERO_SHOT_IMAGE_CLASSIFICATION": ("zero-shot image classification", "zero_shot_image_classifier"),
    "ZERO_SHOT_OBJECT_DETECTION": ("zero-shot object detection", "zero_shot_object_detector"),
    "IMAGE_CLASSIFICATION": ("image classification", "image_classifier"),
    "IMAGE_SEGMENTATION": ("image segmentation", "instance_segmenter"),
    "SEMANTIC_SEGMENTATION": ("semantic segmentation", "image_segmenter"),
    "INSTANCE_SEGMENTATION": ("instance segmentation", "instance_segmenter"),
    "UNIVERSAL_SEGMENTATION": ("universal segmentation", "instance_segmenter"),
    "OBJECT_DETECTION": ("object detection", "object_detector"),
    "DEPTH_ESTIMATION": ("depth estimation", "depth_estimator"),
    "POSE_ESTIMATION": ("pose estimation", "pose_landmarker"),
    "IMAGE_TO_IMAGE": ("image to image", "image_to_image"),
    "CTC": ("speech recognition", "speech_recognizer"),
    "SEQ_TO_SEQ_CAUSAL_LM": ("text to text", "text_to_text"),
    "MASKED_LM": ("fill-mask", "fill_mask"),
    "CAUSAL_LM": ("text generation", "text_generator"),
    "SEQUENCE_CLASSIFICATION": ("text classification", "text_classifier"),
    "QUESTION_ANSWERING": ("question answering", "question_answerer"),
    "TOKEN_CLASSIFICATION": ("token classification", "token_classifier"),
    "BACKBONE": ("backbone features", None),
    "PRETRAINING": ("pretraining", None),
}

# Classes without a head make features: the repository's files say whether of texts or of images. Those that read
# something else, several kinds of inputs at once, or a beginning of what a decoder writes have no handler.
OTHER_FEATURES = ("features of other inputs", None)
FEATURES = ("features", "text_feature_extractor or image_feature_extractor")
BARE = ("MODEL", "IMAGE", "TEXT_ENCODING")

# Tasks of which a handler runs these classes only: the others have other inputs or files.
ONLY = {
    "speech_to_text": ("WhisperForConditionalGeneration", "MoonshineForConditionalGeneration"),
    "image_text_to_text": tuple(f"{name}ForConditionalGeneration" for name in ("Idefics3", "SmolVLM", "Qwen2VL", "Qwen2_5_VL", "Qwen3VL", "Qwen3_5", "Qwen3_5Moe", "Lfm2Vl", "Gemma3", "Gemma4", "Llava", "PaliGemma", "Mistral3", "FastVlm", "GlmOcr", "LightOnOcr")),
    "promptable_segmenter": ("SamModel", "Sam2Model", "Sam3TrackerModel", "EdgeTamModel"),
    "zero_shot_image_classifier": ("CLIPModel", "MetaClip2Model", "SiglipModel", "AltCLIPModel", "ChineseCLIPModel"),
    "text_to_speech": ("SpeechT5ForTextToSpeech",),
    "zero_shot_object_detector": (
        "OwlViTForObjectDetection",
        "Owlv2ForObjectDetection",
        "GroundingDinoForObjectDetection",
        "MMGroundingDinoForObjectDetection",
    ),
}

# What reads images or sound beside texts, and writes with a decoder alone: its half of texts runs.
HALVES = ("text generation from images", "text generation from images or sound", "text generation from sound")
# Of these tasks, the classes that write with the decoder of an encoder, or are no language models.
WITHOUT_HALF = (
    "Blip", "BlipText", "InstructBlip", "InstructBlipVideo", "Kosmos2", "Kosmos2_5", "Pix2Struct", "Udop", "T5Gemma2", "PPFormulaNet", "VideoLlava",
    "GlmImage", "Janus", "Emu3", "Chameleon", "PI0", "Git", "Moshi", "Nemotron3_5Transcribe", "MossTranscribeDiarize", "Cosmos3Edge", "Cosmos3Omni",
)

# What no mapping says, or what it says of the class without its inputs.
OWN = {
    # Their mapping's task is another one than their outputs'.
    **{f"PPOCRV{size}DetForObjectDetection": ("text detection", None) for size in ("5Mobile", "5Server", "6Medium", "6Small")},
    **{f"{name}ForCausalLM": ("text to audio", None) for name in ("Musicgen", "MusicgenMelody", "Moshi", "CsmDepthDecoder", "Clvp")},
    "ClvpModelForConditionalGeneration": ("text to audio", None),
    "VitsModel": ("text to speech", "text_to_speech"),
    "XCLIPModel": ("video classification", None),
    # Published under their names: the half that reads one image.
    **{f"{name}VideoModel": ("mask generation", "promptable_segmenter") for name in ("Sam2", "Sam3Tracker", "EdgeTam")},
    "VideomtForUniversalSegmentation": ("video segmentation", None),
    "ShieldGemma2ForImageClassification": ("image classification by a prompt", None),
    "LxmertForQuestionAnswering": ("visual question answering", None),
    "Qwen3ASRForTokenClassification": ("alignment of speech and text", None),
    # They need a second decoder, or the ids of languages.
    "EncoderDecoderModel": ("text to text", None),
    "SeamlessM4TForTextToText": ("text to text", None),
    "SeamlessM4Tv2ForTextToText": ("text to text", None),
    # In no mapping.
    "CLIPSegForImageSegmentation": ("segmentation by words", None),
    "SegGptForImageSegmentation": ("segmentation by an example", None),
    "BridgeTowerForMaskedLM": ("fill-mask with an image", None),
    "ViltForMaskedLM": ("fill-mask with an image", None),
    "ViltForTokenClassification": ("token classification with an image", None),
    "VisualBertForQuestionAnswering": ("visual question answering", None),
    "BrosSpadeEEForTokenClassification": ("document relations", None),
    "BrosSpadeELForTokenClassification": ("document relations", None),
    "BlipTextLMHeadModel": ("text generation from images", None),
    **{f"{name}ForQuestionAnswering": ("question answering by beam search", None) for name in ("Flaubert", "XLM", "XLNet")},
    # They read texts, and images where they are given.
    "LayoutLMv3Model": FEATURES,
    # The halves of texts have the base class of the whole.
    **{f"{name}TextModel": FEATURES for name in ("Emu3", "MiniMaxM3VL")},
    # They read texts and images at once, whatever their base class says.
    **{f"{name}Model": OTHER_FEATURES for name in ("Aimv2", "CohereCompass", "EfficientLoFTR", "Evolla", "Perceiver", "SegGpt")},
    # They read sound, videos or what an agent did, which their base class does not say.
    **{f"{name}Model": OTHER_FEATURES for name in ("DecisionTransformer", "Dia", "Encodec", "Musicgen", "MusicgenMelody", "PeAudio", "PeAudioVideo", "PeVideo", "Timesformer", "VibeVoiceAcousticTokenizerDecoder", "VibeVoiceAcousticTokenizerEncoder")},
    # They read boxes of words, which nothing here finds.
    "BrosModel": OTHER_FEATURES,
    "BrosForTokenClassification": ("token classification with boxes", None),
    # It guesses a token that is added to the text, which transformers says by inputs that no exporter writes.
    "XLNetLMHeadModel": ("text generation by permutations", None),
    "ConditionalDetrForSegmentation": ("image segmentation", "instance_segmenter"),
    "SeamlessM4TTextToUnitForConditionalGeneration": ("text to audio", None),
    **{
        f"{name}ForConditionalGeneration": ("text generation from images or sound", None)
        for name in (
            "Ernie4_5_VL_Moe",
            "GlmImage",
            "Moshi",
            "Qwen2_5OmniPreTrainedModel",
            "Qwen2_5OmniTalker",
            "Qwen3OmniMoePreTrainedModel",
            "Qwen3OmniMoeTalkerCodePredictorModel",
            "Qwen3OmniMoeTalker",
        )
    },
    **{f"{name}TextModelWithProjection": ("text features", "text_feature_extractor") for name in ("Blip2", "CLIP", "Clap", "MetaClip2")},
    **{f"{name}VisionModelWithProjection": ("image features", "image_feature_extractor") for name in ("CLIP", "MetaClip2")},
    # A vector for each query, none of which stands for the image.
    "Blip2VisionModelWithProjection": ("image features by queries", None),
    # Published ONNX models whose classes transformers does not have.
    "StyleTextToSpeech2Model": ("text to speech", "text_to_speech"),
    "PyAnnoteForAudioFrameClassification": ("speaker diarization", "speaker_diarizer"),
    "ClapModel": ("zero-shot audio classification", "zero_shot_audio_classifier"),
    "WeSpeakerResNetModel": ("speaker verification", "speaker_embedder"),
    "SupertonicForConditionalGeneration": ("text to speech", "text_to_speech"),
    "LlavaQwen2ForCausalLM": ("text generation from images", "image_text_to_text"),
    "Phi3VForCausalLM": ("text generation from images", None),
    **{name: ("text generation from sound", "audio_text_to_text") for name in ("UltravoxModel", "VoxtralForConditionalGeneration", "GraniteSpeechForConditionalGeneration", "Qwen2AudioForConditionalGeneration")},
    "VisionEncoderDecoderModel": ("text generation from images", "image_to_text"),
    "Florence2ForConditionalGeneration": ("text generation from images", "prompted_image_to_text"),
}


def mappings():
    """Returns the names of the classes by task."""
    found = defaultdict(list)
    for node in ast.parse((MODELS / "auto" / "modeling_auto.py").read_text()).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or not node.value.args:
            continue
        name = node.targets[0].id
        if not name.startswith("MODEL_") or not name.endswith("_NAMES"):
            continue
        task = name.removeprefix("MODEL_FOR_").removesuffix("_NAMES").removesuffix("_MAPPING")
        for pair in node.value.args[0].elts:
            # A mapping that another one spreads: its classes are known by it.
            if isinstance(pair, ast.Starred):
                continue
            classes = ast.literal_eval(pair.elts[1])
            found[task] += [classes] if isinstance(classes, str) else classes
    return found


def sources():
    """Returns the classes that transformers exports, and what each says that it reads."""
    exported, bases, reads, decoders = set(), {}, {}, set()
    for path in sorted(MODELS.glob("*/modeling_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                exported |= {item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
            if not isinstance(node, ast.ClassDef):
                continue
            bases[node.name] = [ast.unparse(base) for base in node.bases]
            for line in node.body:
                if getattr(line, "name", "") == "forward" and any("decoder_input" in one.arg for one in line.args.args):
                    decoders.add(node.name)
                target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
                if getattr(target, "id", "") == "input_modalities":
                    reads[node.name] = ast.unparse(line.value)

    def modalities(name):
        if name in reads:
            return reads[name]
        return next((found for base in bases.get(name, []) if (found := modalities(base))), "")

    def makes_features(name):
        """Whether a class without a head reads texts alone, or one image alone."""
        kinds = ast.literal_eval(modalities(name) or "()")
        kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        return name not in decoders and (kinds <= {"text"} or kinds == {"image"})

    return exported, modalities, makes_features


def task_of(name, tasks, modalities, makes_features):
    """Returns the task in words, and the handler; None if no handler runs the class."""
    if name in OWN:
        return OWN[name]
    headed = [task for task in TASKS if task in tasks]
    # A half of texts alone, which transformers also loads for the whole.
    if name.endswith("ForCausalLM") and not any(kind in modalities(name) for kind in ("image", "audio", "video")):
        return TASKS["CAUSAL_LM"]
    if not headed:
        if name.endswith("Model"):
            return FEATURES if makes_features(name) else OTHER_FEATURES
        return FEATURES[0], None
    words, handler = TASKS[headed[0]]
    if headed[0] in ("BACKBONE", "PRETRAINING") and any(task in tasks for task in BARE) and name.endswith("Model"):
        return FEATURES if makes_features(name) else OTHER_FEATURES
    if handler == "text_to_text" and "audio" in modalities(name):
        return "text generation from sound", None
    if handler in ONLY and name not in ONLY[handler]:
        handler = None
    endings = [ending for ending in ("ForConditionalGeneration", "ForCausalLM") if name.endswith(ending)]
    if handler is None and words in HALVES and endings and name.removesuffix(endings[0]) not in WITHOUT_HALF:
        handler = "text_generator"
    return words, handler


def main():
    by_class = defaultdict(list)
    for task, classes in mappings().items():
        unknown = task not in TASKS and task not in BARE
        if unknown:
            raise SystemExit(f"Add {task} to TASKS.")
        for name in classes:
            by_class[name].append(task)
    exported, modalities, makes_features = sources()
    for name in OWN:
        by_class.setdefault(name, [])
    groups = defaultdict(list)
    for name in by_class:
        groups[task_of(name, by_class[name], modalities, makes_features)].append(name)
    lists = [
        {"task": task, "handler": handler, "classes": sorted(classes)}
        for (task, handler), classes in sorted(groups.items(), key=str)
    ]
    text = json.dumps({"transformers": version("transformers"), "groups": lists}, indent=1)
    Path(__file__).with_name("classes.json").write_text(text + "\n")
    print(sum(len(one["classes"]) for one in lists), "classes;", len(exported - by_class.keys()), "exported ones have no task")


main()

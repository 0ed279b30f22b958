"""Makes a language model that hears, Voxtral of random weights, in the layout of onnx-community's repositories: `embed_tokens`,
`decoder_model_merged` and `audio_encoder`. `expected.json` has what transformers itself answers with it.

    python test/models/sounds/voxtral.py

Needs torch, transformers 4.57, onnx, onnxruntime and tokenizers. Sound is `sound` of `test/models/tasks/make/basics.py`. The weights
come from a fixed seed. Prompts are as mistral_common writes them: each window of sound is as many tokens.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import onnx
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "pictures"))
sys.path.append(str(HERE.parent / "tasks/make"))
from basics import sound  # noqa: E402
from fixed_size import Text  # noqa: E402
from make import TEXTS, clean, export_table, is_decided, spread  # noqa: E402

NAME, NEW_TOKENS, SECONDS = "voxtral", 16, 2
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>"]
OF_SOUND = ["[INST]", "[/INST]", "[AUDIO]", "[BEGIN_AUDIO]"]
# In our own words, with what Voxtral's has.
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST]' }}{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'audio' %}{{ '[AUDIO]' }}{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}{{ '[/INST]' }}"
    "{% else %}{{ (message['content'] if message['content'] is string else message['content'][0]['text']) + eos_token }}{% endif %}{% endfor %}"
)


def tokenizer_of(folder):
    if (folder / "tokenizer.json").exists():
        return PreTrainedTokenizerFast.from_pretrained(folder)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(one, special=True, normalized=False) for one in OF_SOUND])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>", chat_template=TEMPLATE, additional_special_tokens=OF_SOUND)


def build(tokenizer):
    ids = {key: getattr(tokenizer, key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    text = {
        "model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512,
        "vocab_size": len(tokenizer), "tie_word_embeddings": False, **ids}
    # Four positions of the encoder, of two frames each, are one token.
    audio = {
        "hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_mel_bins": 80, "max_source_positions": 50 * SECONDS}
    config = transformers.VoxtralConfig(text_config=text, audio_config=audio, audio_token_id=tokenizer.convert_tokens_to_ids("[AUDIO]"))
    config._attn_implementation = "eager"
    extractor = transformers.WhisperFeatureExtractor(feature_size=80, chunk_length=SECONDS)
    return transformers.VoxtralForConditionalGeneration(config).eval(), extractor


class Hearing(torch.nn.Module):
    """Spectrograms of windows → the vectors of their tokens, `[windows, tokens, size]`."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, audio_values):
        found = self.model.get_audio_features(audio_values)
        return found.reshape(audio_values.shape[0], -1, found.shape[-1])


def export(model, folder):
    with tempfile.TemporaryDirectory() as target, torch.no_grad():
        path = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(
            Hearing(model).eval(), (torch.rand(2, 80, 100 * SECONDS),), path, input_names=["audio_values"], output_names=["audio_features"], dynamo=False, opset_version=17,
            dynamic_axes={"audio_values": {0: "batch_size"}, "audio_features": {0: "batch_size"}})
        onnx.save(clean(onnx.load(path)), folder / "audio_encoder.onnx")
        config = model.config.text_config
        names = [f"{layer}.{part}" for layer in range(config.num_hidden_layers) for part in ("key", "value")]
        past = [torch.rand(2, config.num_key_value_heads, 3, config.head_dim) for _ in names]
        axes = {"inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "position_ids": {0: "batch_size", 1: "sequence_length"}, "logits": {0: "batch_size", 1: "sequence_length"}}
        for one in names:
            axes[f"past_key_values.{one}"] = {0: "batch_size", 2: "past_sequence_length"}
            axes[f"present.{one}"] = {0: "batch_size", 2: "total_sequence_length"}
        torch.onnx.export(
            Text(Parts(model)).eval(), (torch.rand(2, 4, config.hidden_size), torch.ones(2, 7, dtype=torch.int64), torch.arange(3, 7).expand(2, 4).contiguous(), *past), path,
            input_names=["inputs_embeds", "attention_mask", "position_ids", *[f"past_key_values.{one}" for one in names]], output_names=["logits", *[f"present.{one}" for one in names]],
            dynamo=False, opset_version=17, dynamic_axes=axes)
        onnx.save(clean(onnx.load(path)), folder / "decoder_model_merged.onnx")
    export_table(model.get_input_embeddings().weight.detach().numpy(), folder)


class Parts(torch.nn.Module):
    """The half of texts by the names of other models'."""

    def __init__(self, model):
        super().__init__()
        self.model, self.lm_head = torch.nn.Module(), model.language_model.lm_head
        self.model.language_model = model.language_model.model


def asked():
    """Conversations: a recording and a question; a long one, of two windows; two in two messages; none. Sound is a number of samples."""
    audio, text = {"type": "audio"}, lambda words: {"type": "text", "text": words}
    user, said = (lambda *parts: {"role": "user", "content": list(parts)}), (lambda words: {"role": "assistant", "content": [text(words)]})
    return [
        ([9000], [user(audio, text("What is said?"))]),
        ([40000], [user(text("Listen: "), audio)]),
        ([9000, 3000], [user(audio, text("And this?")), said("A cat."), user(audio, text("What is it?"))]),
        ([], [user(text("Describe a cat."))]),
    ]


def answer(model, tokenizer, extractor, lengths, messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    window = SECONDS * 16_000
    features = []
    for length in lengths:
        samples = sound(length)
        own = [extractor(samples[at : at + window], sampling_rate=16_000, return_tensors="pt").input_features[0] for at in range(0, length, window)]
        features.extend(own)
        text = text.replace("[AUDIO]", "[BEGIN_AUDIO]" + "<audio>" * (len(own) * 100 * SECONDS // 8), 1)
    inputs = tokenizer(text.replace("<audio>", "[AUDIO]"), add_special_tokens=False, return_tensors="pt", return_token_type_ids=False)
    if features:
        inputs["input_features"] = torch.stack(features)
    with torch.no_grad():
        found = model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS, output_logits=True, return_dict_in_generate=True)
    return inputs, found


def make():
    folder = HERE / NAME
    tokenizer = tokenizer_of(folder)
    model, extractor = build(tokenizer)
    for seed in range(300):
        spread(model, seed)
        answers = [answer(model, tokenizer, extractor, *one) for one in asked()]
        if all(is_decided(found) and len(set(found.sequences[0, inputs["input_ids"].shape[1]:].tolist())) >= 8 for inputs, found in answers):
            break
    else:
        raise SystemExit("no seed gives answers that are decided")
    shutil.rmtree(folder / "onnx", ignore_errors=True)
    (folder / "onnx").mkdir(parents=True)
    tokenizer.save_pretrained(folder)
    extractor.save_pretrained(folder)
    for file in ("special_tokens_map.json", "added_tokens.json"):
        (folder / file).unlink(missing_ok=True)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    text = model.config.text_config
    transformers.GenerationConfig(max_new_tokens=NEW_TOKENS, eos_token_id=text.eos_token_id, bos_token_id=text.bos_token_id, pad_token_id=text.pad_token_id).save_pretrained(folder)
    export(model, folder / "onnx")
    rows = []
    for (lengths, messages), (inputs, found) in zip(asked(), answers):
        start = inputs["input_ids"].shape[1]
        features = inputs.get("input_features", [])
        rows.append({
            "sounds": lengths, "messages": messages, "inputIds": inputs["input_ids"][0].tolist(), "features": [[round(value, 5) for value in one.flatten()[::397].tolist()] for one in features],
            "text": tokenizer.decode(found.sequences[0, start:], skip_special_tokens=True)})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    (HERE / "expected.json").write_text(f'{{"{NAME}": [\n{lines}\n]}}\n')
    print("seed", seed, [row["text"] for row in rows], [len(row["inputIds"]) for row in rows])


make()

"""Makes models that hear, Granite Speech and Ultravox of random weights, in the layout of onnx-community's repositories. Adds their
rows to `expected.json`.

    python test/models/sounds/granite_ultravox.py [NAME ...]

Needs torch, torchaudio, transformers 5.18, onnx, onnxruntime and tokenizers. Sound is `sound` of `test/models/tasks/make/basics.py`.
Transformers has no Ultravox: it is put together here of Whisper's encoder and a Llama, as its repository describes it. Each recording
is encoded alone.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import onnx
import onnxruntime
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
from newest import attention_states, presented  # noqa: E402
from hearing import GraniteHearing, UltravoxHearing  # noqa: E402

NEW_TOKENS = 16
AUDIO = "<|audio|>"
# Templates in our own words. Both take texts alone.
FAMILIES = {
    "granite-speech": {
        "special": ["<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"],
        "template": "{% for message in messages %}{{ '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_of_role|>assistant<|end_of_role|>' }}{% endif %}"},
    "ultravox": {
        "special": ["<|eot_id|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
        "template": "{{ '<|begin_of_text|>' }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"},
}


def tokenizer_of(name):
    if (HERE / name / "tokenizer.json").exists():
        return PreTrainedTokenizerFast.from_pretrained(HERE / name)
    special = FAMILIES[name]["special"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(AUDIO, special=True, normalized=False)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=special[0], pad_token=special[0], chat_template=FAMILIES[name]["template"])


def text_config(name, tokenizer):
    return {
        "model_type": "granite" if name == "granite-speech" else "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "max_position_embeddings": 512, "vocab_size": len(tokenizer), "tie_word_embeddings": False, "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}


class Granite:
    """transformers' own."""

    def __init__(self, tokenizer):
        encoder = {"input_dim": 160, "num_layers": 2, "hidden_dim": 24, "feedforward_mult": 2, "num_heads": 2, "dim_head": 12, "output_dim": 20, "context_size": 10, "max_pos_emb": 16, "conv_kernel_size": 5, "conv_expansion_factor": 2}
        projector = {"model_type": "blip_2_qformer", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 48, "encoder_hidden_size": 24, "cross_attention_frequency": 1}
        config = transformers.GraniteSpeechConfig(
            text_config=text_config("granite-speech", tokenizer), encoder_config=encoder, projector_config=projector, audio_token_id=tokenizer.convert_tokens_to_ids(AUDIO), has_lora_adapter=False, window_size=15, downsample_rate=5, tie_word_embeddings=False)
        config._attn_implementation = "eager"
        self.model = transformers.GraniteSpeechForConditionalGeneration(config).eval()
        self.extractor = transformers.GraniteSpeechFeatureExtractor()
        self.processor = transformers.GraniteSpeechProcessor(self.extractor, tokenizer, chat_template=tokenizer.chat_template)
        self.hearing, self.input, self.text = GraniteHearing(self.model.model), "input_features", TextWithoutPositions
        self.language, self.config = self.model, config

    def features(self, samples):
        return self.extractor(torch.tensor(samples)[None])["input_features"]

    def encoded(self, features):
        return self.model.model.get_audio_features(features).pooler_output[0]

    def count(self, length):
        return self.extractor._get_num_audio_features([length])[0]

    def save(self, folder):
        self.processor.save_pretrained(folder)
        # transformers.js reads a file for each part.
        written = json.loads((folder / "processor_config.json").read_text())
        write(folder / "preprocessor_config.json", written.pop("audio_processor"))
        write(folder / "processor_config.json", {**written, "audio_token": AUDIO})
        self.config.architectures = ["GraniteSpeechForConditionalGeneration"]
        self.config.save_pretrained(folder)


class Ultravox:
    SECONDS, STACK = 3, 8

    def __init__(self, tokenizer):
        whisper = transformers.WhisperConfig(d_model=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=24, num_mel_bins=80, max_source_positions=50 * self.SECONDS, decoder_layers=1, decoder_attention_heads=2, attn_implementation="eager")
        text = transformers.LlamaConfig(**text_config("ultravox", tokenizer), attn_implementation="eager")
        self.config = {
            "architectures": ["UltravoxModel"], "model_type": "ultravox", "text_config": text.to_dict(), "audio_config": whisper.to_dict(), "ignore_index": tokenizer.convert_tokens_to_ids(AUDIO), "stack_factor": self.STACK,
            "eos_token_id": tokenizer.eos_token_id}
        self.language = transformers.LlamaForCausalLM(text).eval()
        self.hearing, self.input, self.text = UltravoxHearing(transformers.WhisperModel(whisper).encoder, 32, self.STACK).eval(), "audio_values", Text
        self.model = torch.nn.ModuleList([self.language, self.hearing])
        self.extractor = transformers.WhisperFeatureExtractor(chunk_length=self.SECONDS)
        self.tokenizer = tokenizer

    def features(self, samples):
        return self.extractor(samples, sampling_rate=16_000, padding="longest", return_tensors="pt").input_features

    def encoded(self, features):
        return self.hearing(features)[0]

    def count(self, length):
        # As transformers.js counts them, for what Ultravox' stack of frames makes.
        return 1 + -(-int(length / 320 + 1e-4 + 0.5) // self.STACK)

    def save(self, folder):
        self.tokenizer.save_pretrained(folder)
        self.extractor.save_pretrained(folder)
        write(folder / "config.json", self.config)
        write(folder / "processor_config.json", {"audio_placeholder": AUDIO, "encoder_ds_factor": 320, "stack_factor": self.STACK, "processor_class": "UltravoxProcessor"})


class TextWithoutPositions(Text):
    """Counts the positions itself, by the mask, as the Hub's export does."""

    def forward(self, inputs_embeds, attention_mask, *past):
        positions = (attention_mask.cumsum(-1) - 1).clamp(min=0)[:, -inputs_embeds.shape[1]:]
        return super().forward(inputs_embeds, attention_mask, positions, *past)


def write(path, fields):
    path.write_text(json.dumps(fields, indent=2) + "\n")


def asked():
    """Conversations: a recording and a question; a long one; two in two messages; none. Sound is a number of samples."""
    user, said = (lambda words: {"role": "user", "content": words}), (lambda words: {"role": "assistant", "content": words})
    return [
        ([9000], [user([None, "What is said?"])]),
        ([40000], [user(["Listen: ", None])]),
        ([9000, 3100], [user([None, "And this?"]), said(["A cat."]), user([None, "What is it?"])]),
        ([], [user(["Describe a cat."])]),
    ]


def answer(family, tokenizer, lengths, messages):
    texts = [{**one, "content": "".join(AUDIO if part is None else part for part in one["content"])} for one in messages]
    text = tokenizer.apply_chat_template(texts, tokenize=False, add_generation_prompt=True)
    for length in lengths:
        text = text.replace(AUDIO, "<sound>" * family.count(length), 1)
    ids = tokenizer(text.replace("<sound>", AUDIO), add_special_tokens=False, return_tensors="pt")["input_ids"]
    features = [family.features(sound(length)) for length in lengths]
    heard = ids[0] == tokenizer.convert_tokens_to_ids(AUDIO)
    with torch.no_grad():
        embeds = family.language.get_input_embeddings()(ids)
        if features:
            embeds[0, heard] = torch.cat([family.encoded(one) for one in features])
        found = family.language.generate(inputs_embeds=embeds, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW_TOKENS, output_logits=True, return_dict_in_generate=True)
        if len(lengths) == 1 and hasattr(family, "processor"):
            # The same by transformers' processor, from end to end.
            inputs = family.processor(text=tokenizer.apply_chat_template(texts, tokenize=False, add_generation_prompt=True), audio=torch.tensor(sound(lengths[0]))[None], return_tensors="pt")
            whole = family.model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS)
            assert inputs["input_ids"].tolist() == ids.tolist() and whole[0, ids.shape[1]:].tolist() == found.sequences[0].tolist()
    return ids, features, embeds, found


def export(family, folder):
    with tempfile.TemporaryDirectory() as target, torch.no_grad():
        path = pathlib.Path(target) / "model.onnx"
        example = family.features(sound(9000))
        torch.onnx.export(
            family.hearing.eval(), (example,), path, input_names=[family.input], output_names=["audio_features"], dynamo=False, opset_version=17,
            dynamic_axes={family.input: {0: "batch_size", 1 if family.input == "input_features" else 2: "audio_sequence_length"}, "audio_features": {0: "batch_size", 1: "num_audio_tokens"}})
        onnx.save(clean(onnx.load(path)), folder / "audio_encoder.onnx")
    export_text(family.language, family.text, folder)


def export_text(language, kind, folder):
    """Writes decoder and table. @param kind the class of the decoder: `Text`, or one like it"""
    with tempfile.TemporaryDirectory() as target, torch.no_grad():
        path = pathlib.Path(target) / "model.onnx"
        config = language.config.text_config if hasattr(language.config, "text_config") else language.config
        text = kind(language if hasattr(language.model, "language_model") else Parts(language)).eval()
        states = attention_states(config)
        past = [torch.rand(2, *[3 if size is None else size for size in sizes]) for _, sizes in states]
        has_positions = kind is Text
        names = ["inputs_embeds", "attention_mask", *(["position_ids"] if has_positions else [])]
        given = [torch.rand(2, 4, config.hidden_size), torch.ones(2, 7, dtype=torch.int64), *([torch.arange(3, 7).expand(2, 4).contiguous()] if has_positions else [])]
        axes = {**{one: {0: "batch_size", 1: "total_sequence_length" if one == "attention_mask" else "sequence_length"} for one in names}, "logits": {0: "batch_size", 1: "sequence_length"}}
        for one, _ in states:
            axes[one], axes[presented(one)] = {0: "batch_size", 2: "past_sequence_length"}, {0: "batch_size", 2: "total_sequence_length"}
        torch.onnx.export(
            text, (*given, *past), path, input_names=[*names, *[one for one, _ in states]], output_names=["logits", *[presented(one) for one, _ in states]], dynamo=False, opset_version=17, dynamic_axes=axes)
        onnx.save(clean(onnx.load(path)), folder / "decoder_model_merged.onnx")
    # Granite's are scaled where the vectors are read.
    export_table(language.get_input_embeddings().weight.detach().numpy(), folder)


class Parts(torch.nn.Module):
    """A language model by the names of the half of texts of others."""

    def __init__(self, language):
        super().__init__()
        self.model, self.lm_head = torch.nn.Module(), language.lm_head
        self.model.language_model = language.model


def make(name):
    folder = HERE / name
    tokenizer = tokenizer_of(name)
    family = {"granite-speech": Granite, "ultravox": Ultravox}[name](tokenizer)
    for seed in range(300):
        spread(family.model, seed)
        answers = [answer(family, tokenizer, *one) for one in asked()]
        if all(is_decided(found) and len(set(found.sequences[0].tolist())) >= 8 for *_, found in answers):
            break
    else:
        raise SystemExit("no seed gives answers that are decided")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "onnx").mkdir(parents=True)
    family.save(folder)
    transformers.GenerationConfig(max_new_tokens=NEW_TOKENS, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id).save_pretrained(folder)
    export(family, folder / "onnx")
    encoder = onnxruntime.InferenceSession(folder / "onnx/audio_encoder.onnx")
    rows = []
    for (lengths, messages), (ids, features, _, found) in zip(asked(), answers):
        for one in features:
            theirs = encoder.run(None, {family.input: one.numpy()})[0][0]
            ours = family.encoded(one).detach().numpy()
            assert theirs.shape == ours.shape and abs(theirs - ours).max() < 1e-3, (theirs.shape, ours.shape, abs(theirs - ours).max())
        parts = [{**one, "content": [{"type": "audio"} if part is None else {"type": "text", "text": part} for part in one["content"]]} for one in messages]
        rows.append({
            "sounds": lengths, "messages": parts, "inputIds": ids[0].tolist(), "features": [[round(value, 5) for value in one.flatten()[::397].tolist()] for one in features],
            "text": tokenizer.decode(found.sequences[0], skip_special_tokens=True)})
    print("seed", seed, [row["text"] for row in rows], [len(row["inputIds"]) for row in rows])
    return rows


def save_rows(made):
    """Adds rows to expected.json, by the model's name."""
    path = HERE / "expected.json"
    known = {**json.loads(path.read_text()), **made}
    lines = lambda rows: ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text("{" + ",\n".join(f'"{name}": [\n{lines(rows)}\n]' for name, rows in known.items()) + "}\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or FAMILIES:
        save_rows({name: make(name)})
